import fc from "fast-check";
import { seed } from "../support/seed";
import { describeKill, type Kill, killsOf } from "./kill";
import { holdAfterKill, holdAfterNextUp } from "./invariants";
import { Scene } from "./scene";
import { type Subject, subjects } from "./subject";

type Counts = Record<"struck" | "saved" | "repeated" | "pending" | "late", number>;

/** An `up` with a kill, and an undisturbed one. */
async function play(scene: Scene, kill: Kill, counts: Counts): Promise<void> {
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
  counts.late = Math.max(counts.late, struck.late);
}

for (const subject of subjects) {
  const { engine, title } = subject;
  if (engine.unavailable === undefined) describeKills(subject);
  else it.skip(`kill -9 during \`up\` of ${title} (skipped: ${engine.unavailable})`);
}

function describeKills(subject: Subject): void {
  describe(`kill -9 during \`up\` of ${subject.title} (REKEY_SEED=${seed})`, function () {
    this.timeout(600_000);
    if (process.platform === "win32") return void it.skip("skipped: Windows has other signals and lists of processes");

    const numRuns = Number(process.env["REKEY_KILLS"] ?? subject.usualRuns);
    const counts: Counts = { struck: 0, saved: 0, repeated: 0, pending: 0, late: 0 };
    const sample = fc.sample(killsOf(subject), { seed, numRuns });
    // Most of the time a process waits for another: two scenes at a time take little longer than one.
    const scenes: Promise<Scene>[] = [];
    const lanes: Promise<void>[] = [];
    const rounds: Promise<void>[] = [];
    const round = (index: number): Promise<void> | undefined => {
      const kill = sample[index];
      const lane = index % 2;
      if (!kill || rounds[index]) return rounds[index];
      const scene = (scenes[lane] ??= Scene.start(subject));
      const played = (lanes[lane] ?? Promise.resolve()).then(async () => play(await scene, kill, counts));
      // The test reports a failure; the next round starts over.
      lanes[lane] = played.catch(async () => (await scene).startOver());
      return (rounds[index] = played);
    };

    after(async () => {
      await Promise.allSettled(rounds);
      for (const scene of scenes.filter(Boolean)) await (await scene).end();
      const { struck, saved, repeated, pending, late } = counts;
      console.log(`      ${struck} of ${numRuns} kills met their victim; then ${saved} resets were in the state,`);
      console.log(`      ${repeated} were lost and repeated once, and ${pending} were named as pending;`);
      console.log(`      at most ${late} requests arrived after a kill`);
    });

    for (const [index, kill] of sample.entries()) {
      it(`${index + 1} of ${numRuns}: ${describeKill(kill)}`, () => {
        const played = round(index);
        void round(index + 1);
        return played;
      });
    }
  });
}
