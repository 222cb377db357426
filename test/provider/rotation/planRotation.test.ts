import assert from "node:assert/strict";
import fc from "fast-check";
import {
  clockToleranceMs,
  futureTime,
  overdueNotice,
  planPostponed,
  planRotation,
  type RotationPlan,
  type RotationState,
  type DesiredRotation,
  unconfirmedLimit,
} from "../../../provider/rotation/planRotation";
import { markTrigger, type Trigger } from "../../../provider/rotation/trigger";

const now = new Date("2026-06-01T00:00:00.000Z");
const monthAgo = "2026-05-01T00:00:00.000Z";
const lately = "2026-05-31T00:00:00.000Z";
const twoHoursAgo = "2026-05-31T22:00:00.000Z";
const v1 = { version: 1 };
const v2 = { version: 2 };

const reset = (trigger: Trigger, more: Partial<RotationState> = {}): RotationState => ({
  outcome: "reset",
  appliedTrigger: markTrigger(trigger),
  rotatedAt: monthAgo,
  ...more,
});
const adopted = (trigger: Trigger): RotationState => {
  return { outcome: "adopted", appliedTrigger: markTrigger(trigger), adoptedAt: monthAgo };
};
const unknown = (trigger: Trigger, unconfirmedResets: number | undefined, more = {}): RotationState => ({
  outcome: "unknown",
  attemptedTrigger: markTrigger(trigger),
  unconfirmedResets,
  ...more,
});

const keep: RotationPlan = { kind: "keep" };
const adopt: RotationPlan = { kind: "adopt" };
const because = (reason: "created" | "trigger" | "unconfirmed"): RotationPlan => ({ kind: "reset", reason });
const scheduled = (since: string): RotationPlan => ({ kind: "reset", reason: "schedule", since });

type Row = readonly [string, RotationState | undefined, DesiredRotation, RotationPlan | RegExp];

