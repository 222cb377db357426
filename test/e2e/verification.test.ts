import assert from "node:assert/strict";
import {
  CredentialVerification,
  PasswordRotation,
  QueueTokenRotation,
  SearchTokenRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, Consumer, TestStack } from "../support/memory";
import { hasRedis, RedisLine } from "../support/redis";
import { type RedisServer, startRedisServer } from "../support/redisServer";
import { assertFields } from "../support/results";

/** The databases are in a real Redis if there is one. */
describe(`A program with a CredentialVerification, with ${hasRedis ? "a Redis" : "the listener of the local platform"}`, () => {
  /** Between the database and its clients; it counts connections. */
  let line: RedisLine;
  let stack: TestStack;
  let version: number;
  let redis: RedisServer | undefined;
  before(async () => (redis = hasRedis ? await startRedisServer() : undefined));
  after(() => redis?.close());
  beforeEach(async () => {
    version = 1;
    stack = await TestStack.start(
      () => {
        const rotation = new PasswordRotation("cache", { databaseId: "cache", version });
        const { access, password } = rotation;
        const connection = { port: line.port, ...(hasRedis && { username: "rekey-{id}" }) };
        const verification = new CredentialVerification("proof", { access, connection, withinSeconds: 1 });
        new Consumer("early", { password });
        new Consumer("late", { password }, { dependsOn: verification });
        const { verified, formerRefused } = verification;
        return { verified, formerRefused };
      },
      { databases: ["cache"], credentials: "always", redis: redis?.url },
    );
    line = new RedisLine(Number(stack.platform.database("cache").record.port));
    await line.start();
  });
  afterEach(async () => {
    await line.close();
    await closePlatforms();
  });

  it("shows that the new password works and the former one does not, and contacts what was rotated", async () => {
    assert.deepEqual(valuesOf(await succeeds(stack.up())), { verified: true });
    version = 2;
    const before = line.connections;
    assert.ok(before > 0);
    await succeeds(stack.preview());
    await succeeds(stack.refresh());
    assert.equal(line.connections, before, "preview and refresh");
    const second = valuesOf(await succeeds(stack.up()));
    assert.deepEqual(second, { verified: true, formerRefused: true });
    const after = line.connections;
    assert.ok(after > before);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), second);
    await succeeds(stack.destroy());
    assert.equal(line.connections, after, "an up without changes, and destroy");
    assert.equal(stack.platform.resetCount, 2);
  });

  for (const { fault, title, message } of [
    { fault: { applyAfterMs: "never" }, title: "never applies a reset", message: /new password is refused.*WRONGPASS/ },
    { fault: { keepFormerPassword: true }, title: "keeps the former password", message: /former password is still/ },
  ] as const) {
    it(`fails if the platform ${title}, without a further reset, and holds back a consumer that depends on it`, async () => {
      await succeeds(stack.up());
      const first = stack.saved("late")?.["password"];
      version = 2;
      stack.platform.failNext({ path: /reset-password/, ...fault });
      for (let run = 0; run < 2; run++) {
        await fails(stack.up(), message, /rotation itself is saved/);
        const { password } = stack.platform.database("cache");
        assertFields(stack.saved("cache"), { password, rotationCount: 2, outcome: "reset" });
        assert.deepEqual([stack.saved("early")?.["password"], stack.saved("late")?.["password"]], [password, first]);
        assert.equal(stack.platform.resetCount, 2);
      }
      version = 3;
      // Nothing is claimed of the second password, which was never verified.
      assert.deepEqual(valuesOf(await succeeds(stack.up())), { verified: true });
      assert.equal(stack.saved("late")?.["password"], stack.platform.database("cache").password);
    });
  }
});

describe("A program that verifies tokens", () => {
  afterEach(closePlatforms);
  const queueUserId = "00000000-0000-4000-8000-000000000001";
  const all = (outputs: object) => ({ vectors: outputs, search: outputs, queue: outputs });
  const start = async (more: object, version: () => number) => {
    const stack = await TestStack.start(
      () => {
        const args = { version: version(), ...more };
        const rotations = {
          vectors: new VectorTokenRotation("vectors", { indexId: "idx-vectors", ...args }),
          search: new SearchTokenRotation("search", { indexId: "idx-search", ...args }),
          queue: new QueueTokenRotation("queue", { queueUserId, ...args }),
        };
        const verified = Object.entries(rotations).map(([name, { access }]) => {
          const { verified, formerRefused } = new CredentialVerification(name, { access, withinSeconds: 1 });
          return [name, { verified, formerRefused }] as const;
        });
        return Object.fromEntries(verified);
      },
      { credentials: "read", config: { "rekey:queueUserId": queueUserId } },
    );
    delete stack.config["rekey:queueToken"];
    return stack;
  };

  it("shows that the new ones are accepted and the former ones refused", async () => {
    let version = 1;
    const stack = await start({}, () => version);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), all({ verified: true }));
    version = 2;
    assert.deepEqual(valuesOf(await succeeds(stack.up())), all({ verified: true, formerRefused: true }));
    version = 3;
    stack.platform.failNext({ path: /vector.*reset-password/, keepFormerPassword: true });
    for (let run = 0; run < 2; run++) {
      await fails(stack.up(), /vector index "idx-vectors": a former token is still accepted/);
      assert.equal(stack.platform.resetCount, 9);
    }
  });
});
