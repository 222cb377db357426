import assert from "node:assert/strict";
import fc from "fast-check";
import { onEngine, type Rekey } from "../e2e/engineStack";
import { itInPairs, seed } from "../support/suite";
import { assertAfterKill, assertAfterNextUp, see } from "./databases";
import { InterruptedStack, type Strike } from "./interruptedStack";
import { declare, describeKill, type Kill, killsOf, type Subject, subjects, usualRuns } from "./subject";

const counts = { struck: 0, saved: 0, repeated: 0 };

/** An `up` with a kill, and an undisturbed one, on a separate stack. */
async function killAndRepeat(subject: Subject, kill: Kill): Promise<void> {
  const { ids, adapter, reads = false } = subject;
  const received = new Map<string, string>();
  let version = 1;
  const receive = (id: string, password?: string) => void (password !== undefined && received.set(id, password));
  const program = (rekey: Rekey) => declare(rekey, subject, version, receive);
  const interrupted = await InterruptedStack.start(ids, program, { adapter, reads });
  const up = (next: number, strike?: Strike) => {
    version = next;
    received.clear();
    return interrupted.up(strike);
  };
  try {
    if (kill.from === "finished stack") assert.ok((await up(1)).succeeded);
    const before = await see(interrupted, subject);
    const done = await up(2, kill.strike);
    const killed = await see(interrupted, subject);
    const { saved, repeated } = assertAfterKill(before, killed, done, received, kill);
    const next = await up(2);
    assert.ok(next.succeeded, next.printed);
    assertAfterNextUp(before, killed, await see(interrupted, subject), next);
    counts.struck += Number(done.struck);
    counts.saved += saved;
    counts.repeated += repeated;
  } finally {
    await interrupted.end();
  }
}

for (const subject of subjects) {
  onEngine(`kill -9 during \`up\` of ${subject.title} (REKEY_SEED=${seed})`, () => {
    before(() => void Object.assign(counts, { struck: 0, saved: 0, repeated: 0 }));
    after(() => {
      const { struck, saved, repeated } = counts;
      console.log(`      ${struck} of ${numRuns} kills met their victim; then ${saved} resets were in the state,`);
      console.log(`      and ${repeated} were lost, and repeated once`);
    });
    const numRuns = Number(process.env["REKEY_KILLS"] ?? usualRuns);
    const kills = fc.sample(killsOf(subject), { seed, numRuns });
    const titleOf = (kill: Kill, nth: number) => `${nth} of ${numRuns}: ${describeKill(kill)}`;
    itInPairs(kills, titleOf, (kill) => killAndRepeat(subject, kill));
  });
}
