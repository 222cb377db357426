import assert from "node:assert/strict";
import { databasePassword, queueToken, type SecretKind, signingKeys } from "../../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../../provider/records/fields";
import { outcomeOf } from "../../../../../provider/rotation/memory/state";
import { planRotation } from "../../../../../provider/rotation/plan/planRotation";
import { readProgram, type RotationInputs } from "../../../../../provider/rotation/program/program";
import { rotationOf } from "../../../../../provider/rotation/rotation";
import { type PlatformClient } from "../../../../../provider/run/platformClient";
import { type Platform } from "../../../../../provider/run/run";
import { notSent, rejected } from "../../../../support/fakeRun";
import { isLost, type PlatformDoes, resetSecret, RotatedSecret } from "../../../../support/rotatedSecret";
import { credentialsOf, fieldsIn, type Row, sectionsOf } from "../../tables";

/**
 * One reset for version 2, of a secret that has the credentials of generation 1:
 *
 * - what the read before it shows, the response has, and the reads after it show. `-` is nothing. Without a read before
 *   it, the platform cannot be read; without one after it, all reads show the same;
 * - what is saved then; by default what was saved before;
 * - the code with which it fails, what it has delivered that is kept apart, and what it says.
 */
const columns = ["title", "shows", "responds", "after", "saved", "more", "says"] as const;
type ResetRow = Row<(typeof columns)[number]>;

interface More {
  /** What was saved before. Default: generation 1; `nothing` for a new resource. */
  readonly from?: string;
  readonly code?: string;
  readonly kept?: string;
  /** What the next `up` does without another change. */
  readonly next?: string;
}

const responses: Readonly<Record<string, NonNullable<PlatformDoes["responds"]>>> = {
  "is lost": isLost,
  "is rejected": rejected,
  "is not sent": notSent,
  "is lost by a bug": () => {
    throw new TypeError("p2");
  },
};

function respondsOf(cell: string): NonNullable<PlatformDoes["responds"]> {
  const [, other] = /^of any (.*)$/.exec(cell) ?? [];
  if (other !== undefined) return () => ({ credentials: credentialsOf(other), isUnattributed: true });
  return responses[cell] ?? credentialsOf(cell);
}

function doesOf({ shows, after, responds }: ResetRow): PlatformDoes {
  const read = (cell: string) => (cell === "" ? {} : { shown: credentialsOf(cell.replace("-", "")) });
  const [{ shown: first }, { shown: last }] = [read(shows), read(after)];
  return { ...(first && { shows: first }), ...(last && { showsAfter: last }), responds: respondsOf(responds) };
}

/** Tests the responses of a table with sections. @param first what was saved before, by default */
function testResets(first: string, kind: SecretKind | undefined, text: string): void {
  for (const { title, usually, rows } of sectionsOf(columns, text)) {
    describe(title, () => {
      for (const row of rows) testReset(row, fieldsIn(usually.more, row.more), first, kind);
    });
  }
}

function testReset(row: ResetRow, more: More, first: string, kind: SecretKind | undefined): void {
  const { from = first, code, kept, next } = more;
  it(row.title, async () => {
    const isNew = from === "nothing";
    const before = isNew ? {} : credentialsOf(from);
    const made = isNew ? new RotatedSecret(kind) : await resetSecret({ version: 1 }, before, { kind });
    const secret = made.copy();
    secret.hours = 5;
    const came = await secret.up({ version: 2 }, doesOf(row));
    assert.equal(came.code, code, came.message);
    const isUnchanged = /^is (rejected|not sent)$/.test(row.responds);
    const outcome = secret.outputs && outcomeOf(secret.state);
    assert.equal(outcome, isUnchanged ? (isNew ? undefined : "reset") : code ? "unknown" : "reset");
    assert.deepEqual(secret.saved, row.saved ? credentialsOf(row.saved.replace("-", "")) : before);
    if (outcome) {
      const { rotationCount, otherFields } = secret.state;
      assert.equal(rotationCount, (isNew ? 0 : 1) + (code ? 0 : 1));
      assert.deepEqual(otherFields && JSON.parse(otherFields), kept && credentialsOf(kept));
    }
    const program = readProgram({ version: 2 }, secret.kind);
    if (next) assert.equal(planRotation(secret.state, program, secret.context()).kind, next);
    const said = [came.message, came.said].join("\n").trim();
    assert.match(said, row.says ? new RegExp(row.says, "s") : /^$/);
    assert.equal(came.sent, 1);
    assert.doesNotMatch(said, /\b[pr][12]\b/, "no credential is in a text");
  });
}

