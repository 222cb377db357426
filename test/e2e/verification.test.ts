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
import { RedisLine } from "../support/redis";
import { assertFields } from "../support/results";

describe("A program with a CredentialVerification", () => {
  /** Between the database and its clients; it counts connections. */
  let line: RedisLine;
  let stack: TestStack;
  let version: number;
  beforeEach(async () => {
    version = 1;
    stack = await TestStack.start(
      () => {
        const rotation = new PasswordRotation("cache", { databaseId: "cache", version });
        const { access, password } = rotation;
        const args = { access, connection: { port: line.port }, withinSeconds: 1 };
        const verification = new CredentialVerification("proof", args);
        new Consumer("early", { password });
        new Consumer("late", { password }, { dependsOn: verification });
        const { verified, formerRefused } = verification;
        return { verified, formerRefused };
      },
      { databases: ["cache"], credentials: "always" },
    );
    line = new RedisLine(Number(stack.platform.database("cache").record.port));
    await line.listen();
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

  it("fails if the former password still works, without a further reset, and holds back a consumer that depends on it", async () => {
    await succeeds(stack.up());
    const first = stack.saved("late")?.["password"];
    version = 2;
    stack.platform.failNext({ path: /reset-password/, keepFormerPassword: true });
    for (let run = 0; run < 2; run++) {
      await fails(stack.up(), /former password is still/, /rotation itself is saved/);
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
});

it("A program that verifies tokens shows that the new ones are accepted and the former ones refused", async () => {
  const queueUserId = "00000000-0000-4000-8000-000000000001";
  let version = 1;
  const stack = await TestStack.start(
    () => {
      const rotations = {
        vectors: new VectorTokenRotation("vectors", { indexId: "idx-vectors", version }),
        search: new SearchTokenRotation("search", { indexId: "idx-search", version }),
        queue: new QueueTokenRotation("queue", { queueUserId, version }),
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
  for (const expected of [{ verified: true }, { verified: true, formerRefused: true }]) {
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.deepEqual(outputs, { vectors: expected, search: expected, queue: expected });
    version = 2;
  }
  await closePlatforms();
});
