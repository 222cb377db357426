import { isDeepStrictEqual } from "node:util";
import { type ErrorCode } from "../platform/errors";
import { type Place, type SecretKind } from "../platform/secretKind";
import { type Credentials } from "../records/credentials";
import { isSet } from "../records/fields";
import { isUnknown } from "../records/properties";
import { type Connection, connectionNames } from "./endpoint";
import { saltedMark } from "./mark";
import { type Declared, knownIn, type Memory, missingIn, type ResetReason } from "./memory";
import { dueAt, dueFrom, isFuture, readDate } from "./schedule";
import { credentialsIn, type State } from "./state";
import { type Trigger, triggerMark } from "./trigger";

/** The inputs of a rotation, in addition to the id. In a preview, any may be unknown. */
export interface Desired extends Trigger {
  readonly rotateEvery?: string | null | undefined;
  readonly rotatedSince?: string | null | undefined;
  readonly initialRotation?: boolean | null | undefined;
  readonly minInterval?: string | null | undefined;
  readonly saveCredentials?: boolean | null | undefined;
  readonly encryptFor?: readonly string[] | null | undefined;
  readonly connection?: { readonly [K in keyof Connection]: Connection[K] | null } | null | undefined;
}

/** What a plan depends on, in addition to the state and the inputs. */
export interface Context {
  readonly kind: SecretKind;
  readonly now: Date;
  /** The place of the settings; undefined if they are missing or cannot be used. */
  readonly place?: Place | undefined;
  /** Whether the platform has an operation that reads such a secret. It may hide the credentials nevertheless. */
  readonly canRead: boolean;
  /** The token with which Rekey itself sends requests to the queue. */
  readonly ownToken?: string | undefined;
  /** Whether this run makes resets that only a schedule asks for (`rekey:scheduledResets`). */
  readonly isScheduleOn: boolean;
  /** What a read for this plan has shown. */
  readonly shown?: Credentials | undefined;
}

/** What to do about one secret. */
export type Plan =
  | { readonly kind: "keep"; readonly waits?: Waits }
  /** Saves what is known in another form, or for other clients. */
  | { readonly kind: "save" }
  /** Reads, because some credentials are not known, or are to be removed, or a reset that waits may be applied. */
  | { readonly kind: "read"; readonly waits?: Waits | undefined }
  /** @param mayReset whether it is reset if a read shows that it is older than `rotatedSince` */
  | { readonly kind: "adopt"; readonly mayReset: boolean }
  /** Adopts the program's trigger after an import. @param next what the next run does */
  | { readonly kind: "adopt trigger"; readonly next: Plan }
  | Reset
  /** Depends on inputs that are not known yet. */
  | { readonly kind: "maybe"; readonly names: readonly string[] }
  | { readonly kind: "refuse"; readonly code: RefusalCode; readonly why: string };

interface Reset {
  readonly kind: "reset";
  readonly reason: ResetReason;
  /** Whether it repeats one that was not confirmed. */
  readonly isAgain?: true;
  /** The last reset, for a schedule; when the secret was generated, for `rotatedSince`, if that is known. */
  readonly since?: string | undefined;
}

/** A reset that is due, and why it is not made yet. */
export interface Waits {
  readonly reason: ResetReason;
  /** Whether it repeats one that was not confirmed. */
  readonly isAgain?: true | undefined;
  /** Since when it is due, if it is due by time; when the one was sent that it repeats. */
  readonly since?: string | undefined;
  readonly why: string;
}

type RefusalCode = Extract<
  ErrorCode,
  "REKEY_REPEATEDLY_UNCONFIRMED" | "REKEY_ROLLED_RECENTLY" | "REKEY_QUEUE_TOKEN_IN_USE" | "REKEY_OTHER_ACCOUNT"
>;

/** Inputs whose change can cause a reset. */
const decidingInputs = ["version", "triggers", "rotateEvery", "rotatedSince", "minInterval"] as const;

/** Inputs that say how the outputs are saved, and cause no reset. */
const formInputs = ["saveCredentials", "encryptFor", "connection"] as const;

/** Unconfirmed resets in a row after which no further one is sent. */
const unconfirmedLimit = 3;

/** Decides what to do. Preview, update and the reads before and after a reset ask it the same question. */
export function planRotation(saved: State | undefined, desired: Desired, context: Context): Plan {
  const plan = gated(saved?.memory, decide(saved?.memory, desired, context), desired, context);
  if (plan.kind !== "keep" || saved === undefined) return plan;
  const { memory } = saved;
  if (memory.pending) return maySettle(memory, context) ? { kind: "read", waits: plan.waits } : plan;
  const declared = declaredIn(desired, memory.declared);
  const isOther = !isDeepStrictEqual(declared, memory.declared) || formInputs.some((name) => isUnknown(desired[name]));
  const isToBeRead =
    missingIn(memory).length > 0 || ((isOther || isKept(saved, declared)) && needsRead(saved, declared));
  if (isToBeRead && isReadable(memory, context)) return { kind: "read" };
  return isOther ? { kind: "save" } : plan;
}

