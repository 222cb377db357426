import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { freshnessMs } from "../../provider/engine/liveness";
import { endAll, EngineStack, onEngine, type Result, succeeds, valuesOf } from "../support/engineStack";
import { FakeRedis, type RedisReply } from "../support/fakeRedis";
import { until } from "../support/results";
import { titled } from "./describeFaults";

const accepting =
  (current: string): RedisReply =>
  ([, password]) =>
    password === current ? "+OK" : "-WRONGPASS no";

/** Interrupts the first `up` during the verification, and runs the next one. */
async function strike(
  act: (stack: EngineStack, database: FakeRedis, accept: () => void) => Promise<unknown>,
): Promise<Result> {
  const database = await FakeRedis.start(() => undefined);
  const { port } = database;
  const stack = await EngineStack.start(
    ({ PasswordRotation, CredentialVerification }) => {
      const connection = { host: "127.0.0.1", port, tls: false };
      const rotation = new PasswordRotation("cache", { databaseId: "cache", connection });
      const { access, password } = rotation;
      const { verified } = new CredentialVerification("cache", { access, withinSeconds: 120 });
      return { password, verified };
    },
    { platform: { databases: ["cache"], credentials: "always" } },
  );
  const { platform } = stack;
  try {
    const up = stack.up();
    await until(() => database.commands.length > 0);
    const accept = () => void (database.reply = accepting(platform.database("cache").password));
    await act(stack, database, accept);
    const first = await up;
    await stack.run("cancel", "--yes");
    assert.equal(platform.resetCount, 1);
    const { password } = platform.database("cache");
    assert.ok(!first.printed.includes(password));
    accept();
    assert.deepEqual(valuesOf(await succeeds(stack.up())), { password, verified: true });
    assert.equal(platform.resetCount, 1);
    return first;
  } finally {
    await stack.end();
    await database.close();
  }
}

onEngine("faults: a run that is interrupted while it verifies", () => {
  const result = "nothing more is contacted; verified again; 0 more resets sent";
  it(titled(77, "the engine is killed while it verifies", "up, next up", result), async () => {
    await strike(async (stack, database) => {
      const left = stack.kill("engine") ?? assert.fail();
      await wait(freshnessMs + 5);
      const { connections } = database;
      // It could try again now: the host of a killed engine goes on.
      database.cut();
      await wait(1_000);
      assert.equal(database.connections, connections);
      await endAll(left);
    });
  });
});
