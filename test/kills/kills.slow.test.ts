import fc from "fast-check";
import { seed } from "../model/settings";
import { describeKill, type Kill, kills } from "./kill";
import { holdAfterKill, holdAfterNextUp } from "./invariants";
import { Scene } from "./scene";

const numRuns = Number(process.env["REKEY_KILLS"] ?? 10);
const counts = { struck: 0, saved: 0, repeated: 0, pending: 0 };

/** An `up` with a kill, and an undisturbed one. */
async function play(scene: Scene, kill: Kill): Promise<void> {
  if (kill.from === "nothing") await scene.startOver();
  scene.newVersion();
  const before = await scene.see();
  const struck = await scene.up(kill);
  const killed = await scene.see();
  const { saved, repeated, pending } = holdAfterKill(before, killed, struck, kill);
  const next = await scene.up();
  if (next.code !== 0) throw new Error(`the next up failed:\n${next.printed}`);
  holdAfterNextUp(before, killed, await scene.see());
  counts.struck += Number(struck.struck);
  counts.saved += saved;
  counts.repeated += repeated;
  counts.pending += pending;
}

describe(`kill -9 during \`up\` of 50 resources (REKEY_SEED=${seed})`, function () {
  this.timeout(600_000);
  if (process.platform === "win32") return void it.skip("skipped: Windows has other signals and lists of processes");

  const sample = fc.sample(kills, { seed, numRuns });
  // Most of the time a process waits for another: two scenes at a time take little longer than one.
  const scenes: Promise<Scene>[] = [];
  const lanes: Promise<void>[] = [];
  const rounds: Promise<void>[] = [];
  const round = (index: number): Promise<void> | undefined => {
    const kill = sample[index];
    const lane = index % 2;
    if (!kill || rounds[index]) return rounds[index];
    const scene = (scenes[lane] ??= Scene.start());
    const played = (lanes[lane] ?? Promise.resolve()).then(async () => play(await scene, kill));
    // The test reports a failure; the next round starts over.
    lanes[lane] = played.catch(async () => (await scene).startOver());
    return (rounds[index] = played);
  };

  after(async () => {
    await Promise.allSettled(rounds);
    for (const scene of scenes.filter(Boolean)) await (await scene).end();
    const { struck, saved, repeated, pending } = counts;
    console.log(`      ${struck} of ${numRuns} kills met their victim; then ${saved} resets were in the state,`);
    console.log(`      ${repeated} were lost and repeated once, and ${pending} resources were named as pending`);
  });

  for (const [index, kill] of sample.entries()) {
    it(`${index + 1} of ${numRuns}: ${describeKill(kill)}`, () => {
      const played = round(index);
      void round(index + 1);
      return played;
    });
  }
});
