import assert from "node:assert/strict";
import { type PlatformOptions } from "../../local/index";
import { type Engine, fails, plainOutputs, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { onEngines, onEveryEngine, type Scene, scene } from "../support/onEngines";
import { hasRedis } from "../support/redis";
import { RedisLine } from "../support/redisLine";

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

const withArguments = (args: string): string => `
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart" });
new PasswordVerification("proof", { ${args} });`;

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

interface Verifying extends Scene {
  /** Between the database and its clients; it counts connections. */
  readonly line: RedisLine;
  /** Runs the program from now on, with the verification's connections on the line. */
  readonly run: (given: Program) => void;
  /** Each reset so far is saved, and there was one for each version. */
  readonly assertSaved: (resets: number) => Promise<void>;
}

async function verifying(engine: Engine, first: Program, options: PlatformOptions = {}): Promise<Verifying> {
  const made = await scene(engine, "", { ...options, credentialsInResponse: "always" });
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
    const { password, rotationCount, outcome } = plainOutputs(resourceNamed(await stack.exportState(true), "cache")!);
    assert.deepEqual([password, rotationCount, outcome], [database().password, resets, "reset"]);
  };
  const end = async () => {
    await line.close();
    await made.end();
  };
  return { ...made, line, run, assertSaved, end };
}

/** The password that a resource has in the state. */
async function passwordOf({ stack }: Scene, name: string): Promise<unknown> {
  return plainOutputs(resourceNamed(await stack.exportState(true), name)!)["password"];
}

const newRefused = /new password is refused.*WRONGPASS/;
const rotationSaved = /rotation itself is saved/;

/** The databases are in a real Redis if there is one. */
const options: PlatformOptions = hasRedis ? { redis: true } : {};

onEngines(`PasswordVerification with ${hasRedis ? "a Redis" : "the listener of the local platform"}`, (engine) => {
  it("shows that the new password works and the former one does not", async () => {
    const { platform, stack, run, line, end } = await verifying(engine, { version: 1 }, options);
    const first = valuesOf(await succeeds(stack.up()));
    assert.deepEqual([first["verified"], first["formerRefused"]], [true, undefined]);
    run({ version: 2 });
    const before = line.connections;
    assert.ok(before > 0);
    await succeeds(stack.preview());
    await succeeds(stack.refresh());
    assert.equal(line.connections, before, "preview and refresh");
    const second = valuesOf(await succeeds(stack.up()));
    assert.deepEqual([second["verified"], second["formerRefused"]], [true, true]);
    assert.ok(String(second["verifiedAt"]) > String(first["verifiedAt"]));
    const after = line.connections;
    assert.ok(after > before);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), second);
    await succeeds(stack.destroy());
    assert.equal(line.connections, after, "an up without changes, and destroy");
    assert.equal(platform.resetCount, 2);
    await end();
  });

  it("waits for a platform that responds before it applies the reset", async () => {
    const { platform, stack, end } = await verifying(engine, { version: 1 }, options);
    platform.failNext({ applyAfterMs: 1_000 });
    const { verified, verifiedAt } = valuesOf(await succeeds(stack.up()));
    assert.equal(verified, true);
    const waitedMs = Date.parse(String(verifiedAt)) - Date.parse(platform.database("db-quickstart").lastResetAt ?? "");
    // A timer may end a millisecond early.
    assert.ok(waitedMs >= 990, `${waitedMs} ms`);
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
      const { verified, formerRefused } = valuesOf(await succeeds(stack.up()));
      assert.deepEqual([verified, formerRefused], [true, true]);
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

  it("refuses the password of a suspended database, and resets nothing again", async () => {
    const options = { databases: [{ database_id: "db-quickstart", state: "suspended" }] };
    const { stack, assertSaved, end } = await verifying(engine, { version: 1, args: seconds(1) }, options);
    await fails(stack.up(), newRefused, rotationSaved);
    await fails(stack.up(), newRefused, rotationSaved);
    await assertSaved(1);
    await end();
  });

  it("keeps the rotation from its reset if its arguments are wrong, and reports each mistake once", async () => {
    const { platform, project, stack, end } = await scene(engine, "");
    for (const { args, message } of [
      { args: "rotation, withinSeconds: 0", message: /"proof": withinSeconds must be a number of seconds above 0/g },
      { args: "rotation, withinSecond: 1", message: /"proof": withinSecond is not one of its arguments/g },
      { args: `rotation: "cache"`, message: /"proof": rotation must be a PasswordRotation/g },
      { args: `rotation, tls: false, host: "db-{id}"`, message: /"proof": tls must not be false for db-{id}/g },
    ]) {
      project.rewrite(withArguments(args));
      const { printed } = await runEngine(
        engine,
        ["up", "--yes", "--skip-preview", "--stack", "dev"],
        project.directory,
      );
      const [, diagnostics = ""] = printed.split("Diagnostics:");
      assert.equal(diagnostics.match(message)?.length, 1, printed);
      assert.equal(platform.resetCount, 0);
    }
    project.rewrite(withArguments("rotation"));
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 1);
    await end();
  });

  it("saves a reset whose record has no port, reports that, and resets nothing again", async () => {
    const { platform, project, stack, end } = await scene(engine, withArguments("rotation"));
    const body = { database_id: "db-quickstart", endpoint: "127.0.0.1", password: "p" };
    platform.failNext({ path: /reset-password/, body });
    const { printed } = await fails(stack.up(), /"proof": port is unknown for database "db-quickstart".*is saved with/);
    assert.doesNotMatch(printed, /[Nn]othing was sent|targets|subject/);
    const saved = plainOutputs(resourceNamed(await stack.exportState(true), "cache")!);
    assert.deepEqual([saved["password"], saved["outcome"]], ["p", "reset"]);
    const sent = platform.requests.length;
    project.rewrite(withArguments("rotation, port: 1, withinSeconds: 1"));
    await fails(stack.up(), /could not be tried/);
    assert.equal(platform.requests.length, sent);
    await end();
  });

  // Rows 76 to 78 of the fault table interrupt a verification.
});