describe("resetSource: what follows from", () => {
  const unconfirmed = "code: REKEY_UNCONFIRMED";
  testResets(
    "p1 r1",
    undefined,
    `
    # a response with a new password
      confirms                                                           | p1 r1 | p2 r2 | p2 r2 | p2 r2
      confirms on a platform that cannot be read                         |       | p2 r2 |       | p2 r2
      confirms, and a read shows the token that it lacks                 | p1 r1 | p2    | p2 r2 | p2 r2
      confirms, and the token is not known if only late reads show one   | p1 r1 | p2    | p1 r1 | p2 | next: read | does not know restToken, because the platform still shows the old one
      confirms, and the token is not known if it cannot be read          |       | p2    |       | p2 |            | does not know restToken
      confirms, and what someone else has changed before does not matter | p7    | p2 r2 | p2 r2 | p2 r2
      confirms although the token is repeated                            |       | p2 r1 |       | p2 r1
    # a response with the former password
      confirms if a read shows a new one                      | p1 r1 | p1 r1 | p2 r2 | p2 r2
      does not confirm if reads still show it                 | p1 r1 | p1 r1 | p1 r1 |    | ${unconfirmed}           | the old one
      does not confirm if reads hide it                       | p1 r1 | p1 r1 | -     |    | ${unconfirmed}           | contains the old one
      confirms if a read shows a new one; nothing else counts | p1 r1 | p1 r9 | p2    | p2 |                          | does not know restToken
      does not confirm, and what else it has is kept apart    |       | p1 r9 |       |    | ${unconfirmed}, kept: r9 | contains the old one
      does not confirm on a platform that cannot be read      |       | p1 r1 |       |    | ${unconfirmed}           | contains the old one\\. The password may have been changed\\..* Run \`up\` again right away, .* resets again, which
    # a response with no password
      confirms if a read shows a new one                                  | p1 r1 |    | p2 r2 | p2 r2
      confirms if no read shows one, which is then not known              | p1 r1 |    | -     | -  |                           | does not know password, restToken
      confirms on a platform that cannot be read                          |       |    |       | -  |                           | does not know password, restToken
      confirms, and what else it has is saved                             | p1 r1 | r2 | -     | r2 |                           | does not know password, because the platform neither returned it nor shows it
      confirms, and what it has is saved in addition to what a read shows | p1 r1 | r2 | p2    | p2 r2
      confirms, and what a new resource has never shown is not known      | -     |    | -     | -  | from: nothing, next: keep | does not know the new value
      confirms for a new resource that cannot be read, and says nothing   |       |    |       | -  | from: nothing
      does not confirm if reads show the former one; what it has is kept  | p1 r1 | r2 | p1 r1 |    | ${unconfirmed}, kept: r2  | reads still show
      confirms, and what it repeats is not taken for current              |       | r1 |       | -  |                           | does not know password, restToken
      does not confirm if reads still show the former one                 | p1 r1 |    | p1 r1 |    | ${unconfirmed}            | reads still show
    # a response with what may be of another request
      confirms if a read shows the same                                         | p1 r1 | of any p2 r2 | p2 r2 | p2 r2
      confirms if a read shows another one, which is current                    | p1 r1 | of any p3 r3 | p2 r2 | p2 r2
      confirms if a read shows the same password, and its token is saved        | p1 r1 | of any p2 r2 | p2    | p2 r2
      confirms if a read shows another password, and its token is not saved     | p1 r1 | of any p3 r3 | p2    | p2    |                             | does not know restToken
      confirms, and its password is saved, if reads show only the same token    | r1    | of any p2 r2 | r2    | p2 r2 | from: r1
      confirms, and its password is saved, if reads mask the one that was known | r1    | of any p2 r2 | r2    | p2 r2
      does not confirm if the token that reads show was known before            | r1    | of any p2 r1 | r1    |       | ${unconfirmed}, kept: p2 r1 | may belong to another request
      does not confirm otherwise                                                | p1 r1 | of any p2 r2 | p1 r1 |       | ${unconfirmed}, kept: p2 r2 | may belong to another request.* otherFields .* does not reset again without a new version
    # a response with a password that only it shows
      is saved by a new resource, although the token stays                 | r1 | p2 r1 | r1 | p2 r1 | from: nothing
      is saved by one whose token was known, although it stays             | r1 | p2 r1 | r1 | p2 r1 | from: r1
      is saved on a platform that cannot be read, although the token stays |    | p2 r1 |    | p2 r1 | from: r1
      is saved if reads mask it, and it was known before                   | r1 | p2 r1 | r1 | p2 r1
    # no response
      settles it by a read that shows a new password               | p1 r1 | is lost          | p2 r2 | p2 r2 |                      | ^was reset\\. The platform did not confirm it \\(it broke\\), but
      settles it by a read that hides the token                    | p1 r1 | is lost          | p2    | p2    |                      | did not confirm it \\(it broke\\), but.*\\n.*does not know restToken, because the platform does not show it
      leaves it open if reads show the former one                  | p1 r1 | is lost          | p1 r1 |       | ${unconfirmed}       | it reads the password first, and resets again only if
      leaves it open if reads hide it                              | p1 r1 | is lost          | -     |       | ${unconfirmed}       | reads the password first
      leaves it open on a platform that cannot be read             |       | is lost          |       |       | ${unconfirmed}       | Until an \`up\` succeeds.*: it resets again, which returns new credentials
      leaves it open if the read before it has hidden the password | r1    | is lost          | p2 r2 |       | ${unconfirmed}       | : it resets again
      by a bug settles it by a read, too                           | p1 r1 | is lost by a bug | p2 r2 | p2 r2 |                      | did not confirm it \\(its result was lost\\), but
      by a bug leaves it open                                      |       | is lost by a bug |       |       | code: REKEY_INTERNAL | failed unexpectedly \\(TypeError.*The password may have been changed
    # a reset that changes nothing
      keeps what is saved                    |  | is rejected |  |   | code: REKEY_REJECTED                | it broke
      keeps what is saved, if it is not sent |  | is not sent |  |   | code: REKEY_NOT_SENT                | it broke
      saves no new resource                  |  | is rejected |  | - | code: REKEY_REJECTED, from: nothing | it broke
    `,
  );
  testResets(
    "k1 n2",
    signingKeys,
    `
    # a roll of signing keys
      is confirmed by the next pair                                  | k1 n2 | k2 n3 | k2 n3 | k2 n3
      is a normal one if only reads show keys                        | k1 n2 |       | k2 n3 | k2 n3
      is confirmed by a read if the response repeats the former pair | k1 n2 | k1 n2 | k2 n3 | k2 n3
      is not confirmed if all show the former pair                   | k1 n2 | k1 n2 | k1 n2 |       | ${unconfirmed} | contains the old one.* Run \`up\` again once minInterval has passed
      makes the next key the current one, although nothing shows it  |       |       |       | k2    |                | does not know nextKey
      makes the next key the current one, whatever else is shown     |       | n3    |       | k2 n3
      makes the next key of the read before it the current one       | n3    | k2 n3 | k3 n4 | k3 n4
      is saved as the response shows it, although reads are outdated | k1 n2 | k3 n4 | k2 n3 | k3 n4 |                | was rolled more than once
      is the first of a new resource                                 |       | k2 n3 |       | k2 n3 | from: nothing
      does not know the current key if no next one was known         |       |       |       | -     | from: k1       | does not know currentKey
      is saved as the response shows it, and warns of another pair   |       | k8 n9 |       | k8 n9 |                | was rolled more than once.*give them both keys now
    `,
  );
});

