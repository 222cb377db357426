import assert from "node:assert/strict";
import { databasePassword, queueToken, type SecretKind, signingKeys } from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { unknownValue } from "../../../../provider/pulumi/values";
import { type Context, isReadFirst, type Plan } from "../../../../provider/rotation/program/plan";
import { readProgram, type RotationInputs, savedProgram } from "../../../../provider/rotation/program/program";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { contextOf } from "../../../../provider/rotation/program/context";
import { FakeRun, rejected } from "../../../support/fakeRun";
import {
  afterUp,
  isLost,
  type Made,
  type PlatformDoes,
  resetSecret,
  RotatedSecret,
  timeAt,
} from "../../../support/rotatedSecret";

const p1 = { password: "p1" };
const here = { account: "a", address: "https://a" };
const elsewhere = { account: "b", address: "https://b" };

async function adoptedSecret(record = {}): Promise<RotatedSecret> {
  const secret = new RotatedSecret();
  await secret.up({ version: 1, initialRotation: false }, { shows: p1, record });
  return secret;
}

async function importedSecret(does: PlatformDoes): Promise<RotatedSecret> {
  const secret = new RotatedSecret();
  await secret.import(does);
  return secret;
}

function newKeys(): RotatedSecret {
  const keys = new RotatedSecret(signingKeys);
  keys.fake.queueAccount = here;
  return keys;
}

const tokenSecret = (credentials: Credentials) =>
  resetSecret({ version: 1, overlap: "none" }, credentials, { kind: queueToken });
const twice = { version: 1, rotateEvery: "PT1H" };
const hiding = { version: 1, saveCredentials: false };

/** Secrets by what happened to them at hour 0 of 2026, unless it says something else. All have `version: 1`. */
const secrets = {
  reset: () => resetSecret({ version: 1 }, p1),
  weekly: () => resetSecret({ version: 1, rotateEvery: "7d" }, p1),
  adopted: () => adoptedSecret({ creationTime: timeAt(-24).getTime() / 1000 }),
  ofUnknownAge: () => adoptedSecret(),
  imported: () => importedSecret({ shows: p1 }),
  importedBlindly: () => importedSecret({}),
  unread: () => afterUp(new RotatedSecret(), { version: 1 }, { shows: p1, showsAfter: rejected }),
  hidden: () => afterUp(new RotatedSecret(), { version: 1 }, { shows: {} }),
  nowhere: () => afterUp(new RotatedSecret(), hiding, { shows: { password: "p0" }, showsAfter: p1, responds: p1 }),
  lost: (): Made => afterUp(secrets.reset(), { version: 2 }, { responds: isLost }),
  lostAfterRead: (): Made => afterUp(secrets.reset(), { version: 2 }, { shows: p1, responds: isLost }),
  lostTwice: (): Made => afterUp(secrets.lost(), { version: 2 }, { responds: isLost }),
  lostThrice: (): Made => afterUp(secrets.lostTwice(), { version: 2 }, { responds: isLost }),
  lostBySchedule: (): Made => afterUp(secrets.weekly(), { version: 1, rotateEvery: "7d" }, { responds: isLost }, 168),
  keys: () => afterUp(newKeys(), { version: 1 }, { responds: { currentKey: "k1", nextKey: "k2" } }),
  keysWithoutAccount: () => afterUp(new RotatedSecret(signingKeys), { version: 1 }, { responds: { currentKey: "k1" } }),
  keysLost: (): Made => afterUp(secrets.keys(), twice, { responds: isLost }, 2),
  ownToken: () => tokenSecret({ token: "own" }),
  ownReadOnlyToken: () => tokenSecret({ token: "t", readOnlyToken: "own" }),
  otherToken: () => tokenSecret({ token: "other" }),
} satisfies Readonly<Record<string, () => Promise<RotatedSecret>>>;

interface Case extends Partial<Pick<Context, "canRead" | "isScheduleOn" | "ownToken" | "account">> {
  /** Default: a new resource. */
  readonly of?: keyof typeof secrets | undefined;
  /** Of a new resource. */
  readonly kind?: SecretKind;
  readonly desired: RotationInputs;
  /** Default: 1. */
  readonly hours?: number;
  /** What the read before the reset has shown, and all reads of the run. Default: no read was made. */
  readonly shown?: Credentials;
  readonly shownInRun?: readonly Credentials[];
  readonly isForeign?: true;
  /** `reset: trigger`, `keep, waits: schedule`, `refuse: REKEY_…` */
  readonly plan: string;
  readonly why?: RegExp;
}

