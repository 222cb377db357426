import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Scene } from "../model/real/scene";
import { type Step } from "../model/real/steps";
import { until } from "../support/results";
import { titled } from "./describeFaults";
import { Proxy } from "./proxy";
import { localEngine } from "../support/engine";
import { onEngine, scene } from "../support/onEngines";

const up: Step = { do: "up", versions: {}, faults: {}, concurrency: 1 };
const ids = ["a", "b", "c"] as const;
const wishes = { a: { databaseId: "a" }, b: { databaseId: "b" }, c: { databaseId: "c" } };

/**
 * Runs `up` with somebody struck, then one that nobody disturbs, and says how often each database was reset by each.
 */
async function struckThenNext(strike: Step["strike"]): Promise<{ first: number[]; next: number[] }> {
  const scene = await Scene.start();
  try {
    await scene.run(wishes, { ...up, strike });
    const first = resetsOf(scene);
    return { first, next: await nextUp(scene) };
  } finally {
    await scene.end();
  }
}

const resetsOf = (scene: Scene): number[] => ids.map((id) => scene.platform.database(id).resets);

/** Runs `up` undisturbed and holds the state against the platform. @returns how often it reset each database */
async function nextUp(scene: Scene): Promise<number[]> {
  const before = resetsOf(scene);
  const { code, printed } = await scene.run(wishes, up);
  assert.equal(code, 0, printed);
  const seen = await scene.see();
  for (const id of ids) {
    assert.equal(seen[id]?.outputs["password"], scene.platform.database(id).password, "state equals the platform");
  }
  return resetsOf(scene).map((count, index) => count - (before[index] ?? 0));
}

/** With one request at a time: what became of the one that was struck, and of the two that waited behind it. */
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe("faults: kills", () => {
  it(titled(37, "killed before sending", "next up", "1 sent"), async () => {
    const { first, next } = await struckThenNext({ victim: "engine", at: 1, point: "arrived" });
    assert.deepEqual([sum(first), next], [0, [1, 1, 1]]);
  });

  it(
    titled(38, "killed after it was applied, before it was saved", "next up", "1 more sent; state equals the platform"),
    async () => {
      const { first, next } = await struckThenNext({ victim: "engine", at: 1, point: "applied" });
      assert.deepEqual([sum(first), next], [1, [1, 1, 1]]);
    },
  );

  it(
    titled(38, "the provider host is killed at that point", "next up", "1 more sent; state equals the platform"),
    async () => {
      const { first, next } = await struckThenNext({ victim: "host", at: 1, point: "applied" });
      assert.deepEqual([sum(first), next], [1, [1, 1, 1]]);
    },
  );

  it(titled(39, "SIGINT in the middle", "up", "saved, or as 38"), async () => {
    const { first, next } = await struckThenNext({ victim: "interrupt", at: 1, point: "applied" });
    assert.ok(
      first.every((count) => count <= 1),
      "no database is reset twice",
    );
    assert.equal(sum(next), 3 - sum(first), "what was answered was saved");
  });

  it(titled(53, "the engine is killed while resets are queued", "up", "only those in flight are sent"), async () => {
    const { first } = await struckThenNext({ victim: "engine", at: 1, point: "applied" });
    assert.equal(sum(first), 1, "the two that were queued were not sent");
  });

  it(titled(55, "the engine is killed while a proxy connects", "up, next up", "0 sent; then 1 sent"), async () => {
    let atFirst = async (): Promise<void> => undefined;
    const proxy = await Proxy.start({ beforeOpening: () => atFirst() });
    const scene = await Scene.start({ REKEY_PROXY: `http://127.0.0.1:${proxy.port}` });
    try {
      atFirst = () => scene.killEngine();
      await scene.run(wishes, { ...up, concurrency: 8 });
      await until(() => proxy.heads.length > 0 && proxy.open === 0);
      assert.deepEqual(resetsOf(scene), [0, 0, 0]);
      atFirst = async () => undefined;
      assert.deepEqual(await nextUp(scene), [1, 1, 1]);
    } finally {
      await scene.end();
      await proxy.close();
    }
  });
});

onEngine(localEngine, "faults: a state that cannot be written", (engine) => {
  it(titled(40, "state cannot be written", "next up", "1 more sent; state equals the platform"), async () => {
    let atAnswer = (): void => undefined;
    const source = `const { PasswordRotation } = require("pulumi-rekey");
      exports.password = new PasswordRotation("cache", { databaseId: "db-quickstart" }).password;`;
    const options = { credentialsInResponse: "always", onRequest: () => atAnswer() } as const;
    const { platform, project, stack } = await scene(engine, source, options);
    const folder = project.path(".rekey");
    atAnswer = () => {
      renameSync(folder, `${folder}-away`);
      writeFileSync(folder, "");
    };
    await assert.rejects(stack.up(), /state|ENOTDIR|EEXIST/);
    assert.equal(platform.resetCount, 1);
    atAnswer = () => undefined;
    renameSync(folder, `${folder}-file`);
    renameSync(`${folder}-away`, folder);
    // It went away with the folder, and so could not be let go.
    rmSync(join(folder, "stacks", "program", "dev.lock"));
    const { outputs, printed } = await stack.up();
    assert.equal(platform.resetCount, 2, printed);
    assert.equal(outputs["password"]?.value, platform.database("db-quickstart").password);
  });
});