const rows: readonly Row[] = [
  ["new", undefined, {}, because("created")],
  ["new with everything", undefined, { version: 1, rotateEvery: "30d", initialRotation: true }, because("created")],
  ["new, null for adopting", undefined, { initialRotation: null }, because("created")],
  ["adopting", undefined, { version: 1, rotateEvery: "PT1S", initialRotation: false }, adopt],

  ["nothing new", reset(v1), { version: "1", triggers: {} }, keep],
  ["adopting one that is already managed", reset(v1), { ...v1, initialRotation: false }, keep],
  ["a new version", reset(v1), v2, because("trigger")],
  ["a first version", reset({}), v1, because("trigger")],
  ["a new trigger", reset(v1), { ...v1, triggers: { a: "b" } }, because("trigger")],
  ["one of two triggers removed", reset({ triggers: { a: 1, b: 2 } }), { triggers: { a: 1 } }, because("trigger")],
  ["the whole trigger removed", reset(v1), {}, keep],
  ["the whole trigger null", reset(v1), { version: null, triggers: { a: null } }, keep],
  ["a new version of an adopted one", adopted(v1), v2, because("trigger")],
  ["an unchanged adopted one", adopted(v1), { ...v1, initialRotation: true }, keep],
  ["a mark of a newer Rekey", reset(v1, { appliedTrigger: "2:x" }), v1, /appliedTrigger.*newer one$/],
  ["no mark", reset(v1, { appliedTrigger: undefined }), v1, /appliedTrigger/],
  ["no mark and no trigger", reset(v1, { appliedTrigger: undefined }), {}, keep],

  ["due to the millisecond", reset(v1), { ...v1, rotateEvery: "31d" }, scheduled(monthAgo)],
  ["long overdue", reset(v1), { ...v1, rotateEvery: "PT1S" }, scheduled(monthAgo)],
  ["not due", reset(v1), { ...v1, rotateEvery: "32d" }, keep],
  ["due in an hour", reset(v1), { ...v1, rotateEvery: "P31DT1H" }, scheduled(monthAgo)],
  ["due in more than an hour", reset(v1), { ...v1, rotateEvery: "P31DT1H0.001S" }, keep],
  ["adopted and due in an hour", adopted(v1), { ...v1, rotateEvery: "P31DT1H" }, scheduled(monthAgo)],
  ["due in a twentieth", reset(v1, { rotatedAt: twoHoursAgo }), { rotateEvery: "PT126M18S" }, scheduled(twoHoursAgo)],
  ["due in more than a twentieth", reset(v1, { rotatedAt: twoHoursAgo }), { rotateEvery: "PT126M19S" }, keep],
  [
    "a clock that was set back",
    reset(v1, { rotatedAt: "2027-01-01T00:00:00.000Z" }),
    { ...v1, rotateEvery: "PT1S" },
    keep,
  ],
  ["due and without a trigger", reset(v1), { rotateEvery: "1d" }, scheduled(monthAgo)],
  ["due and a new version", reset(v1), { version: 2, rotateEvery: "1d" }, because("trigger")],
  ["adopted and due", adopted(v1), { ...v1, rotateEvery: "P1M" }, scheduled(monthAgo)],
  ["adopted and not due", adopted(v1), { ...v1, rotateEvery: "P2M" }, keep],
  [
    "reset after its adoption",
    reset(v1, { adoptedAt: monthAgo, rotatedAt: lately }),
    { ...v1, rotateEvery: "P1M" },
    keep,
  ],
  ["an unreadable time", reset(v1, { rotatedAt: "then" }), { ...v1, rotateEvery: "1d" }, /rotatedAt/],
  ["a part of a time", reset(v1, { rotatedAt: monthAgo.slice(0, 10) }), { ...v1, rotateEvery: "1d" }, /rotatedAt/],
  ["no time", reset(v1, { rotatedAt: undefined }), { ...v1, rotateEvery: "1d" }, /rotatedAt/],
  ["an unreadable time that is not needed", reset(v1, { rotatedAt: "then" }), { ...v1, rotateEvery: null }, keep],

  ["unconfirmed once", unknown(v1, 1), v1, because("unconfirmed")],
  ["unconfirmed twice", unknown(v1, 2), v1, because("unconfirmed")],
  ["unconfirmed, uncounted", unknown(v1, undefined), v1, because("unconfirmed")],
  ["unconfirmed up to the limit", unknown(v1, unconfirmedLimit), v1, /the last 3 resets.* set a new version/],
  ["unconfirmed three times, due", unknown(v1, 3, { rotatedAt: monthAgo }), { ...v1, rotateEvery: "PT1S" }, /last 3/],
  ["unconfirmed three times, then a new version", unknown(v1, 3), v2, because("trigger")],
  ["unconfirmed once, then a new version", unknown(v1, 1), v2, because("trigger")],
  ["unconfirmed once, then no trigger", unknown(v1, 1), {}, because("unconfirmed")],
  ["unconfirmed three times, then no trigger", unknown(v1, 3), {}, /last 3/],
  [
    "unconfirmed, back to the applied trigger",
    unknown(v2, 3, reset(v1, { outcome: "unknown" })),
    v1,
    because("trigger"),
  ],
  [
    "not applied, because someone else rolled",
    reset(v1, { attemptedTrigger: markTrigger(v1) }),
    v1,
    because("trigger"),
  ],
  ["unconfirmed, an unreadable mark", unknown(v1, 1, { attemptedTrigger: "7:x" }), v1, /attemptedTrigger/],
  ["unconfirmed, a count that is negative", unknown(v1, -1), v1, /unconfirmedResets/],
  ["unconfirmed, a count that is not whole", unknown(v1, 0.5), v1, /unconfirmedResets/],
  ["an outcome that does not exist", { ...reset(v1), outcome: "done" as "reset" }, v1, /outcome/],
];

const off = "rekey:scheduledResets is off";
const ofSchedule = unknown(v1, 1, { rotatedAt: monthAgo, attemptedAt: lately, attemptedReason: "schedule" });

/** What a run does that makes no resets that only `rotateEvery` asks for. */
const postponedRows: readonly (readonly [string, RotationState | undefined, DesiredRotation, RotationPlan])[] = [
  ["a new one", undefined, { ...v1, rotateEvery: "1d" }, because("created")],
  ["an adoption", undefined, { ...v1, rotateEvery: "1d", initialRotation: false }, adopt],
  ["a new version", reset(v1), { ...v2, rotateEvery: "1d" }, because("trigger")],
  ["one that is not due", reset(v1), { ...v1, rotateEvery: "32d" }, keep],
  [
    "one that is due",
    reset(v1),
    { ...v1, rotateEvery: "10d" },
    { kind: "keep", waits: { reason: "schedule", why: off, since: "2026-05-11T00:00:00.000Z" } },
  ],
  [
    "one that is due within the hour",
    reset(v1),
    { ...v1, rotateEvery: "P31DT1H" },
    { kind: "keep", waits: { reason: "schedule", why: off, since: now.toISOString() } },
  ],
  [
    "an unconfirmed one that the schedule asked for",
    ofSchedule,
    { ...v1, rotateEvery: "1d" },
    { kind: "keep", waits: { reason: "unconfirmed", why: off, since: lately } },
  ],
  [
    "an unconfirmed one of a schedule that was removed",
    ofSchedule,
    v1,
    { kind: "keep", waits: { reason: "unconfirmed", why: off, since: lately } },
  ],
  ["an unconfirmed one, and a new version", ofSchedule, v2, because("trigger")],
  ["an unconfirmed one that something else asked for", unknown(v1, 1), { rotateEvery: "1d" }, because("unconfirmed")],
];