describe("resetSource: a reset that is not confirmed", () => {
  it("keeps what could not be attributed in otherFields, also if nothing is to be saved, until a read settles it", async () => {
    const secret = await resetSecret({ version: 1 }, { password: "p1" });
    const desired = { version: 2, saveCredentials: false };
    const responds = () => ({ credentials: { password: "p2" }, isUnattributed: true as const });
    await secret.up(desired, { shows: { password: "p1" }, responds });
    assert.deepEqual(JSON.parse(String(secret.outputs?.["otherFields"])), { password: "p2" });
    const refused = await secret.up(desired, { shows: { password: "p1" } });
    assert.deepEqual([refused.code, refused.sent], ["REKEY_REPEATEDLY_UNCONFIRMED", 0]);
    await secret.up(desired, { shows: { password: "p2" } });
    assert.deepEqual([outcomeOf(secret.state), secret.outputs?.["otherFields"]], ["reset", undefined]);
  });

  it("proves nothing else if a read fails after one that has shown the former password", async () => {
    let nth = 0;
    const [secret, one] = [await resetSecret({ version: 1 }, { password: "p1" }), { password: "p1" }];
    const showsAfter = () => (nth++ === 0 ? one : rejected());
    const { code, message = "", reads } = await secret.up({ version: 2 }, { shows: one, showsAfter });
    assert.deepEqual([code, reads, secret.saved], ["REKEY_UNCONFIRMED", 3, one]);
    assert.match(message, /reads still show the old one/);
  });

  it("says after the third one in a row that no other one is sent", async () => {
    const secret = await resetSecret({ version: 1 }, { password: "p1" });
    for (const says of [/it resets again/, /it resets again/, /: it does not reset again/]) {
      assert.match((await secret.up({ version: 2 }, { responds: isLost })).message ?? "", says);
    }
  });

  it("fails if a read shows someone else's roll, and is due again once minInterval is over", async () => {
    const pair = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });
    const secret = (await resetSecret({ version: 1 }, pair(1), { kind: signingKeys })).copy();
    secret.hours = 5;
    const does = { shows: pair(1), showsAfter: pair(8), responds: isLost, calls: 2 };
    const { said, code, message = "", sent } = await secret.up({ version: 2 }, does);
    assert.deepEqual([code, secret.saved, sent], ["REKEY_UNCONFIRMED", pair(8), 1], "also if the call is repeated");
    assert.match(said, /^was changed outside of Rekey \(currentKey, nextKey\)/);
    assert.match(
      message,
      /not confirmed \(it broke\), and a read shows another current key than the next one: someone/,
    );
    assert.doesNotMatch(message, /reads the|three unconfirmed/);
    assert.equal((await secret.up({ version: 2 }, { shows: pair(8) })).code, "REKEY_ROLLED_RECENTLY");
    secret.hours = 7;
    const next = { shows: pair(8), showsAfter: pair(9), responds: pair(9) };
    assert.deepEqual([(await secret.up({ version: 2 }, next)).sent, secret.saved], [1, pair(9)]);
  });
});