onEveryEngine("PasswordVerification", (engine) => {
  it("tries the password of a failed verification later, also after a refresh", async () => {
    const { platform, stack, run, assertSaved, end } = await verifying(engine, { version: 1 });
    await succeeds(stack.up());
    const keepsFormer = () => platform.failNext({ path: /reset-password/, keepFormerPassword: true });
    run({ version: 2, args: seconds(0.1) });
    keepsFormer();
    await fails(stack.up(), /former password is still/);
    const { resources = [] } = (await stack.exportState(true)).deployment;
    // The plugin's component comes before its child.
    const { verified, formerRefused } = plainOutputs(resources.findLast(({ urn }) => urn.endsWith("::proof"))!);
    assert.deepEqual([verified, formerRefused], [false, undefined]);
    await succeeds(stack.refresh());
    await fails(stack.up(), /former password is still/);
    // From now on the database refuses the first password, and accepts the second one.
    run({ version: 3, args: seconds(0.1) });
    keepsFormer();
    await fails(stack.up(), /former password is still accepted, the one of /);
    await assertSaved(3);
    run({ version: 4 });
    const done = valuesOf(await succeeds(stack.up()));
    assert.deepEqual([done["verified"], done["formerRefused"]], [true, true]);
    await assertSaved(4);
    await end();
  });

  it("warns at the resource in each up if no credential is known", async () => {
    const source = `
      const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
      const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", initialRotation: false });
      exports.verified = new PasswordVerification("proof", { rotation }).verified;`;
    const { stack, end } = await scene(engine, source);
    const warning =
      /PasswordVerification(?:Targets)? \(proof\):\n\s+warning: Not verified, because no current credential is known: "db-q/;
    const { printed, outputs } = await succeeds(stack.up());
    assert.match(printed, warning);
    assert.equal(outputs["verified"]?.value, false);
    // The plugin is not called for a resource without changes.
    if (!engine.native) assert.match((await succeeds(stack.up())).printed, warning);
    await end();
  });
});
