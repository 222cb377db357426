import assert from "node:assert/strict";
import { aclUser, queueToken, type SecretKind, signingKeys } from "../../../../provider/domain/secretKind";
import { unknownValue } from "../../../../provider/pulumi/values";
import { triggerMark } from "../../../../provider/rotation/memory/marks";
import { type Attempt, emptyMemory, type Former, type Memory } from "../../../../provider/rotation/memory/memory";
import { type Context, type Plan } from "../../../../provider/rotation/program/plan";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { readProgram, type RotationInputs, savedProgram } from "../../../../provider/rotation/program/program";
import { timeAt } from "../../../support/rotatedSecret";

const at = (hours: number) => timeAt(hours).toISOString();
const empty = { ...emptyMemory(timeAt(0)), salt: "salt" };
const trigger = (version: number) => triggerMark(empty, readProgram({ version }, queueToken).trigger);

/** A former one that is valid since hour 0, and was generated a day before. */
const former = (more: Partial<Former> = {}): Former => ({
  ...{ retireHash: "h0", since: at(0), validFor: "retirement", generatedAt: at(-24) },
  ...more,
});
const unproven: Attempt = {
  ...{ trigger: trigger(1), reason: "schedule", count: 1, adds: true },
  ...{ firstSentAt: at(1), lastSentAt: at(1) },
};

/** One plan for a secret that was rotated at hour 0 for version 1, and has one former one that is valid. */
interface Case {
  /** Default: the token of a queue user. */
  readonly kind?: SecretKind;
  readonly formers?: readonly Former[];
  readonly memory?: Partial<Memory>;
  /** What the program says, in addition to its version. */
  readonly inputs?: RotationInputs;
  /** Default: what it says now. */
  readonly saved?: RotationInputs;
  /** Default: 48. */
  readonly hours?: number;
  readonly isScheduleOn?: false;
  readonly canRead?: false;
  /** What the saved state says of a rotation that waits. */
  readonly waits?: string;
  /** What the read has shown. Default: nothing special; null before the read. */
  readonly read?: Partial<NonNullable<Context["read"]>> | null;
  /** `rotate: trigger`, `retire: date`, `keep, waits: schedule` */
  readonly plan: string;
  readonly why?: RegExp;
}

function planOf({ kind = queueToken, formers = [former()], memory, inputs, hours = 48, ...more }: Case): Plan {
  const { isScheduleOn = true, canRead = true, read = {}, saved = inputs, waits } = more;
  const program = savedProgram(readProgram(saved ?? {}, kind), empty);
  const kindFacts = kind === aclUser ? { hash: "h1" } : {};
  const current = {
    marks: { [kind.identities[0]]: "mark" },
    identity: kind.identities[0],
    generatedAt: at(0),
    form: {},
  };
  const known: Memory = { ...empty, applied: trigger(1), current, formers, program, kindFacts, ...memory };
  const context = { kind, now: timeAt(hours), canRead, isScheduleOn };
  const shown = { shown: {}, shownInRun: [], ...read };
  const given: Context = { ...context, ...(read && { read: shown }) };
  return planRotation({ rotationCount: 1, memory: known, waits }, readProgram({ version: 1, ...inputs }, kind), given);
}

function textOf(plan: Plan): string {
  const { kind } = plan;
  if (kind === "rotate") return `rotate: ${plan.reason}`;
  if (kind === "refuse") return `refuse: ${plan.code}`;
  if (kind === "maybe" || kind === "adopt") return kind;
  const why = "why" in plan ? `: ${plan.why}` : "";
  const saves = "saves" in plan ? " and save" : "";
  return kind + saves + why + (plan.waits ? `, waits: ${plan.waits.reason}` : "");
}

const daily = { rotateEvery: "24h" };
const goneReason = "it is gone";
const credential = { name: "password", mark: "former" } as const;
const ten = Array.from({ length: 9 }, (_, nth) => former({ retireHash: `h${nth + 2}`, since: at(nth), credential }));
const back = former({ isValidAgain: true });

