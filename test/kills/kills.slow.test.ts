import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { Fixture, type Strike } from "../model/real/fixture";
import { itInPairs, seed } from "../support/suite";
import { assertAfterKill, assertAfterNextUp, see } from "./databases";
import { describeKill, type Kill, killsOf, type Subject, subjects } from "./subject";

const counts = { struck: 0, saved: 0, repeated: 0, pending: 0, late: 0 };

const programOf = ({ ids, program }: Subject): string => `
  const { appendFileSync, readFileSync } = require("node:fs");
  const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
  const ids = ${JSON.stringify(ids)};
  const version = readFileSync("version", "utf8");
  const receive = (id, password) => appendFileSync("received", id + " " + password + "\\n");
  ${program}`;

/** An `up` with a kill, and an undisturbed one, on a separate stack. */
async function killAndRepeat(subject: Subject, kill: Kill): Promise<void> {
  const { ids, engine, reads = false } = subject;
  const fixture = await Fixture.start(ids, { engine, reads, program: programOf(subject) });
  const up = (version: number, strike?: Strike) => {
    fixture.project.write("version", String(version));
    fixture.project.write("received", "");
    return fixture.run("up", { strike });
  };
  try {
    if (kill.from === "finished stack") assert.equal((await up(1)).code, 0);
    const before = await see(fixture, subject);
    const done = await up(2, kill.strike);
    const lines = readFileSync(fixture.project.path("received"), "utf8").split("\n").filter(Boolean);
    const received = new Map(lines.map((line) => line.split(" ") as [string, string]));
    const killed = await see(fixture, subject);
    const { saved, repeated, pending } = assertAfterKill(before, killed, done, received, kill);
    if (done.struck) counts.late = Math.max(counts.late, fixture.gate.arrivals.length - done.arrivedByThen);
    const next = await up(2);
    assert.equal(next.code, 0, next.printed);
    assertAfterNextUp(before, killed, await see(fixture, subject));
    counts.struck += Number(done.struck);
    counts.saved += saved;
    counts.repeated += repeated;
    counts.pending += pending;
  } finally {
    await fixture.end();
  }
}

for (const subject of subjects) {
  const { engine, title } = subject;
  describe(`kill -9 during \`up\` of ${title} (REKEY_SEED=${seed})`, function () {
    if (engine.unavailable !== undefined) return void it.skip(`skipped: ${engine.unavailable}`);
    if (process.platform === "win32") return void it.skip("skipped: Windows has other signals and lists of processes");

    before(() => void Object.assign(counts, { struck: 0, saved: 0, repeated: 0, pending: 0, late: 0 }));
    after(() => {
      const { struck, saved, repeated, pending, late } = counts;
      console.log(`      ${struck} of ${numRuns} kills met their victim; then ${saved} resets were in the state,`);
      console.log(`      ${repeated} were lost and repeated once, and ${pending} were named as pending;`);
      console.log(`      at most ${late} requests arrived after a kill`);
    });
    const numRuns = Number(process.env["REKEY_KILLS"] ?? subject.usualRuns);
    const kills = fc.sample(killsOf(subject), { seed, numRuns });
    const titleOf = (kill: Kill, nth: number) => `${nth} of ${numRuns}: ${describeKill(kill)}`;
    itInPairs(kills, titleOf, (kill) => killAndRepeat(subject, kill));
  });
}