function textOf(plan: Plan): string {
  switch (plan.kind) {
    case "rotate":
      return `rotate${plan.isAgain ? " again" : ""}: ${plan.reason}`;
    case "refuse":
      return `refuse: ${plan.code}`;
    case "maybe":
      return `maybe: ${plan.names.join()}`;
    case "adopt":
      return plan.mayRotate ? "adopt or rotate" : "adopt";
    case "retire":
      return `retire: ${plan.why}`;
    default: {
      const what = plan.kind === "keep" && plan.saves ? "keep and save" : plan.kind;
      const why = plan.kind === "read" && plan.why ? `, ${plan.why}` : "";
      return what + why + (plan.waits ? `, waits: ${plan.waits.reason}` : "");
    }
  }
}

const forTrigger = { version: 2 };

/** Cases that differ from a usual one. */
interface Section {
  readonly usually: Partial<Case>;
  readonly cases: Readonly<Record<string, Partial<Case>>>;
}

const weekly = { of: "weekly", desired: { version: 1, rotateEvery: "7d" } } as const;
const unknowns = (...names: (keyof RotationInputs)[]): RotationInputs =>
  Object.fromEntries(names.map((name) => [name, unknownValue]));

/** In the order of the reasons. */
const due: Readonly<Record<string, Section>> = {
  "a new resource": {
    usually: {},
    cases: {
      "is reset": { desired: {}, plan: "rotate: created" },
      "is adopted with initialRotation false": { desired: { initialRotation: false }, plan: "adopt" },
      "that is adopted may be older than rotatedSince": {
        desired: { initialRotation: false, rotatedSince: "2025-01-01" },
        plan: "adopt or rotate",
      },
      "that is adopted may be older than a date that is not known yet": {
        desired: { initialRotation: false, ...unknowns("rotatedSince") },
        plan: "adopt or rotate",
      },
      "may be adopted": { desired: unknowns("initialRotation"), plan: "maybe: initialRotation" },
    },
  },
  "inputs that are not known yet": {
    usually: { of: "lost" },
    cases: {
      "are named, if they decide": {
        desired: unknowns("triggers", "rotateEvery", "encryptFor"),
        plan: "maybe: triggers,rotateEvery",
      },
      "are named, each of them": {
        desired: unknowns("version", "rotatedSince", "minInterval"),
        plan: "maybe: version,rotatedSince,minInterval",
      },
    },
  },
  "a lost reset": {
    usually: { of: "lost", desired: { version: 2 } },
    cases: {
      "is made again": { plan: "rotate again: trigger" },
      "is made again although its version is gone": { desired: {}, plan: "rotate again: trigger" },
      "is made again, whatever else is due": {
        desired: { version: 2, rotatedSince: "2026-01-02", rotateEvery: "1h" },
        hours: 999,
        plan: "rotate again: trigger",
      },
      "is replaced by one for another version": { desired: { version: 3 }, plan: "rotate: trigger" },
      "is replaced by one for the version before it": { desired: { version: 1 }, plan: "rotate: trigger" },
      "is the last of three": {
        of: "lostThrice",
        plan: "refuse: REKEY_REPEATEDLY_UNCONFIRMED",
        why: /has not confirmed its last resets.* set a new version/,
      },
      "is the last of three, and a new version makes one": {
        of: "lostThrice",
        desired: { version: 3 },
        plan: "rotate: trigger",
      },
    },
  },
  "the first `up` after an import": {
    usually: { desired: { version: 7, rotatedSince: "2026-01-01", rotateEvery: "1h" }, hours: 1000 },
    cases: {
      "reads, whatever is due": { of: "imported", plan: "read" },
      "only adopts what cannot be read": { of: "importedBlindly", canRead: false, plan: "keep and save" },
    },
  },
  "a version": {
    usually: { of: "reset" },
    cases: {
      "is the same if it is written as text": { desired: { version: "1" }, plan: "keep" },
      "that is removed asks for nothing": { desired: {}, plan: "keep" },
      "that is removed asks for a reset if triggers are left": {
        desired: { triggers: { a: 1 } },
        plan: "rotate: trigger",
      },
      "that is another one asks for a reset": { desired: { version: 2 }, plan: "rotate: trigger" },
      "that was adopted is the same": { of: "adopted", desired: { version: 1 }, plan: "keep" },
      "comes before a date": {
        desired: { version: 2, rotatedSince: "2026-01-02" },
        hours: 48,
        plan: "rotate: trigger",
      },
    },
  },
  rotatedSince: {
    usually: { of: "reset" },
    cases: {
      "asks for a reset of what is older": {
        desired: { rotatedSince: "2026-01-01T00:00:01Z" },
        plan: "rotate: rotatedSince",
      },
      "asks for nothing if it is as old": { desired: { rotatedSince: "2026-01-01" }, plan: "keep" },
      "knows the age of a database": { of: "adopted", desired: { rotatedSince: "2025-12-31" }, plan: "keep" },
      "asks for a reset of an older database": {
        of: "adopted",
        desired: { rotatedSince: "2025-12-31T00:00:01Z" },
        plan: "rotate: rotatedSince",
      },
      "asks for a reset if the age is not known": {
        of: "ofUnknownAge",
        desired: { rotatedSince: "2020-01-01" },
        plan: "rotate: rotatedSince",
      },
      "does not believe a clock that was ahead": {
        desired: { rotatedSince: "2025-01-01" },
        hours: -1,
        plan: "rotate: rotatedSince",
      },
      "comes before a schedule": {
        of: "weekly",
        desired: { rotateEvery: "7d", rotatedSince: "2026-01-02" },
        hours: 999,
        plan: "rotate: rotatedSince",
      },
    },
  },
  "a schedule of a week": {
    usually: weekly,
    cases: {
      "is not due 12 hours and a minute before its time": { hours: 156 - 1 / 60, plan: "keep" },
      "is due 12 hours before its time": { hours: 156, plan: "rotate: schedule" },
      "that is removed is saved": { desired: { version: 1 }, hours: 999, plan: "keep and save" },
      "that is another one is saved, without a read": { desired: { rotateEvery: "30d" }, plan: "keep and save" },
    },
  },
  "without a reset": {
    usually: { of: "reset", desired: { version: 1, connection: { port: 7000 } } },
    cases: {
      "another connection is read for": { plan: "read" },
      "another connection of what cannot be read is saved": { canRead: false, plan: "keep and save" },
      "a connection that is not known yet is another one": {
        desired: { connection: { host: unknownValue } },
        plan: "read",
      },
      "a credential that could not be read after the last reset is read": {
        of: "unread",
        desired: { version: 1 },
        plan: "read",
      },
      "a credential that reads hide is not waited for": { of: "hidden", desired: { version: 1 }, plan: "keep" },
      "another form does nothing": { desired: { saveCredentials: false, encryptFor: ["age1"] }, plan: "keep" },
      "values that are not saved are not missed": { of: "nowhere", desired: { version: 1 }, plan: "keep" },
    },
  },
};

