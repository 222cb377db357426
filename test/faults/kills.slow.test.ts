import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Scene } from "../model/real/scene";
import { type Point } from "../model/real/gate";
import { type Step, type Victim } from "../model/real/steps";
import { localEngine } from "../support/engine";
import { onEngine, rotating, scene } from "../support/onEngines";
import { until } from "../support/results";
import { titled } from "./describeFaults";
import { Proxy } from "./proxy";

/** With one request at a time, two resets wait behind the first one. */
const up: Step = { do: "up", versions: {}, faults: {}, concurrency: 1 };
const ids = ["a", "b", "c"] as const;
const wanted = { a: { databaseId: "a" }, b: { databaseId: "b" }, c: { databaseId: "c" } };

const resetsOf = (scene: Scene): number[] => ids.map((id) => scene.platform.database(id).resets);
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Runs `up` undisturbed and compares the state with the platform. @returns how often it reset each database */
async function nextUp(scene: Scene): Promise<number[]> {
  const before = resetsOf(scene);
  const { code, printed } = await scene.run(wanted, up);
  assert.equal(code, 0, printed);
  const seen = await scene.see();
  for (const id of ids) {
    assert.equal(seen[id]?.outputs["password"], scene.platform.database(id).password, "state equals the platform");
  }
  return resetsOf(scene).map((count, index) => count - (before[index] ?? 0));
}

const again = "1 more sent; state equals the platform";
const kills = [
  { row: 37, fault: "killed before sending", result: "1 sent", victim: "engine", point: "arrived", sent: 0 },
  {
    row: 38,
    fault: "killed after it was applied, before it was saved",
    result: again,
    victim: "engine",
    point: "applied",
    sent: 1,
  },
  {
    row: 38,
    fault: "the provider host is killed at that point",
    result: again,
    victim: "host",
    point: "applied",
    sent: 1,
  },
] as const;

describe("faults: kills", function () {
  this.timeout(600_000);
  let scene: Scene;
  const start = async (environment?: NodeJS.ProcessEnv) => (scene = await Scene.start(environment));
  afterEach(() => scene.end());

  async function strike(victim: Victim, point: Point): Promise<number[]> {
    await start();
    await scene.run(wanted, { ...up, strike: { victim, at: 1, point } });
    return resetsOf(scene);
  }

  for (const { row, fault, result, victim, point, sent } of kills) {
    it(titled(row, fault, "next up", result), async () => {
      assert.equal(sum(await strike(victim, point)), sent);
      assert.deepEqual(await nextUp(scene), [1, 1, 1]);
    });
  }

  it(titled(39, "SIGINT in the middle", "up", "saved, or as 38"), async () => {
    const resets = await strike("interrupt", "applied");
    assert.ok(Math.max(...resets) <= 1, "no database is reset twice");
    assert.equal(sum(await nextUp(scene)), 3 - sum(resets), "every reset that got a response was saved");
  });

  it(titled(53, "the engine is killed while resets are queued", "up", "only those in flight are sent"), async () => {
    assert.equal(sum(await strike("engine", "applied")), 1, "the two that were queued were not sent");
  });

  it(titled(55, "the engine is killed while a proxy connects", "up, next up", "0 sent; then 1 sent"), async () => {
    let atFirst = async (): Promise<void> => undefined;
    const proxy = await Proxy.start({ beforeOpening: () => atFirst() });
    await start({ REKEY_PROXY: `http://127.0.0.1:${proxy.port}` });
    atFirst = () => scene.killEngine();
    await scene.run(wanted, { ...up, concurrency: 8 });
    await until(() => proxy.heads.length > 0 && proxy.open === 0);
    assert.deepEqual(resetsOf(scene), [0, 0, 0]);
    atFirst = async () => undefined;
    assert.deepEqual(await nextUp(scene), [1, 1, 1]);
    await proxy.close();
  });
});

onEngine(localEngine, "faults: a state that cannot be written", (engine) => {
  it(titled(40, "state cannot be written", "next up", "1 more sent; state equals the platform"), async () => {
    let atRequest = (): void => undefined;
    const { platform, project, stack } = await scene(engine, rotating(), {
      credentialsInResponse: "always",
      onRequest: () => atRequest(),
    });
    const folder = project.path(".rekey");
    atRequest = () => {
      renameSync(folder, `${folder}-away`);
      writeFileSync(folder, "");
    };
    await assert.rejects(stack.up(), /state|ENOTDIR|EEXIST/);
    assert.equal(platform.resetCount, 1);
    atRequest = () => undefined;
    renameSync(folder, `${folder}-file`);
    renameSync(`${folder}-away`, folder);
    // The lock went away with the folder, and so could not be released.
    rmSync(join(folder, "stacks", "program", "dev.lock"));
    const { outputs, printed } = await stack.up();
    assert.equal(platform.resetCount, 2, printed);
    assert.equal(outputs["password"]?.value, platform.database("db-quickstart").password);
  });
});