const sections: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  "nothing is due": {
    "reads before it knows more": { read: null, plan: "read: former" },
    "keeps after the read": { plan: "keep" },
    "keeps what cannot be read": { ...{ read: null, canRead: false }, plan: "keep" },
    "keeps without a read if none is valid": {
      ...{ formers: [former({ retireHash: undefined })], read: null },
      plan: "keep",
    },
    "reads for keys until they may be rolled again": {
      ...{ kind: signingKeys, formers: [former({ retireHash: undefined, validFor: "1h" })], hours: 1 / 2, read: null },
      plan: "read: former",
    },
    "keeps keys that may be rolled again": {
      ...{ kind: signingKeys, formers: [former({ retireHash: undefined, validFor: "1h" })], hours: 1, read: null },
      plan: "keep",
    },
    "saves that nothing waits any more": { waits: "it is due", plan: "keep and save" },
    "reads first, although nothing waits any more": { waits: "it is due", read: null, plan: "read: former" },
    "keeps what still waits": { ...{ waits: "it is due", inputs: daily }, plan: "keep, waits: schedule" },
    "adopts the program after an import": {
      ...{ memory: { applied: undefined }, formers: [] },
      plan: "read",
    },
    "saves another overlap": { inputs: { overlap: "24h" }, plan: "keep and save" },
    "saves an overlap that is not known yet": { inputs: { overlap: unknownValue }, plan: "keep and save" },
    "saves what a server has not saved": {
      ...{ kind: aclUser, memory: { kindFacts: { hash: "h1", isUnsaved: true } }, read: null },
      plan: "save",
    },
    "reads what a refresh has not found": {
      ...{ kind: aclUser, memory: { current: { marks: { password: "mark" }, generatedAt: at(0), mustRead: true } } },
      ...{ read: null, formers: [] },
      plan: "read",
    },
  },
  "a time or a date retires": {
    "what is over": { formers: [former({ validFor: "12h" })], inputs: { overlap: "12h" }, plan: "retire: time" },
    "at its time": { formers: [former({ validFor: "48h" })], inputs: { overlap: "48h" }, plan: "retire: time" },
    "before its time not": { formers: [former({ validFor: "49h" })], inputs: { overlap: "49h" }, plan: "keep" },
    "with another overlap not, until that is saved": {
      ...{ formers: [former({ validFor: "12h" })], inputs: { overlap: "1h" } },
      plan: "keep and save",
    },
    "with schedules off not": {
      ...{ formers: [former({ validFor: "12h" })], inputs: { overlap: "12h" }, isScheduleOn: false },
      plan: "keep",
    },
    "what `none` has left": {
      formers: [former({ validFor: "none" })],
      inputs: { overlap: "none" },
      plan: "retire: time",
    },
    "what is older than the date": { inputs: { rotatedSince: at(-1) }, plan: "retire: date" },
    "what is not older than the date not": { inputs: { rotatedSince: at(-24) }, plan: "keep" },
    "what is of unknown age": {
      ...{ formers: [former({ generatedAt: undefined })], inputs: { rotatedSince: at(-99) } },
      plan: "retire: date",
    },
    "what a date has replaced, by the next `up`, with schedules off, too": {
      ...{ formers: [former({ validFor: "next up" })], isScheduleOn: false },
      plan: "retire: date",
    },
    "what a date has replaced, and what is over": {
      ...{ formers: [former({ validFor: "12h" }), former({ validFor: "next up" })], inputs: { overlap: "12h" } },
      plan: "retire: date",
    },
    "what was retired and is back, for a duration or none": {
      ...{ kind: aclUser, formers: [back], inputs: { overlap: "24h" }, saved: {} },
      plan: "retire: time",
    },
    "what was retired and is back not, if a Retirement does it": { kind: aclUser, formers: [back], plan: "keep" },
  },
  "a new version": {
    "waits for the former token": {
      ...{ inputs: { version: 2 }, plan: "keep, waits: trigger" },
      why: /^the former token has been valid, too, since 2026-01-01T00.*by the first `up` after the one at whose end a Retirement retires/,
    },
    "waits for the end of its duration": {
      ...{
        formers: [former({ validFor: "72h" })],
        inputs: { version: 2, overlap: "72h" },
        plan: "keep, waits: trigger",
      },
      why: /by the first `up` after 2026-01-04T00:00:00\.000Z/,
    },
    "does not wait for what is due to be retired": {
      ...{ formers: [former({ validFor: "12h" })], inputs: { version: 2, overlap: "12h" }, plan: "rotate: trigger" },
    },
    "does not wait if none is valid": { formers: [], inputs: { version: 2 }, plan: "rotate: trigger" },
    "does not wait if the current one is replaced at once": {
      ...{ inputs: { version: 2, overlap: "none" }, plan: "rotate: trigger" },
    },
    "is planned before the read has shown more": { ...{ inputs: { version: 2 }, read: null }, plan: "rotate: trigger" },
    "adds a further password of a user": { ...{ kind: aclUser, inputs: { version: 2 } }, plan: "rotate: trigger" },
    "adds the tenth password": {
      ...{ kind: aclUser, formers: ten.slice(1), inputs: { version: 2 } },
      plan: "rotate: trigger",
    },
    "waits at ten passwords": {
      ...{ kind: aclUser, formers: ten, inputs: { version: 2 }, plan: "keep, waits: trigger" },
      why: /^the former password has been valid, too, since 2026-01-01T00:00/,
    },
    "does not wait at ten passwords of others, which the user had before its first rotation": {
      ...{ kind: aclUser, formers: ten.map((one) => ({ ...one, credential: undefined })), inputs: { version: 2 } },
      plan: "rotate: trigger",
    },
    "waits at ten passwords for the first end of a duration, if all have one": {
      ...{ kind: aclUser, formers: ten.map((one) => ({ ...one, validFor: "72h" })), hours: 48 },
      ...{
        inputs: { version: 2, overlap: "72h" },
        plan: "keep, waits: trigger",
        why: /after 2026-01-04T00:00:00\.000Z$/,
      },
    },
    "waits for the oldest one, also if a clock was set back": {
      ...{ formers: [former({ since: at(3) }), former({ retireHash: "h2", since: at(2) })], inputs: { version: 2 } },
      ...{ plan: "keep, waits: trigger", why: /since 2026-01-01T02/ },
    },
    "waits while the current hash is not certain": {
      ...{ kind: aclUser, memory: { kindFacts: {} }, inputs: { version: 2 }, plan: "keep, waits: trigger" },
    },
    "waits for what is back like for any other one": {
      ...{ kind: aclUser, formers: [back], memory: { kindFacts: {} }, inputs: { version: 2 } },
      plan: "keep, waits: trigger",
    },
  },
  "a schedule": {
    "waits for the former token": { inputs: daily, plan: "keep, waits: schedule" },
    "waits for the former password": { kind: aclUser, inputs: daily, plan: "keep, waits: schedule" },
    "does not wait for what is back": { kind: aclUser, formers: [back], inputs: daily, plan: "rotate: schedule" },
    "waits for another one than what is back": {
      ...{ kind: aclUser, formers: [back, former()], inputs: daily },
      plan: "keep, waits: schedule",
    },
    "does not wait for what is due to be retired": {
      ...{ formers: [former({ validFor: "12h" })], inputs: { ...daily, overlap: "12h" } },
      plan: "rotate: schedule",
    },
    "retires for a date while it waits, with schedules off": {
      ...{ formers: [former({ validFor: "next up" })], inputs: daily, isScheduleOn: false },
      plan: "retire: date, waits: schedule",
    },
    "waits and saves another overlap": { inputs: { ...daily, overlap: "72h" }, plan: "keep and save, waits: schedule" },
  },
  "a date": {
    "never waits": { inputs: { rotatedSince: at(1) }, plan: "rotate: rotatedSince" },
    "never waits, at ten passwords either": {
      ...{ kind: aclUser, formers: ten, inputs: { rotatedSince: at(1) } },
      plan: "rotate: rotatedSince",
    },
  },
  "a current one that is gone": {
    "fails if nothing is due": {
      ...{ kind: aclUser, read: { goneReason } },
      plan: "refuse: REKEY_VERIFICATION_FAILED",
      why: /gone/,
    },
    "fails although a former one is due to be retired": {
      ...{ kind: aclUser, formers: [former({ validFor: "12h" })], inputs: { overlap: "12h" }, read: { goneReason } },
      plan: "refuse: REKEY_VERIFICATION_FAILED",
    },
    "fails although something is not saved": {
      ...{ kind: aclUser, memory: { kindFacts: { hash: "h1", isUnsaved: true } }, read: { goneReason } },
      plan: "refuse: REKEY_VERIFICATION_FAILED",
    },
    "rotates for a version": { kind: aclUser, inputs: { version: 2 }, read: { goneReason }, plan: "rotate: trigger" },
    "rotates for a schedule that would wait": {
      kind: aclUser,
      inputs: daily,
      read: { goneReason },
      plan: "rotate: schedule",
    },
    "rotates at ten passwords": {
      ...{ kind: aclUser, formers: ten, inputs: { version: 2 }, read: { goneReason } },
      plan: "rotate: trigger",
    },
    "fails if schedules are off": {
      ...{ kind: aclUser, inputs: daily, isScheduleOn: false, read: { goneReason } },
      plan: "refuse: REKEY_VERIFICATION_FAILED",
    },
    "at another server fails for a schedule, too": {
      ...{ kind: aclUser, inputs: daily, read: { goneReason, isOtherServer: true } },
      plan: "refuse: REKEY_VERIFICATION_FAILED",
    },
    "at another server rotates for a version": {
      ...{ kind: aclUser, inputs: { version: 2 }, read: { goneReason, isOtherServer: true } },
      plan: "rotate: trigger",
    },
    "at another server rotates for a date": {
      ...{ kind: aclUser, inputs: { rotatedSince: at(1) }, read: { goneReason, isOtherServer: true } },
      plan: "rotate: rotatedSince",
    },
  },
  "what was added and not proven": {
    "is due again, for its reason": { formers: [], memory: { attempt: unproven }, plan: "rotate: schedule" },
    "is due again, for a new version": {
      ...{ formers: [], memory: { attempt: unproven }, inputs: { version: 2 } },
      plan: "rotate: trigger",
    },
    "is due again, for a date": {
      ...{ formers: [], memory: { attempt: unproven }, inputs: { rotatedSince: at(1) } },
      plan: "rotate: rotatedSince",
    },
    "does not wait for a former one that is younger than the date": {
      ...{ formers: [former({ generatedAt: at(47) })], inputs: { rotatedSince: at(24) } },
      plan: "rotate: rotatedSince",
    },
    "is due however often it failed": {
      ...{ formers: [], memory: { attempt: { ...unproven, count: 9 } } },
      plan: "rotate: schedule",
    },
  },
};

describe("rotation: plans for a secret of which two are valid", () => {
  for (const [what, cases] of Object.entries(sections)) {
    describe(what, () => {
      for (const [title, one] of Object.entries(cases)) {
        it(title, () => {
          const plan = planOf(one);
          assert.equal(textOf(plan), one.plan);
          const why = plan.kind === "refuse" ? plan.why : "waits" in plan ? (plan.waits?.why ?? "") : "";
          if (one.why) assert.match(why, one.why);
        });
      }
    });
  }
});