/** Why a reset that is due is refused, or waits. */
const gates: Readonly<Record<string, Section>> = {
  "the account of signing keys": {
    usually: { of: "keys", desired: forTrigger, hours: 50, account: elsewhere, plan: "refuse: REKEY_OTHER_ACCOUNT" },
    cases: {
      "refuses those of another address": { why: /belongs to https:\/\/a, but the settings are for https:\/\/b/ },
      "refuses those of another user or token": {
        account: { ...here, account: "b" },
        why: /a different rekey:queueUserId or rekey:queueToken/,
      },
      "refuses a schedule, too, even if schedules are off": {
        desired: { version: 1, rotateEvery: "12h" },
        isScheduleOn: false,
      },
      "does not matter if nothing is due": { desired: { version: 1 }, plan: "keep" },
      "is not another one if none was known": { of: "keysWithoutAccount", plan: "rotate: trigger" },
      "is not another one if settings are missing": { account: undefined, plan: "rotate: trigger" },
    },
  },
  "rekey:scheduledResets off": {
    usually: { ...weekly, hours: 999, isScheduleOn: false },
    cases: {
      "lets a schedule wait": { plan: "keep, waits: schedule", why: /rekey:scheduledResets is off/ },
      "saves another schedule meanwhile": {
        desired: { version: 1, rotateEvery: "1d" },
        plan: "keep and save, waits: schedule",
      },
      "does not concern a version": { desired: { version: 2, rotateEvery: "7d" }, plan: "rotate: trigger" },
      "fails for a lost scheduled reset, whose credentials are not known": {
        of: "lostBySchedule",
        plan: "refuse: REKEY_UNCONFIRMED",
        why: /\(2026-01-08T00:00:00.000Z\) was not confirmed.* Run `up` once with rekey:scheduledResets on/,
      },
      "does not concern another lost reset": { of: "lost", desired: forTrigger, plan: "rotate again: trigger" },
    },
  },
  minInterval: {
    usually: { of: "keys", desired: forTrigger, hours: 0.9 },
    cases: {
      "refuses a second roll within an hour": {
        plan: "refuse: REKEY_ROLLED_RECENTLY",
        why: /at 2026-01-01T00:00.* after 2026-01-01T01:00.*minInterval/,
      },
      "allows a second roll after an hour": { hours: 1, plan: "rotate: trigger" },
      "is that of the program": { desired: { version: 2, minInterval: "PT10M" }, plan: "rotate: trigger" },
      "lets a schedule wait": { desired: { rotateEvery: "PT30M" }, plan: "read, former, waits: schedule" },
      "lets a date wait": { desired: { rotatedSince: "2026-01-02" }, plan: "read, former, waits: rotatedSince" },
      "fails for a lost roll by a schedule": {
        of: "keysLost",
        desired: { rotateEvery: "PT1H" },
        hours: 2.9,
        plan: "refuse: REKEY_ROLLED_RECENTLY",
      },
      "refuses a roll in the run that finds one by someone else": {
        ...{ hours: 5, shown: {}, isForeign: true },
        plan: "refuse: REKEY_ROLLED_RECENTLY",
      },
      "lets a schedule wait in that run": {
        ...{ hours: 99, shown: {}, isForeign: true, desired: { version: 1, rotateEvery: "1d" } },
        plan: "keep and save, waits: schedule",
      },
      "allows every roll if it is 0s, by a clock that is a little behind, too": {
        desired: { version: 2, minInterval: "0s" },
        hours: -0.05,
        plan: "rotate: trigger",
      },
      "refuses a roll by a clock that is a little behind": { hours: -0.05, plan: "refuse: REKEY_ROLLED_RECENTLY" },
      "does not believe a clock that was ahead": { hours: -24, plan: "rotate: trigger" },
      "does not concern passwords": { of: "reset", hours: 0, plan: "rotate: trigger" },
    },
  },
  "saveCredentials false": {
    usually: { of: "reset", desired: { version: 2, saveCredentials: false } },
    cases: {
      "refuses what no read shows": {
        shown: { restToken: "r1" },
        plan: "refuse: REKEY_NOT_ENCRYPTED",
        why: /does not show it, so the new one would be lost/,
      },
      "allows what a read shows": { shown: p1, plan: "rotate: trigger" },
      "reads first": { plan: "rotate: trigger" },
      "allows a new secret of which a read shows anything that identifies it": {
        of: undefined,
        shown: { restToken: "r1" },
        plan: "rotate: created",
      },
      "refuses a new secret of which no read shows anything": {
        of: undefined,
        shown: {},
        plan: "refuse: REKEY_NOT_ENCRYPTED",
      },
      "refuses what cannot be read": { canRead: false, plan: "refuse: REKEY_NOT_ENCRYPTED" },
      "allows what is encrypted": {
        desired: { version: 2, saveCredentials: false, encryptFor: ["age1"] },
        shown: {},
        plan: "rotate: trigger",
      },
    },
  },
  "the queue's own token": {
    usually: {
      of: "otherToken",
      kind: queueToken,
      desired: { ...forTrigger, overlap: "none" },
      ownToken: "own",
      plan: "refuse: REKEY_QUEUE_TOKEN_IN_USE",
    },
    cases: {
      "is not reset": { of: "ownToken", why: /^it is rekey:queueToken, which .* Set rekey:queueUserId/ },
      "is not reset if it is the read-only token": { of: "ownReadOnlyToken" },
      "is not that of another user": { shown: { token: "other" }, plan: "rotate: trigger" },
      "is not the known one of another user, which is hidden": { shown: {}, plan: "rotate: trigger" },
      "may have been shown by an earlier read of the run": {
        shown: {},
        shownInRun: [{ readOnlyToken: "own" }, {}],
      },
      "stays valid if another one is added": { of: "ownToken", desired: forTrigger, plan: "rotate: trigger" },
      "may be one that is not known, and not shown": {
        of: undefined,
        shown: {},
        why: /^it is not shown, and may be rekey:queueToken/,
      },
      "may be one that cannot be read": { of: undefined, canRead: false },
      "may be shown by the read before the reset": { of: undefined, plan: "rotate: created" },
      "is none without rekey:queueToken": { of: "ownToken", ownToken: undefined, plan: "rotate: trigger" },
    },
  },
};