/** What is due, in the order of the reasons. */
function decide(memory: Memory | undefined, desired: Desired, context: Context): Plan {
  const { rotateEvery, rotatedSince, initialRotation } = desired;
  if (memory === undefined) {
    if (isUnknown(initialRotation)) return { kind: "maybe", names: ["initialRotation"] };
    return initialRotation === false ? { kind: "adopt", mayReset: isSet(rotatedSince) } : reset("created");
  }
  const names = decidingInputs.filter((name) => isUnknown(desired[name]));
  if (names.length > 0) return { kind: "maybe", names };
  const trigger = triggerMark(memory, desired);
  const { pending, applied } = memory;
  if (pending) {
    if (trigger !== "" && trigger !== pending.trigger) return reset("trigger");
    if (isElsewhere(memory, context)) return refuseElsewhere(memory, context);
    if (pending.count < unconfirmedLimit) return { kind: "reset", reason: pending.reason, isAgain: true };
    const why = `the platform did not confirm the last ${pending.count} resets. Check the status of the platform, then set a new version to try again`;
    return { kind: "refuse", code: "REKEY_REPEATEDLY_UNCONFIRMED", why };
  }
  if (applied === undefined) {
    return { kind: "adopt trigger", next: decide({ ...memory, applied: trigger }, desired, context) };
  }
  if (trigger !== "" && trigger !== applied) return reset("trigger");
  if (isOlder(memory, rotatedSince, context.now)) return reset("rotatedSince", memory.made[0]?.at);
  return rotateEvery && dueFrom(memory.rotatedAt, rotateEvery) <= context.now
    ? reset("schedule", memory.rotatedAt)
    : { kind: "keep" };
}

function reset(reason: ResetReason, since?: string): Plan {
  return { kind: "reset", reason, since };
}

/** The plan, unless it makes a reset that must wait, or that would be an outage. */
function gated(memory: Memory | undefined, plan: Plan, desired: Desired, context: Context): Plan {
  if (plan.kind !== "reset") return plan;
  const { kind, now, ownToken, shown, isScheduleOn } = context;
  const { reason, isAgain } = plan;
  const waits = (why: string): Plan => {
    return { kind: "keep", waits: { reason, isAgain, since: waitsSince(memory, plan, desired, now), why } };
  };
  if (memory && kind.onlyId !== undefined && isElsewhere(memory, context)) return refuseElsewhere(memory, context);
  if (reason === "schedule" && !isScheduleOn) return waits("rekey:scheduledResets is off");
  const rolledAt = memory?.rolledAt;
  // A time in the future is that of a clock that was ahead: it locks nothing.
  if (kind.minInterval !== undefined && rolledAt !== undefined && !isFuture(rolledAt, now)) {
    const allowed = dueAt(rolledAt, desired.minInterval ?? kind.minInterval);
    if (allowed.getTime() > Math.max(now.getTime(), Date.parse(rolledAt))) {
      const why = `it was rolled, or may have been, at ${rolledAt}, and receivers that do not have its new keys yet would reject each message after a second roll. The first \`up\` after ${allowed.toISOString()} may roll it (minInterval)`;
      if (reason === "schedule" || reason === "rotatedSince") return waits(why);
      return { kind: "refuse", code: "REKEY_ROLLED_RECENTLY", why };
    }
  }
  if (!kind.authorizesQueue || ownToken === undefined) return plan;
  // What is known of a user in another account says nothing about the one here.
  const known = memory && !isElsewhere(memory, context) ? memory : undefined;
  const isOwn =
    shown?.token === ownToken || (known && Object.values(known.current).includes(saltedMark(known.salt, ownToken)));
  // Before it was read, and if a read hides it, it is not known.
  if (!isOwn && !(shown && !shown.token && !known?.current.token)) return plan;
  const why = isOwn
    ? "it is rekey:queueToken, which other processes of this run use, too. Set rekey:queueUserId instead, so that each of them reads the token when it needs it"
    : "the platform does not show it, so it may be rekey:queueToken, which other processes of this run use, too. If it is another one, rotate it in a stack without rekey:queueToken";
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}

/** It may count as due before its time, and is due now at the latest. */
function waitsSince(
  memory: Memory | undefined,
  { reason, isAgain }: Reset,
  { rotateEvery }: Desired,
  now: Date,
): string | undefined {
  if (isAgain) return memory?.pending?.at;
  if (reason !== "schedule" || !memory || !rotateEvery) return undefined;
  return new Date(Math.min(dueAt(memory.rotatedAt, rotateEvery).getTime(), now.getTime())).toISOString();
}

