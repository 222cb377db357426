import { isDeepStrictEqual } from "node:util";
import { type RefusedError } from "../platform/errors";
import { type Place, pluralOf, type SecretKind, type Subject } from "../platform/secretKind";
import { type Credentials, isSet } from "../records/fields";
import { isUnknown } from "../records/properties";
import { type Run } from "../run";
import { bestOf, better, unknownIn, saltedMark, type Trigger, triggerMark } from "./marks";
import { type Connection, credentialsIn, type Declared, type Memory, type ResetReason, type State } from "./memory";
import { dueAt, dueFrom, isFuture, readDate } from "./schedule";

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
  /** What the reads of this run have shown, the read for this plan last. Undefined before that read. */
  readonly reads?: readonly Credentials[] | undefined;
}

/** What plans and evidence depend on in a run. */
export function contextOf({ kind }: Pick<Subject, "kind">, { options }: Run): Context {
  const { settings } = options;
  const isOwn = kind.authorizesQueue && settings.find("queueUserId") === undefined;
  return {
    kind,
    now: options.clock.now(),
    place: options.place(kind),
    canRead: settings.canRead(kind),
    isScheduleOn: settings.get("scheduledResets") === "on",
    ownToken: isOwn ? settings.find("queueToken")?.value : undefined,
  };
}

/** What to do about one secret. */
export type Plan =
  | { readonly kind: "keep"; readonly waits?: WaitingReset }
  /** Saves what is known in another form, or for other clients, without a request. */
  | { readonly kind: "rewrite" }
  /** Reads, because some credentials are not known, or are to be removed, or a pending reset may have been applied. */
  | { readonly kind: "read"; readonly waits?: WaitingReset | undefined }
  /** `mayReset`: whether it is reset if a read shows that it is older than `rotatedSince`. */
  | { readonly kind: "adopt"; readonly mayReset: boolean }
  | Reset
  /** Depends on inputs that are not known yet. */
  | { readonly kind: "maybe"; readonly names: readonly string[] }
  | { readonly kind: "refuse"; readonly code: RefusalCode; readonly why: string };

export interface Reset {
  readonly kind: "reset";
  readonly reason: ResetReason;
  /** Whether it repeats one that was not confirmed. */
  readonly isAgain?: true;
  /** When the reset that it repeats was sent, the schedule last began, or the secret was generated, if known. */
  readonly lastAt?: string | undefined;
}

/** A reset that is due, and why it is not made yet. */
interface WaitingReset extends Reset {
  readonly why: string;
}

type RefusalCode = ConstructorParameters<typeof RefusedError>[0];

/** Inputs whose change can cause a reset. */
const decidingInputs = ["version", "triggers", "rotateEvery", "rotatedSince", "minInterval"] as const;

/** Unconfirmed resets in a row after which no further one is sent. */
const unconfirmedLimit = 3;

/** Decides what to do, without requests. Previews and updates ask it, and an update asks it again after its read. */
export function planRotation(saved: State | undefined, desired: Desired, context: Context): Plan {
  const plan = gated(saved?.memory, decide(saved?.memory, desired, context), desired, context);
  if (plan.kind !== "keep" || saved === undefined) return plan;
  const { memory } = saved;
  if (memory.pending) return maySettle(memory, context) ? { kind: "read", waits: plan.waits } : plan;
  const changed = changedIn(desired, memory);
  const isFormChanged = changed.includes("saveCredentials") || changed.includes("encryptFor");
  const isImported = memory.applied === undefined;
  const isToBeRead = isImported || isFormChanged || isKept(saved) || unknownIn(memory.current).length > 0;
  if (isToBeRead && isReadable(memory, context)) return { kind: "read" };
  return isImported || changed.length > 0 ? { kind: "rewrite" } : plan;
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
    if (pending.count < unconfirmedLimit) return { ...reset(pending.reason, pending.at), isAgain: true };
    const why = `the platform did not confirm the last ${pending.count} resets. Check the status of the platform, then set a new version to try again`;
    return { kind: "refuse", code: "REKEY_REPEATEDLY_UNCONFIRMED", why };
  }
  // The first change after an import adopts the program's trigger, and nothing else.
  if (applied === undefined) return { kind: "keep" };
  if (trigger !== "" && trigger !== applied) return reset("trigger");
  if (isOlder(memory, rotatedSince, context.now)) return reset("rotatedSince", memory.made[0]?.at);
  return rotateEvery && dueFrom(memory.scheduledFrom, rotateEvery) <= context.now
    ? reset("schedule", memory.scheduledFrom)
    : { kind: "keep" };
}

function reset(reason: ResetReason, lastAt?: string): Reset {
  return { kind: "reset", reason, lastAt };
}

