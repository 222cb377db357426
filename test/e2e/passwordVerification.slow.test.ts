import assert from "node:assert/strict";
import { type PlatformOptions } from "../../local/index";
import { type Engine, fails, plainOutputs, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { type Fixture, fixture, onEngines, onEveryEngine } from "../support/onEngines";
import { hasRedis, RedisLine } from "../support/redis";
import { assertFields } from "../support/results";

interface Program {
  readonly version: number;
  /** Arguments of the verification. */
  readonly args?: string;
  /** What follows. */
  readonly more?: string;
}

const program = ({ version, args = "", more = "" }: Program): string => `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version: ${version} });
const verification = new PasswordVerification("proof", { rotation, ${args} });
for (const name of ["verified", "verifiedAt", "formerRefused"]) exports[name] = verification[name];
${more}`;

/** Resources that use the password: at once, and after its verification. */
const consumers = `
const provider = {
  create: async (inputs) => ({ id: "consumer", outs: inputs }),
  update: async (id, olds, news) => ({ outs: news }),
};
class Consumer extends pulumi.dynamic.Resource {
  constructor(name, options) {
    super(provider, name, { password: rotation.password }, { ...options, additionalSecretOutputs: ["password"] });
  }
}
new Consumer("early");
new Consumer("late", { dependsOn: verification });`;

const seconds = (withinSeconds: number) => `withinSeconds: ${withinSeconds}`;

interface Verifying extends Fixture {
  /** Between the database and its clients; it counts connections. */
  readonly line: RedisLine;
  /** Runs the program from now on, with the verification's connections on the line. */
  readonly run: (given: Program) => void;
  /** Each reset so far is saved, and there was one for each version. */
  readonly assertSaved: (resets: number) => Promise<void>;
}

async function verifying(engine: Engine, first: Program, options: PlatformOptions = {}): Promise<Verifying> {
  const made = await fixture(engine, "", { ...options, credentials: "always" });
  const { platform, project, stack } = made;
  const database = () => platform.database("db-quickstart");
  const line = new RedisLine(Number(database().record.port));
  await line.start();
  const user = options.redis ? `username: "rekey-{id}",` : "";
  const run = ({ args = "", ...given }: Program) =>
    project.rewrite(program({ ...given, args: `port: ${line.port}, ${user} ${args}` }));
  run(first);
  const assertSaved = async (resets: number) => {
    assert.equal(platform.resetCount, resets);
    const saved = plainOutputs(resourceNamed(await stack.exportState(true), "cache")!);
    assertFields(saved, { password: database().password, rotationCount: resets, outcome: "reset" });
  };
  const end = async () => {
    await line.close();
    await made.end();
  };
  return { ...made, line, run, assertSaved, end };
}

/** The password that a resource has in the state. */
async function passwordOf({ stack }: Fixture, name: string): Promise<unknown> {
  return plainOutputs(resourceNamed(await stack.exportState(true), name)!)["password"];
}

const newRefused = /new password is refused.*WRONGPASS/;
const rotationSaved = /rotation itself is saved/;

/** The databases are in a real Redis if there is one. */
const options: PlatformOptions = hasRedis ? { redis: true } : {};

// Rows 76 to 78 of the fault table interrupt a verification.
onEveryEngine(`PasswordVerification with ${hasRedis ? "a Redis" : "the listener of the local platform"}`, (engine) => {
  it("shows that the new password works and the former one does not", async () => {
    const { platform, stack, run, line, end } = await verifying(engine, { version: 1 }, options);
    const first = valuesOf(await succeeds(stack.up()));
    assertFields(first, { verified: true, formerRefused: undefined });
    run({ version: 2 });
    const before = line.connections;
    assert.ok(before > 0);
    await succeeds(stack.preview());
    await succeeds(stack.refresh());
    assert.equal(line.connections, before, "preview and refresh");
    const second = valuesOf(await succeeds(stack.up()));
    assertFields(second, { verified: true, formerRefused: true });
    assert.ok(String(second["verifiedAt"]) > String(first["verifiedAt"]));
    const after = line.connections;
    assert.ok(after > before);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), second);
    await succeeds(stack.destroy());
    assert.equal(line.connections, after, "an up without changes, and destroy");
    assert.equal(platform.resetCount, 2);
    await end();
  });

  for (const { fault, title, message } of [
    { fault: { applyAfterMs: "never" }, title: "never applies a reset", message: newRefused },
    { fault: { keepFormerPassword: true }, title: "keeps the former password", message: /former password is still/ },
  ] as const) {
    it(`fails if the platform ${title}, each time without a reset, until a reset is applied`, async () => {
      const { platform, stack, run, assertSaved, end } = await verifying(engine, { version: 1 }, options);
      await succeeds(stack.up());
      run({ version: 2, args: seconds(1) });
      platform.failNext({ path: /reset-password/, ...fault });
      await fails(stack.up(), message, rotationSaved);
      await assertSaved(2);
      await succeeds(stack.preview());
      await fails(stack.up(), message, rotationSaved);
      await assertSaved(2);
      run({ version: 3 });
      assertFields(valuesOf(await succeeds(stack.up())), { verified: true, formerRefused: true });
      await assertSaved(3);
      await end();
    });
  }
});

onEngines("PasswordVerification with the local platform", (engine) => {
  it("holds back a consumer that depends on it, and no other", async () => {
    const made = await verifying(engine, { version: 1, more: consumers });
    const { platform, stack, run, end } = made;
    const passwords = () => Promise.all(["early", "late"].map((name) => passwordOf(made, name)));
    await succeeds(stack.up());
    const { password: first } = platform.database("db-quickstart");
    assert.deepEqual(await passwords(), [first, first]);
    platform.failNext({ path: /reset-password/, applyAfterMs: "never" });
    run({ version: 2, args: seconds(1), more: consumers });
    await fails(stack.up(), newRefused);
    assert.deepEqual(await passwords(), [platform.database("db-quickstart").password, first]);
    run({ version: 3, more: consumers });
    await succeeds(stack.up());
    const { password: last } = platform.database("db-quickstart");
    assert.deepEqual(await passwords(), [last, last]);
    await end();
  });
});