describe("rotation: plan with rekey:scheduledResets off", () => {
  for (const [what, saved, desired, expected] of postponedRows) {
    it(`for ${what}`, () => {
      assert.deepEqual(planPostponed(planRotation(saved, desired, now), saved, desired, now), expected);
    });
  }
});

describe("rotation: plan", () => {
  for (const [what, saved, wanted, expected] of rows) {
    it(`for ${what}`, () => {
      const plan = planRotation(saved, wanted, now);
      if (!(expected instanceof RegExp)) return assert.deepEqual(plan, expected);
      assert.equal(plan.kind, "refuse");
      const { why, code } = plan.kind === "refuse" ? plan : assert.fail();
      assert.match(why, expected);
      assert.equal(code, /resets\b/.test(why) ? "REKEY_REPEATEDLY_UNCONFIRMED" : "REKEY_STATE_UNREADABLE");
    });
  }

  it("reports how late the oldest scheduled reset is, if it is overdue", () => {
    const dueSince = (since: string) => ({ kind: "reset", reason: "schedule", since }) as const;
    const other = { kind: "reset", reason: "trigger" } as const;
    const late = (...plans: Parameters<typeof overdueNotice>[0]) => overdueNotice(plans, "10d", now);
    assert.equal(late(other, keep), "");
    assert.equal(late(dueSince(lately)), "");
    assert.equal(late(other, dueSince(monthAgo)), " The rotation is 21 days late.");
    assert.equal(late(dueSince(lately), keep, dueSince(monthAgo)), " The oldest rotation is 21 days late.");
  });

  const scalar = fc.oneof(fc.integer(), fc.string());
  const trigger = fc.record({ version: fc.option(scalar), triggers: fc.dictionary(fc.string(), scalar) });
  const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") });

  it("never resets if nothing differs, at any time", () => {
    fc.assert(
      fc.property(trigger, time, fc.constantFrom(true, false, null, undefined), (wanted, clock, initialRotation) => {
        for (const saved of [reset(wanted), adopted(wanted)]) {
          assert.deepEqual(planRotation(saved, { ...wanted, initialRotation }, clock), keep);
        }
      }),
    );
  });

  it("reports that the last rotation or adoption is in the future only if the clocks differ by more than they may", () => {
    const last = reset(v1, { rotatedAt: now.toISOString(), adoptedAt: monthAgo });
    const other: RotationState = { ...last, outcome: "adopted", rotatedAt: monthAgo, adoptedAt: now.toISOString() };
    for (const saved of [last, other]) {
      const future = (earlierMs: number) =>
        futureTime(saved, { rotateEvery: "1d" }, new Date(now.getTime() - earlierMs));
      assert.deepEqual([future(clockToleranceMs), future(clockToleranceMs + 1)], [undefined, now.toISOString()]);
    }
    assert.equal(futureTime(undefined, { rotateEvery: "1d" }, now), undefined);
    assert.equal(futureTime(last, {}, new Date(monthAgo)), undefined);
  });

  it("resets by time exactly from an hour, or a twentieth of a shorter interval, before the due time on", () => {
    const seconds = fc.integer({ min: 1, max: 999_999 });
    fc.assert(
      fc.property(time, seconds, fc.integer({ min: -5, max: 5 }), (last, seconds, late) => {
        const saved = reset({}, { rotatedAt: last.toISOString() });
        const slackMs = Math.min(3_600_000, seconds * 50);
        const clock = new Date(last.getTime() + seconds * 1000 - slackMs + late);
        assert.equal(planRotation(saved, { rotateEvery: `PT${seconds}S` }, clock).kind, late >= 0 ? "reset" : "keep");
      }),
    );
  });
});
