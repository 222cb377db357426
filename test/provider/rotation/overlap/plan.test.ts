import assert from "node:assert/strict";
import { type Desired } from "../../../../provider/rotation/desired";
import { aclUser, queueToken } from "../../../../provider/domain/secretKind";
import { unknownValue } from "../../../../provider/pulumi/values";
import { notProven } from "../../../../provider/rotation/overlap/added";
import { leftValid } from "../../../../provider/rotation/overlap/overlapMessages";
import { OverlappingToken } from "../../../support/overlappingToken";
import { timeAt } from "../../../support/rotatedSecret";

/** One `up` of a token that was rotated at hour 0 of 2026, with two valid since then. */
interface Row {
  /** Of the first `up`. */
  readonly first?: Desired;
  /** What happened between. */
  readonly between?: (token: OverlappingToken) => void;
  readonly hours: number;
  readonly desired: Desired;
  readonly settings?: Readonly<Record<string, string>>;
  /** What a preview says; undefined if it says nothing. */
  readonly announces?: RegExp;
  readonly sends: readonly string[];
  readonly says?: RegExp;
  /** Whether the former one is valid afterwards, as far as the state has it. */
  readonly isFormerValid: boolean;
}

const isOff = { scheduledResets: "off" };
const daily = { version: 1, rotateEvery: "24h" };
const short = { ...daily, overlap: "12h" };
const leavesBoth =
  /^if the former token is still valid, as it has been since 2026-01-01T00:00:00\.000Z, a destroy leaves both/m;
const retiredFirst = /If two tokens are still valid, the older one is retired first\. The former token stays valid/;
const rows: Readonly<Record<string, Row>> = {
  "nothing is due": {
    hours: 1,
    desired: { version: 1 },
    announces: leavesBoth,
    sends: [],
    isFormerValid: true,
  },
  "a new version retires first": {
    hours: 1,
    desired: { version: 2 },
    announces: retiredFirst,
    sends: ["roll", "next"],
    says: /the older token was retired first\. Both had been valid since 2026-01-01T00:00:00\.000Z/,
    isFormerValid: true,
  },
  "a new version adds only, if a verification has retired it": {
    between: (token) => token.roll(),
    hours: 1,
    desired: { version: 2 },
    announces: retiredFirst,
    sends: ["next"],
    isFormerValid: true,
  },
  "a schedule waits for a verification": {
    first: daily,
    hours: 24,
    desired: daily,
    announces: /last reset or adopted at .*are still valid, the rotation waits until only one is/,
    sends: [],
    says: /two have been valid since 2026-01-01T00:00:00\.000Z, because no verification has retired/,
    isFormerValid: true,
  },
  "a schedule rotates, if a verification has retired it": {
    first: daily,
    between: (token) => token.roll(),
    hours: 24,
    desired: daily,
    announces: /the rotation waits until only one is/,
    sends: ["next"],
    isFormerValid: true,
  },
  "a schedule retires first what is due to be retired": {
    first: short,
    hours: 24,
    desired: short,
    announces: retiredFirst,
    sends: ["roll", "next"],
    isFormerValid: true,
  },
  "a duration that is not over": {
    first: short,
    hours: 12 - 1 / 3600,
    desired: short,
    announces: leavesBoth,
    sends: [],
    isFormerValid: true,
  },
  "a duration that is over": {
    first: short,
    hours: 12,
    desired: short,
    announces: /is retired, if it is still valid, because its time is over \(overlap: 12h\)/,
    sends: ["roll"],
    says: /was retired/,
    isFormerValid: false,
  },
  "a duration that is over, and retired by someone else": {
    first: short,
    between: (token) => token.roll(),
    hours: 12,
    desired: short,
    announces: /is retired, if it is still valid/,
    sends: [],
    isFormerValid: false,
  },
  "a duration that is over, with the schedule off": {
    first: short,
    hours: 12,
    desired: short,
    settings: isOff,
    announces: /due to be retired \(overlap: 12h\).*postponed: rekey:scheduledResets is off/,
    sends: [],
    isFormerValid: true,
  },
  "a schedule and a duration, with the schedule off": {
    first: short,
    hours: 24,
    desired: short,
    settings: isOff,
    announces: /postponed/,
    sends: [],
    isFormerValid: true,
  },
  "a shorter overlap counts from the next up on": {
    first: short,
    hours: 2,
    desired: { ...daily, overlap: "1h" },
    announces: leavesBoth,
    sends: [],
    isFormerValid: true,
  },
  "an overlap that is removed waits for a verification": {
    first: short,
    hours: 13,
    desired: daily,
    announces: leavesBoth,
    sends: [],
    isFormerValid: true,
  },
  "a date after the rotation retires it and rotates": {
    hours: 2,
    desired: { version: 1, rotatedSince: "2026-01-01T01:00:00Z" },
    announces: /generated at 2026-01-01T00.*is retired first/,
    sends: ["roll", "next"],
    isFormerValid: true,
  },
  "a date after the former one was generated retires it": {
    hours: 1,
    desired: { version: 1, rotatedSince: "2026-01-01" },
    announces: /is retired, if it is still valid, because rotatedSince has asked for it/,
    sends: ["roll"],
    isFormerValid: false,
  },
  "a date retires with the schedule off": {
    hours: 1,
    desired: { version: 1, rotatedSince: "2026-01-01" },
    settings: isOff,
    announces: /because rotatedSince has asked for it/,
    sends: ["roll"],
    isFormerValid: false,
  },
  "a date retires while a schedule waits, with the schedule off": {
    first: { ...daily, rotatedSince: "2026-01-01", initialRotation: false },
    hours: 24,
    desired: daily,
    settings: isOff,
    announces: /because rotatedSince has asked for it.*is due for a reset.*postponed: rekey:scheduledResets is off/s,
    sends: ["roll"],
    isFormerValid: false,
  },
  "a rotation for a date retires by the next up, also if the date is removed": {
    first: { rotatedSince: "2026-01-01", initialRotation: false },
    hours: 1,
    desired: {},
    announces: /because rotatedSince has asked for it/,
    sends: ["roll"],
    isFormerValid: false,
  },
};