/** The plan, unless it is a reset that must wait, or one that would lose a secret or cause an outage. */
function gated(memory: Memory | undefined, plan: Plan, desired: Desired, context: Context): Plan {
  if (plan.kind !== "reset") return plan;
  const { kind, now, ownToken, reads, isScheduleOn } = context;
  const { reason } = plan;
  const waits = (why: string): Plan => ({ kind: "keep", waits: { ...plan, why } });
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
  // What is known of a secret at another place says nothing about the one here.
  const known = memory && !isElsewhere(memory, context) ? memory : undefined;
  // Undefined before the read. A platform that cannot be read shows nothing.
  const lastRead = context.canRead ? reads?.at(-1) : {};
  if (lastRead && savesNone(declaredIn(desired))) {
    const best = better(known?.best, bestOf({ ...known?.current, ...lastRead }));
    const why =
      "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
    if (best === undefined || lastRead[best] === undefined) return { kind: "refuse", code: "REKEY_NOT_ENCRYPTED", why };
  }
  if (!kind.authorizesQueue || ownToken === undefined) return plan;
  // A read may be late, or hide it: every read of this run is believed.
  const isRead = reads?.some(({ token }) => token === ownToken);
  const isOwn = isRead || (known && known.current.token === saltedMark(known.salt, ownToken));
  const isHidden = lastRead && !lastRead.token && !known?.current.token;
  if (!isOwn && !isHidden) return plan;
  const why = `it ${isOwn ? "is" : "is not shown, and may be"} rekey:queueToken, which other processes of this run use, too. Set rekey:queueUserId instead, so that each of them reads the token when it needs it, or reset it in a stack without rekey:queueToken`;
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}

/** What the program says about the outputs, as far as it is known. */
export function declaredIn({ saveCredentials, encryptFor, rotateEvery, connection }: Desired): Declared {
  const recipients = [...new Set(encryptFor ?? [])].sort();
  const given = Object.entries(connection ?? {}).filter(([, value]) => isSet(value));
  return {
    ...(saveCredentials === false && { saveCredentials }),
    ...(recipients.length > 0 && { encryptFor: recipients }),
    ...(given.length > 0 && { connection: Object.fromEntries(given) }),
    ...(isSet(rotateEvery) && { rotateEvery }),
  };
}

/** Whether the program wants no credentials to be saved, not even encrypted. */
export function savesNone({ saveCredentials, encryptFor }: Declared): boolean {
  return saveCredentials === false && encryptFor === undefined;
}

/** What the program declares otherwise than before, or what is not known yet. */
export function changedIn(desired: Desired, { declared }: Memory): (keyof Declared)[] {
  const next = declaredIn(desired);
  const names = ["saveCredentials", "encryptFor", "connection", "rotateEvery"] as const;
  return names.filter((name) => isUnknown(desired[name]) || !isDeepStrictEqual(next[name], declared[name]));
}

/** Whether the state has what the program keeps out of it, because it was nowhere else. */
function isKept({ memory: { declared, file }, ...saved }: State): boolean {
  if (declared.saveCredentials !== false) return false;
  return Object.keys(credentialsIn(saved)).length > 0 || (declared.encryptFor === undefined && file !== undefined);
}

/** Whether a read can show the secret of the memory. In another account, the same id may be another one. */
function isReadable(memory: Memory, context: Context): boolean {
  return context.canRead && !isElsewhere(memory, context);
}

/** Whether a read can show that the pending reset was applied, so that no other one is needed. */
export function maySettle(memory: Memory, context: Context): boolean {
  return memory.pending?.before !== undefined && isReadable(memory, context);
}

/** Whether the read before a reset may change the plan: it may be enough, or end a refusal. */
export function mayChange(saved: State, plan: Plan, context: Context): boolean {
  const isOtherAccount = plan.kind === "refuse" && plan.code === "REKEY_OTHER_ACCOUNT";
  return isOtherAccount ? context.canRead && context.kind.onlyId !== undefined : maySettle(saved.memory, context);
}

/** Whether the settings are those of another place than the memory's. Only a read can show that both are the same. */
export function isElsewhere({ place }: Pick<Memory, "place">, context: Context): boolean {
  return place !== undefined && context.place !== undefined && place.account !== context.place.account;
}

function refuseElsewhere(memory: Memory, context: Context): Plan {
  return { kind: "refuse", code: "REKEY_OTHER_ACCOUNT", why: whyElsewhere(memory, context) };
}

/** The addresses of secrets with an id are not shown: a setting may hold a secret, by mistake. */
export function whyElsewhere(memory: Memory, { kind, place }: Context): string {
  const settings = accountSettings(kind);
  return kind.onlyId === undefined
    ? `it was last reset or adopted with another ${settings}. If the ${kind.noun} of the present settings is another one, set a new version, which resets it there; otherwise restore the former settings`
    : `it belongs to ${memory.place?.address}, but the settings are for ${place?.address}, and a read has not shown that both are the same. Restore the former ${settings}, or give the ${pluralOf(kind)} there a resource of their own (another name, or \`--replace\`)`;
}

/** The settings that say which account a secret is in, for messages. */
export function accountSettings({ service }: SecretKind): string {
  return service === "queue" ? "rekey:queueUrl or rekey:queueUserId" : "rekey:baseUrl or rekey:username";
}

/**
 * Whether a secret is older than a date, or of unknown age. Once a reset has applied a date, neither the clock nor what
 * a read shows makes it, or an earlier one, due again.
 */
export function isOlder({ made: [oldest] }: Memory, rotatedSince: Desired["rotatedSince"], now: Date): boolean {
  if (!isSet(rotatedSince)) return false;
  const date = readDate(rotatedSince);
  const isAfter = (time: string | undefined) => time !== undefined && new Date(time) >= date;
  const isPast = oldest?.at !== undefined && !isFuture(oldest.at, now);
  return !isAfter(oldest?.since) && !(isPast && isAfter(oldest?.at));
}
