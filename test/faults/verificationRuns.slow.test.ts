import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Engine, succeeds, valuesOf } from "../support/engine";
import { type Ended, EngineProcess } from "../support/engineProcess";
import { FakeRedis, type RedisReply } from "../support/fakeRedis";
import { fixture, onEngines } from "../support/onEngines";
import { until } from "../support/results";
import { titled } from "./describeFaults";

const program = (port: number): string => `
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", host: "127.0.0.1", port: ${port}, tls: false });
exports.password = rotation.password;
exports.verified = new PasswordVerification("cache", { rotation, withinSeconds: 120 }).verified;`;

const accepting =
  (current: string): RedisReply =>
  ([name, password]) =>
    name === "PING" ? "+PONG" : password === current ? "+OK" : "-WRONGPASS no";
const up = ["up", "--yes", "--skip-preview"];

/** Interrupts the first `up` during the verification, and runs the next one. */
async function strike(
  engine: Engine,
  act: (run: EngineProcess, database: FakeRedis, accept: () => void) => Promise<unknown>,
): Promise<Ended> {
  const database = await FakeRedis.start(() => undefined);
  const { platform, project, stack, end } = await fixture(engine, program(database.port), {
    credentials: "always",
  });
  try {
    const run = new EngineProcess(engine, up, project.directory);
    await until(() => database.commands.length > 0);
    const accept = () => void (database.reply = accepting(platform.database("db-quickstart").password));
    await act(run, database, accept);
    const first = await run.ended;
    await run.killOrphans();
    // A killed CLI leaves its lock. `pulumi cancel` removes it.
    rmSync(project.path("backend", ".pulumi", "locks"), { recursive: true, force: true });
    assert.equal(platform.resetCount, 1);
    assert.doesNotMatch(first.printed, new RegExp(platform.database("db-quickstart").password));
    accept();
    const { password } = platform.database("db-quickstart");
    assert.deepEqual(valuesOf(await succeeds(stack.up())), { password, verified: true });
    assert.equal(platform.resetCount, 1);
    return first;
  } finally {
    await end();
    await database.close();
  }
}

onEngines("faults: a run that is interrupted while it verifies", (engine: Engine) => {
  it(titled(76, "^C while it verifies", "up, next up", "saved or verified again; 0 more resets sent"), async () => {
    await strike(engine, async (run, _database, accept) => {
      run.interrupt();
      accept();
    });
  });

  const result = "nothing more is contacted; verified again; 0 more resets sent";
  it(titled(77, "the engine is killed while it verifies", "up, next up", result), async () => {
    await strike(engine, async (run, database) => {
      await run.killEngine();
      const { connections } = database;
      // It could try again now. The host of a killed CLI goes on.
      database.cut();
      await run.ended;
      await wait(1_000);
      assert.equal(database.connections, connections);
    });
  });

  const verifiedAgain = "fails; verified again; 0 more resets sent";
  it(titled(78, "the provider host is killed while it verifies", "up, next up", verifiedAgain), async () => {
    const { code } = await strike(engine, async (run) => assert.equal(run.kill("host").length, 1));
    assert.notEqual(code, 0);
  });
});