describe("rotation: plans for a secret of which two are valid", () => {
  for (const [title, row] of Object.entries(rows)) {
    it(title, async () => {
      const token = new OverlappingToken();
      const { first = { version: 1 } } = row;
      const { code } = await token.up(0, first);
      assert.deepEqual([code, token.sent], [undefined, ["next"]]);
      row.between?.(token);
      token.secret.fake.settings = { ...token.secret.fake.settings, ...row.settings };
      const announced = token.preview(row.hours, row.desired);
      if (row.announces) assert.match(announced, row.announces);
      else assert.equal(announced, "");
      assert.deepEqual(token.sent, ["next"], "a preview sends nothing");
      const { said, code: failed } = await token.up(row.hours, row.desired);
      assert.equal(failed, undefined);
      assert.deepEqual(token.sent, row.sends);
      if (row.says) assert.match(said, row.says);
      assert.equal(token.secret.memory.overlap !== undefined, row.isFormerValid);
      const { formerRetiredAt, token: saved } = token.secret.outputs ?? {};
      const hasRetiredIt = row.sends.at(-1) === "roll";
      assert.equal(formerRetiredAt, hasRetiredIt ? timeAt(row.hours).toISOString() : undefined);
      assert.equal(saved, token.next ?? token.current, "the newest one is saved");
    });
  }

  it("what was added and not proven is handed out by the next up, or replaced at once, and never due again", async () => {
    for (const overlap of [undefined, "none"]) {
      const token = new OverlappingToken();
      token.isAway = true;
      const { code } = await token.up(0, { version: 1 });
      assert.deepEqual(
        [code, token.sent, token.secret.saved],
        ["REKEY_VERIFICATION_FAILED", ["next"], { token: "t0" }],
      );
      token.isAway = false;
      assert.match(token.preview(0, { version: 1, overlap }), /the new secret was not proven/);
      await token.up(0, { version: 1, overlap });
      assert.deepEqual(token.sent, [overlap === undefined ? "next" : "reset"]);
      assert.deepEqual(token.secret.saved, { token: token.next ?? token.current });
      await token.up(0, { version: 1, overlap });
      assert.deepEqual(token.sent, []);
    }
  });

  it("what was added and not proven is announced with the time of the reason for it", async () => {
    const scheduled = { rotateEvery: "24h", initialRotation: false };
    const token = new OverlappingToken();
    await token.up(0, scheduled);
    token.isAway = true;
    await token.up(24, scheduled);
    assert.deepEqual(token.sent, ["next"]);
    assert.match(token.preview(24, scheduled), new RegExp(`last reset or adopted at ${timeAt(0).toISOString()}`));
  });

  describe("says in a preview how long the current one stays valid", () => {
    const leaked = "2026-01-01T01:00:00Z";
    const texts: readonly (readonly [desired: Desired, text: string])[] = [
      [{}, " The former token stays valid until a CredentialVerification with retireFormerAfter retires it."],
      [
        { overlap: "verified" },
        " The former token stays valid until a CredentialVerification with retireFormerAfter retires it.",
      ],
      [{ overlap: "24h" }, " The former token stays valid for 24h."],
      [{ overlap: "none" }, " The former token is replaced at once: clients are refused until they have the new one."],
      [
        { rotatedSince: leaked },
        " The former token stays valid until the next `up`, or until a verification retires it.",
      ],
      [
        { rotatedSince: "2025-01-01" },
        " The former token stays valid until a CredentialVerification with retireFormerAfter retires it.",
      ],
      [{ overlap: unknownValue }, ""],
    ];
    for (const [desired, text] of texts) {
      it(JSON.stringify(desired), async () => {
        const token = new OverlappingToken();
        await token.up(0, { version: 1 });
        await token.up(1, { version: 1, rotatedSince: "2026-01-01" });
        assert.equal(token.secret.memory.overlap, undefined);
        const announced = token.preview(2, { version: 2, ...desired });
        // Notices are without their subject, and so without what is before the first colon.
        const said = announced.replace(/^.* version or triggers have changed\./, "");
        assert.equal(said, `${text.replace(/^.*: /, "")} So far 1 in this run.`);
      });
    }
  });

  it("says after a destroy that two are valid, as far as is known", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    const [left, ...others] = leftValid(queueToken, token.secret.memory, new Set());
    assert.deepEqual(others, []);
    assert.equal(left?.isWarning, true);
    assert.match(
      left.text,
      /^two tokens of the queue user may stay valid \(since 2026-01-01T00:00:00\.000Z\)\. To remove the former one/,
    );
    token.roll();
    await token.up(1, { version: 1, rotatedSince: "2026-01-01" });
    assert.deepEqual(leftValid(queueToken, token.secret.memory, new Set()), []);
  });

  it("says of what could not be proven why, and what to check", () => {
    const { code, text, delivery } = notProven({ kind: queueToken, id: "u" }, { kind: "refused", words: "WRONG" });
    assert.deepEqual([code, delivery], ["REKEY_VERIFICATION_FAILED", "responded"]);
    assert.match(text, /was made valid, but not proven: it is refused: WRONG\..*Check queueUrl or rekey:queueUrl/);
    const ofUser = notProven({ kind: aclUser, id: "app" }, { kind: "unknown", why: "no response" });
    assert.match(ofUser.text, /it could not be tried: no response\..*Check admin,/);
  });

  it("a clock that was ahead is named, if it keeps the former one valid", async () => {
    for (const overlap of ["12h", "verified"]) {
      const token = new OverlappingToken();
      await token.up(24 * 365, { version: 1, overlap });
      const announced = token.preview(24, { version: 1, overlap });
      const warning = /later than this machine's clock.* overlap counts from that time; a new version retires/;
      if (overlap === "verified") assert.doesNotMatch(announced, /clock/);
      else assert.match(announced, warning);
    }
  });

  it("a new version after one that was not proven is the reason of the rotation", async () => {
    const token = new OverlappingToken();
    token.isAway = true;
    await token.up(0, { version: 1 });
    token.isAway = false;
    await token.up(0, { version: 2 });
    assert.deepEqual([token.secret.outputs?.["rotationReason"], token.sent], ["trigger", ["next"]]);
    await token.up(0, { version: 2 });
    assert.deepEqual(token.sent, []);
  });

  it("a version that is removed after one that was not proven leaves its reason", async () => {
    const token = new OverlappingToken();
    token.isAway = true;
    await token.up(0, { version: 1 });
    token.isAway = false;
    await token.up(0, {});
    assert.equal(token.secret.outputs?.["rotationReason"], "created");
    await token.up(0, {});
    assert.deepEqual(token.sent, []);
  });

  it("a date asks for a rotation that a schedule has begun, with the schedule off", async () => {
    const token = new OverlappingToken();
    const daily = { version: 1, rotateEvery: "24h" };
    await token.up(0, daily);
    token.roll();
    token.isAway = true;
    const { code } = await token.up(24, daily);
    assert.equal(code, "REKEY_VERIFICATION_FAILED");
    token.isAway = false;
    token.secret.fake.settings = { ...token.secret.fake.settings, scheduledResets: "off" };
    await token.up(25, { ...daily, rotatedSince: "2026-01-02T00:30:00Z" });
    assert.deepEqual(token.sent, ["next"]);
  });

  it("a rotation that a schedule has begun and a date needs is that of the date", async () => {
    const token = new OverlappingToken();
    const daily = { version: 1, rotateEvery: "24h" };
    await token.up(0, daily);
    token.roll();
    token.isAway = true;
    await token.up(24, daily);
    token.isAway = false;
    await token.up(25, { ...daily, rotatedSince: "2026-01-02T00:30:00Z" });
    assert.equal(token.secret.memory.overlap?.isUrgent, true);
  });

  it("a date that came with a new version still counts once it is removed", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(2, { version: 2, rotatedSince: "2026-01-01T01:00:00Z" });
    await token.up(3, { version: 2 });
    assert.deepEqual(token.sent, ["roll"]);
  });

  it("a preview says that the former one cannot be retired, because it is rekey:queueToken", async () => {
    const token = new OverlappingToken();
    token.secret.fake.settings = { ...token.secret.fake.settings, queueToken: "t0", queueUserId: undefined };
    await token.up(0, { version: 1 });
    const announced = token.preview(1, { version: 2 });
    const { code } = await token.up(1, { version: 2 });
    assert.equal(code, "REKEY_QUEUE_TOKEN_IN_USE");
    assert.match(announced, /the retirement fails until that is the new one/);
  });

  it("the limit of resets is asked before the former one is retired", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.secret.fake.settings = { ...token.secret.fake.settings, maxResetsPerRun: "0" };
    const { code } = await token.up(1, { version: 2 });
    assert.deepEqual([code, token.sent], ["REKEY_RESET_LIMIT", []]);
  });

  it("a date before the former one was generated retires nothing", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    const dated = { version: 2, rotatedSince: "2025-06-01" };
    await token.up(1, dated);
    assert.deepEqual([token.sent, token.secret.memory.overlap?.isUrgent], [["next"], undefined]);
    await token.up(2, dated);
    assert.deepEqual(token.sent, []);
  });

  it("a rotation for a date that was not proven stays one for a date, also if the date is removed", async () => {
    const token = new OverlappingToken();
    token.isAway = true;
    await token.up(0, { rotatedSince: "2026-01-01", initialRotation: false });
    token.isAway = false;
    await token.up(1, {});
    const { memory, outputs } = token.secret;
    assert.deepEqual([outputs?.["rotationReason"], memory.overlap?.isUrgent], ["rotatedSince", true]);
  });
});
