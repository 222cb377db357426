import assert from "node:assert/strict";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { Team } from "../../../support/age";
import { conflicting } from "../../../support/fakeRun";
import { timeAt } from "../../../support/rotatedSecret";
import { fieldsIn, tableOf } from "../tables";
import { OverlappingToken } from "./overlappingToken";

const at = (hours: number) => timeAt(hours).toISOString();

/**
 * One `up` of a token that was rotated at hour 0 for version 1, with two valid since then: what is sent, whether the
 * former one is valid afterwards, as far as the state has it, what a preview announces, and what the `up` says.
 */
const columns = ["title", "inputs", "given", "sends", "former", "announces", "says"] as const;
interface Given {
  readonly hours: number;
  /** Of the first `up`. */
  readonly first?: RotationInputs;
  /** Whether a Retirement, or someone else, has retired the former one between. */
  readonly isRetired?: true;
  readonly scheduledResets?: string;
}
const announcements = {
  "is read": /^is read: the former token may still be valid\. Nothing that consumers use changes\.$/,
  waits: /Unless an older token was retired meanwhile, the rotation waits\. The former token stays valid/,
  "retires first": /due to be retired, is retired first\. The former token stays valid for 12h/,
  "retires for its time": /is retired, if it is still valid, because its time is over \(overlap: 12h\)/,
  "is off": /due to be retired \(overlap: 12h\).*postponed: rekey:scheduledResets is off/,
  "retires first, for a date": /generated at 2026-01-01T00.*retired first: clients that still use it are refused/,
  "retires for a date": /because rotatedSince has asked for it: clients that still use it are refused/,
};
const texts = {
  "": /^/,
  "is left":
    /^the former token has been valid, too, since 2026-01-01T00.*, and is not retired yet\. A destroy leaves it/m,
  waits: /the rotation that is due is not made yet, because the former token has been valid, too, since 2026-01-01T00/,
  retired: /the former token was retired\. More than one had been valid since 2026-01-01T00:00:00\.000Z/,
  "retired first": /the older token was retired first\. More than one had been valid since 2026-01-01T00:00:00\.000Z/,
};
const short = "overlap: 12h, rotateEvery: 24h";
const first = `first: { version: 1, ${short} }`;
const dated = "first: { version: 1, rotateEvery: 24h, rotatedSince: hour 0, initialRotation: false }";
const rows = tableOf(
  columns,
  `
  nothing is due                                        |                      | hours: 1                                  |           | valid   | is read                   | is left
  a Retirement has retired it, which the next up reads  |                      | hours: 1, isRetired: true                 |           | retired | is read
  a new version waits                                   | version: 2           | hours: 1                                  |           | valid   | waits                     | waits
  a new version adds, if a Retirement has retired it    | version: 2           | hours: 1, isRetired: true                 | next      | valid   | waits
  a schedule retires first what is due to be retired    | ${short}             | hours: 24, ${first}                       | roll next | valid   | retires first
  a duration is over                                    | ${short}             | hours: 12, ${first}                       | roll      | retired | retires for its time      | retired
  a duration is over, and someone else has retired it   | ${short}             | hours: 12, isRetired: true, ${first}      |           | retired | retires for its time
  a duration is over, with the schedule off             | ${short}             | hours: 12, scheduledResets: off, ${first} |           | valid   | is off
  a date after the rotation retires it and rotates      | rotatedSince: hour 1 | hours: 2                                  | roll next | valid   | retires first, for a date | retired first
  a date after the former one was generated retires it  | rotatedSince: hour 0 | hours: 1                                  | roll      | retired | retires for a date
  the next up retires for a date, also if it is removed | rotateEvery: 24h     | hours: 24, scheduledResets: off, ${dated} | roll      | retired | retires for a date
  `,
);