describe("plan", () => {
  const planOf = async (one: Case): Promise<Plan> => {
    const { of, kind = databasePassword, desired, hours = 1, plan: _, why: __, ...more } = one;
    const { shown, shownInRun = [shown ?? {}], isForeign, ...context } = more;
    const secret = of ? await secrets[of]() : new RotatedSecret(kind);
    const read = shown && { shown, shownInRun, isForeign };
    const given = secret.context({ now: timeAt(hours), read, ...context });
    return planRotation(secret.outputs && secret.state, readProgram(desired, kind), given);
  };
  const test = ({ usually, cases }: Section): void => {
    for (const [title, given] of Object.entries(cases)) {
      const one: Case = { desired: {}, plan: "", ...usually, ...given };
      it(title, async () => {
        const plan = await planOf(one);
        assert.equal(textOf(plan), one.plan);
        const waits = "waits" in plan ? plan.waits : undefined;
        if (one.why) assert.match(plan.kind === "refuse" ? plan.why : (waits?.why ?? ""), one.why);
      });
    }
  };

  for (const [what, section] of Object.entries({ ...due, ...gates })) describe(what, () => test(section));

  it("a reset says when the schedule began, the secret was generated, or the lost reset was sent", async () => {
    const lastAt = async (one: Omit<Case, "plan">): Promise<string | undefined> => {
      const plan = await planOf({ ...one, plan: "" });
      return plan.kind === "rotate" ? plan.lastAt : undefined;
    };
    const start = timeAt(0).toISOString();
    assert.equal(await lastAt({ of: "weekly", desired: { rotateEvery: "7d" }, hours: 999 }), start);
    assert.equal(await lastAt({ of: "reset", desired: { rotatedSince: "2026-01-02" }, hours: 48 }), start);
    assert.equal(await lastAt({ of: "lost", desired: {} }), start);
    assert.equal(await lastAt({ of: "reset", desired: forTrigger }), undefined);
  });

  it("a read may change a refusal that it may end, or settle a lost reset", async () => {
    const isFirst = async (of: NonNullable<Case["of"]>, more: Partial<Case> = {}): Promise<boolean> => {
      const one = { desired: { version: 2 }, hours: 50, ...more, of, plan: "" };
      const secret = await secrets[of]();
      return isReadFirst(secret.state, await planOf(one), secret.context({ canRead: one.canRead ?? true }));
    };
    assert.equal(await isFirst("keys", { account: elsewhere }), true);
    assert.equal(await isFirst("keys", { account: elsewhere, canRead: false }), false);
    assert.equal(await isFirst("keys", { hours: 0.5 }), false, "minInterval");
    assert.equal(await isFirst("lostAfterRead"), true);
    assert.equal(await isFirst("lostAfterRead", { canRead: false }), false);
    assert.equal(await isFirst("lost"), false, "what it replaced was not shown before it");
    assert.equal(await isFirst("reset"), false);
  });

  it("Rekey's own token is known from the settings, unless each process reads it", () => {
    const ownToken = (kind: SecretKind, settings: FakeRun["settings"]) =>
      contextOf(kind, Object.assign(new FakeRun(), { settings }).start()).ownToken;
    assert.equal(ownToken(queueToken, { queueToken: "own", queueUserId: undefined }), "own");
    assert.equal(ownToken(queueToken, { queueToken: "own", queueUserId: "user" }), undefined);
    assert.equal(ownToken(queueToken, { queueUserId: undefined }), undefined);
    assert.equal(ownToken(databasePassword, { queueToken: "own", queueUserId: undefined }), undefined);
  });

  it("a program is read without what is not set, recipients once, and what is not known apart", () => {
    const connection = { host: "h", port: null };
    const program = readProgram(
      { encryptFor: ["b", "a", "b"], saveCredentials: true, connection, rotateEvery: null },
      databasePassword,
    );
    assert.deepEqual(program.form, { encryptFor: ["a", "b"] });
    const saved = { connection: { host: "h" }, queueUrl: undefined, rotateEvery: undefined, admin: undefined };
    assert.deepEqual(savedProgram(program, { salt: "salt" }), saved);
    assert.equal(readProgram({ connection: { host: null } }, databasePassword).connection, undefined);
    const { unknown, trigger, ...others } = readProgram(unknowns("version", "overlap", "rotatedSince"), queueToken);
    assert.deepEqual([[...unknown], trigger], [["version", "rotatedSince", "overlap"], ""]);
    assert.deepEqual([others.overlap, others.rotatedSince], ["retirement", undefined]);
  });
});