/** What the program says about the outputs. While it is unknown, what was said before stays. */
export function declaredIn(desired: Desired, before: Declared = {}): Declared {
  const { saveCredentials, encryptFor, rotateEvery, connection } = desired;
  const isKnown = (value: unknown) => !isUnknown(value);
  const hidden = isKnown(saveCredentials) ? saveCredentials === false : before.saveCredentials === false;
  const recipients = isKnown(encryptFor) ? [...new Set(encryptFor ?? [])].sort() : (before.encryptFor ?? []);
  const every = isKnown(rotateEvery) ? rotateEvery : before.rotateEvery;
  const names = connectionNames.filter((name) => isSet(connection?.[name]));
  const given = isKnown(connection)
    ? Object.fromEntries(names.map((name) => [name, connection?.[name]]))
    : (before.connection ?? {});
  return {
    ...(hidden && { saveCredentials: false }),
    ...(recipients.length > 0 && { encryptFor: recipients }),
    ...(Object.keys(given).length > 0 && { connection: given }),
    ...(isSet(every) && { rotateEvery: every }),
  };
}

/** Whether the state has values that the program keeps out of it, because they were nowhere else. */
function isKept(saved: State, { saveCredentials, encryptFor }: Declared): boolean {
  if (saveCredentials !== false) return false;
  return Object.keys(credentialsIn(saved)).length > 0 || (encryptFor === undefined && saved.memory.file !== undefined);
}

/** Whether a change of the form needs values that are not saved, or removes some that may be nowhere else. */
function needsRead(saved: State, { saveCredentials, encryptFor }: Declared): boolean {
  const { current, file } = saved.memory;
  const values = credentialsIn(saved);
  const isHidden = saveCredentials === false;
  const isFileKept = encryptFor !== undefined && isDeepStrictEqual(file?.for, encryptFor);
  return knownIn(current).some((name) => {
    const isLeaving = values[name] !== undefined || file?.has[name] === current[name];
    if (isHidden && encryptFor === undefined) return isLeaving;
    return values[name] === undefined && !(isHidden && isFileKept);
  });
}

/** Whether a read can show the secret of the memory. In another account, the same id may be another one. */
export function isReadable(memory: Memory, context: Context): boolean {
  return context.canRead && !isElsewhere(memory, context);
}

/** Whether a read can show that the pending reset was applied, so that no other one is needed. */
export function maySettle(memory: Memory, context: Context): boolean {
  return memory.pending?.before !== undefined && isReadable(memory, context);
}

/** Whether a read comes first, because it may be enough, or may end a refusal. */
export function isReadFirst(saved: State, plan: Plan, context: Context): boolean {
  if (plan.kind === "refuse" && plan.code === "REKEY_OTHER_ACCOUNT") {
    return context.canRead && context.kind.onlyId !== undefined;
  }
  return maySettle(saved.memory, context);
}

/** Whether the settings are those of another place than the memory's. Only a read can show that both are the same. */
export function isElsewhere({ place }: Pick<Memory, "place">, context: Context): boolean {
  return place !== undefined && context.place !== undefined && place.account !== context.place.account;
}

function refuseElsewhere(memory: Memory, { kind, place }: Context): Plan {
  const why =
    kind.onlyId === undefined
      ? `the last reset was not confirmed, and it was sent with another ${accountSettings(kind)}. If the one with this id in the present account is to be reset, set a new version; otherwise restore the former settings`
      : `it belongs to ${memory.place?.address}, and a read has not shown it at ${place?.address}. Restore the former ${accountSettings(kind)}; those at the other address need a resource of their own (another name, or \`--replace\`)`;
  return { kind: "refuse", code: "REKEY_OTHER_ACCOUNT", why };
}

/** The settings that say which account a secret is in, for messages. */
export function accountSettings({ service }: SecretKind): string {
  return service === "queue" ? "rekey:queueUrl or rekey:queueUserId" : "rekey:baseUrl or rekey:username";
}

/**
 * Whether a secret is older than a date, or of unknown age. Once a reset has applied a date, neither the clock nor what
 * a read shows makes it, or an earlier one, due again.
 */
function isOlder({ made: [oldest] }: Memory, rotatedSince: Desired["rotatedSince"], now: Date): boolean {
  if (!isSet(rotatedSince)) return false;
  const date = readDate(rotatedSince);
  const isAfter = (time: string | undefined) => time !== undefined && new Date(time) >= date;
  const isPast = oldest?.at !== undefined && !isFuture(oldest.at, now);
  return !isAfter(oldest?.since) && !(isPast && isAfter(oldest?.at));
}