describe("queueSource: a token of which two are valid", () => {
  let token: OverlappingToken;
  beforeEach(() => void (token = new OverlappingToken()));
  const isFormerValid = () => token.secret.memory.formers.some(({ retireHash }) => retireHash !== undefined);

  for (const { title, ...row } of rows) {
    it(title, async () => {
      const { hours, first = { version: 1 }, isRetired, ...settings } = fieldsIn(row.given) as unknown as Given;
      const inputs = { version: 1, ...fieldsIn(row.inputs) };
      const { code } = await token.up(0, first);
      assert.deepEqual([code, token.sent], [undefined, ["next"]]);
      if (isRetired) token.roll();
      token.secret.fake.settings = { ...token.secret.fake.settings, ...settings };
      assert.match(token.preview(hours, inputs), announcements[row.announces as keyof typeof announcements]);
      assert.deepEqual(token.sent, ["next"], "a preview sends nothing");
      const { said, code: failed } = await token.up(hours, inputs);
      assert.deepEqual([failed, token.sent.join(" ")], [undefined, row.sends]);
      assert.match(said, texts[row.says as keyof typeof texts]);
      assert.equal(isFormerValid(), row.former === "valid");
      const { formerRetiredAt, token: saved, waits } = token.secret.outputs ?? {};
      const waitsFor = /^the former token has been valid, too, since 2026-01-01T00/;
      if (row.says === "waits") assert.match(String(waits), waitsFor);
      if (row.sends.endsWith("next")) assert.equal(waits, undefined);
      assert.equal(formerRetiredAt, row.sends.endsWith("roll") ? at(hours) : undefined);
      assert.equal(saved, token.next ?? token.current, "the newest one is saved");
    });
  }

  it("is as old as its request, and shows since when, and until when, the one before it is valid", async () => {
    await token.up(0, { version: 1, overlap: "24h" });
    const { rotationCount, rotationReason, rotatedAt, generatedAt, formerValidSince, formerValidUntil, problems } =
      token.secret.outputs ?? {};
    assert.deepEqual([rotationCount, rotationReason, problems], [1, "created", []]);
    assert.deepEqual([rotatedAt, generatedAt, formerValidSince, formerValidUntil], [at(0), at(0), at(0), at(24)]);
    await token.up(1, { version: 1, overlap: "none" });
    assert.deepEqual([token.sent, token.secret.outputs?.["formerValidUntil"]], [[], undefined]);
    await token.up(1, { version: 1, overlap: "none" });
    assert.deepEqual([token.sent, isFormerValid()], [["roll"], false]);
  });

  it("fails the `up` if the queue refuses it, no longer than a platform learns late of a token", async () => {
    await token.up(0, { version: 1 });
    token.isAway = true;
    const beganMs = token.secret.fake.elapsedMs;
    const { code, message = "" } = await token.up(1, { version: 1, rotatedSince: at(0) });
    assert.deepEqual([code, token.sent], ["REKEY_VERIFICATION_FAILED", []]);
    assert.match(message, /the queue refuses the token that was handed out\. Check queueUrl .* set a new version/);
    assert.deepEqual([token.secret.saved, isFormerValid()], [{ token: "t1" }, true]);
    const waitedMs = token.secret.fake.elapsedMs - beganMs;
    assert.ok(waitedMs >= 10_000 && waitedMs < 15_000, `${waitedMs} ms`);
  });

  it("is replaced by a new version if someone else has reset it, and the former one stays the former one", async () => {
    await token.up(0, { version: 1 });
    token.isAway = true;
    assert.match((await token.up(1, { version: 1 })).message ?? "", /the queue refuses the token that was handed out/);
    Object.assign(token, { next: undefined, isAway: false });
    await token.up(1, { version: 2 });
    assert.deepEqual([token.sent, token.secret.saved, isFormerValid()], [["next"], { token: "t2" }, true]);
    const { said } = await token.up(2, { version: 2 });
    assert.match(said, /^the former token has been valid, too, since 2026-01-01T00/);
  });

  it("is not lost by a late read, or if its value is only in an age file: a read sends nothing", async () => {
    const encrypted = { encryptFor: [(await Team.create()).recipient], saveCredentials: false };
    for (const form of [{}, encrypted]) {
      token = new OverlappingToken();
      await token.up(0, { version: 1, ...form });
      for (const hasNext of [false, true]) {
        token.otherFields = JSON.stringify({ has_next_token: hasNext });
        assert.match((await token.up(1, { version: 2, ...form })).said, /the rotation that is due is not made yet/);
        assert.deepEqual([token.sent, isFormerValid()], [[], true]);
      }
    }
  });

  const conflicts = tableOf(
    ["title", "shows", "next", "former"],
    `
    is not, if a read shows the former one                 | t0 | t1 | valid
    is, if a read shows another one                        | t9 |    | retired
    is not, if a read hides it, and the new one is refused |    |    | valid
    is, if a read hides it, and the new one is accepted    |    | t1 | retired
    `,
  );
  for (const { title, shows, next, former } of conflicts) {
    it(`is taken for retired by others after a 409: it ${title}`, async () => {
      const inputs = { version: 1, overlap: "12h" };
      await token.up(0, inputs);
      const roll = () => {
        token.next = next || undefined;
        token.shown.token = shows || undefined;
        return conflicting();
      };
      token.fails = { roll };
      const { code } = await token.up(12, inputs);
      const isRetired = former === "retired";
      const expected = isRetired ? [undefined, false] : ["REKEY_REJECTED", true];
      assert.deepEqual([code, isFormerValid(), token.sent], [...expected, ["roll"]]);
    });
  }

  describe("that was prepared by someone else is of unknown age", () => {
    beforeEach(() => void Object.assign(token, { next: "t7", otherFields: '{"has_next_token":true}' }));

    it("so a date still asks for another one", async () => {
      const dated = { rotatedSince: at(0), initialRotation: false };
      assert.match((await token.up(0, dated)).said, /the platform already had a next token, whose age is unknown/);
      assert.deepEqual([token.secret.saved, token.secret.outputs?.["generatedAt"]], [{ token: "t7" }, undefined]);
      assert.match(token.preview(1, dated), /clients that still use it are refused\. The former token stays/);
      await token.up(1, dated);
      assert.deepEqual([token.sent, token.secret.saved.token], [["roll", "next"], "t1"]);
    });

    it("and announced by an adoption", async () => {
      const { said } = await token.up(0, { initialRotation: false });
      assert.match(said, /someone has prepared a next token, which is also valid\. The first rotation hands it out/);
    });

    for (const next of ["t7", "t8"]) {
      const what = next === "t7" ? "still" : "although it has taken the place of another one";
      it(`${what} after a proof that failed`, async () => {
        token.isAway = true;
        assert.equal((await token.up(0, { version: 1 })).code, "REKEY_VERIFICATION_FAILED");
        Object.assign(token, { next, isAway: false });
        assert.match((await token.up(1, { version: 1 })).said, /whose age is unknown/);
        assert.deepEqual([token.secret.saved, token.secret.memory.current.generatedAt], [{ token: next }, undefined]);
      });
    }
  });

  describe("that was added and not proven", () => {
    const nextUps = tableOf(
      ["title", "inputs", "sends", "reason"],
      `
      is handed out by the next up             | version: 1                | next  | created
      is replaced at once                      | version: 1, overlap: none | reset | created
      has the reason of a new version after it | version: 2                | next  | trigger
      has its reason if the version is removed |                           | next  | created
      `,
    );
    for (const { title, sends, reason, ...row } of nextUps) {
      it(`${title}, and is never due again`, async () => {
        const inputs = fieldsIn(row.inputs);
        token.isAway = true;
        const { code } = await token.up(0, { version: 1 });
        assert.deepEqual([code, token.sent], ["REKEY_VERIFICATION_FAILED", ["next"]]);
        assert.deepEqual([token.secret.outputs?.["outcome"], token.secret.saved.token], ["unproven", "t0"]);
        token.isAway = false;
        if (reason === "created") assert.match(token.preview(0, inputs), /the new secret was not proven/);
        await token.up(0, inputs);
        assert.deepEqual([token.sent, token.secret.outputs?.["rotationReason"]], [[sends], reason]);
        assert.deepEqual(token.secret.saved, { token: token.next ?? token.current });
        await token.up(0, inputs);
        assert.deepEqual(token.sent, []);
      });
    }
  });

  it("is tried by a refresh at the address of its rotation", async () => {
    const { secret } = token;
    await token.up(0, { version: 1, queueUrl: "https://other.example.com" });
    secret.fake.probes.length = 0;
    await secret.refresh({ shows: { token: "t0" } });
    const [{ endpoint } = assert.fail()] = secret.fake.probes;
    assert.equal("baseUrl" in endpoint && endpoint.baseUrl, "https://other.example.com");
  });

  it("that is rekey:queueToken cannot be retired, as a preview says", async () => {
    await token.up(0, { version: 1 });
    token.secret.fake.settings = { queueToken: "t0", queueUserId: undefined };
    const dated = { version: 1, rotatedSince: at(0) };
    assert.match(token.preview(1, dated), /It is rekey:queueToken: the retirement fails until that is the new one/);
    const { code } = await token.up(1, dated);
    assert.deepEqual([code, token.sent, token.current], ["REKEY_QUEUE_TOKEN_IN_USE", [], "t0"]);
  });
});