describe("resetSource: its requests", () => {
  it("ask for a new connection unless the read before has shown the identifying credential", async () => {
    const rows = { "p1 r1": false, r1: false, o1: true, "": true };
    for (const [shown, isNew] of Object.entries(rows)) {
      const secret = new RotatedSecret();
      await secret.up({ version: 1 }, { ...(shown && { shows: credentialsOf(shown) }), responds: { password: "p2" } });
      assert.deepEqual(secret.fake.newConnections, [isNew], shown);
    }
  });

  it("read before it, and after it only if something is missing", async () => {
    const readsOf = async (responds: string, more: PlatformDoes = {}, desired = {}): Promise<number> => {
      const secret = await resetSecret({ version: 1 }, credentialsOf("p1 r1"));
      return (await secret.up({ version: 2, ...desired }, { responds: credentialsOf(responds), ...more })).reads;
    };
    const both = { shows: credentialsOf("p1 r1"), showsAfter: credentialsOf("p2 r2") };
    assert.equal(await readsOf("p2 r2", both), 1);
    assert.equal(await readsOf("p2", both), 2);
    assert.equal(await readsOf("p2 r2", both, { saveCredentials: false }), 2);
    assert.equal(await readsOf("p2"), 0);
  });

  it("read until the deadline, with a second for the read at its end", async () => {
    const { fake, outputs } = await resetSecret({ version: 1 }, credentialsOf("p1"));
    Object.assign(fake, { canRead: true, readDatabase: () => ({ credentials: credentialsOf("p1") }) });
    fake.answer = () => ({ credentials: {} });
    const limits: (number | undefined)[] = [];
    const during: Platform["during"] = ({ limitMs }) => (limits.push(limitMs), run.platform as PlatformClient);
    const run = fake.start({ during });
    await rotationOf(databasePassword).apply(outputs, { databaseId: "db", version: 2 } as RotationInputs, run);
    assert.deepEqual([limits.at(0), limits.at(-1), fake.elapsedMs], [60_000, 1_000, 60_000]);
  });

  it("use a new token of the queue once it is confirmed", async () => {
    const used: unknown[] = [];
    const parts = { useQueueToken: (...token: unknown[]) => void used.push(token) };
    const secret = await resetSecret({ version: 1, overlap: "none" }, { token: "t1" }, { kind: queueToken, id: "u" });
    await secret.up({ version: 2, overlap: "none" }, { responds: { token: "t1" }, parts });
    assert.deepEqual(used, []);
    await secret.up({ version: 3, overlap: "none" }, { responds: { token: "t2" }, parts });
    assert.deepEqual(used, [["u", "t2"]]);
  });
});
