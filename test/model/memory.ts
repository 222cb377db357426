import { type Credential, credentialNames, type Credentials } from "./reads";
import { hoursOf, triggerOf, type DesiredInputs } from "./desiredInputs";

/** What the model knows of a resource in the state; undefined if it is not there. */
export interface Memory extends Credentials {
  readonly databaseId: string;
  readonly outcome: "reset" | "adopted" | "unknown";
  /** Confirmed resets by this resource. */
  readonly confirmed: number;
  /** Generation of the platform's password that is saved. */
  readonly generation?: number | undefined;
  /** Credentials that are still to be read. */
  readonly missing: readonly Credential[];
  /** First credentials of records that a confirmed reset has replaced. */
  readonly formers: readonly string[];
  /** Position of the best credential that is or was among them. */
  readonly rank: number;
  /** The first credential of what was current before an unconfirmed reset. */
  readonly pending?: string | undefined;
  /** The trigger of the last confirmed reset, or of the adoption. */
  readonly applied?: string | undefined;
  /** Resets in a row that are not confirmed, and their trigger. */
  readonly unconfirmed: number;
  readonly attempted?: string | undefined;
  /** Milliseconds: the first reset after the last confirmed one that was not confirmed. */
  readonly firstAttempt?: number | undefined;
  /** Milliseconds: the last confirmed reset, or the adoption. */
  readonly since?: number | undefined;
  /** The `rotateEvery` of the last create or update. */
  readonly every?: DesiredInputs["rotateEvery"];
  /** Whether the last create or update ended in an init error. */
  readonly initError: boolean;
}

/** What a read shows. */
export interface Shown {
  readonly credentials: Credentials;
  readonly generation: number;
}

/** What must be done about a resource. It follows from the memory and the inputs alone. */
export type Duty = "keep" | "adopt" | "reset" | "stop";

const hour = 3_600_000;

export function dutyOf(memory: Memory | undefined, desired: DesiredInputs, now: number): Duty {
  if (memory?.databaseId !== desired.databaseId) return desired.initialRotation === false ? "adopt" : "reset";
  const trigger = triggerOf(desired);
  if (memory.outcome === "unknown") {
    const isNew = trigger !== undefined && trigger !== memory.attempted;
    return isNew || memory.unconfirmed < 3 ? "reset" : "stop";
  }
  if (trigger !== undefined && trigger !== memory.applied) return "reset";
  if (desired.rotateEvery === undefined) return "keep";
  const interval = hoursOf[desired.rotateEvery] * hour;
  return (memory.since ?? 0) + interval - Math.min(hour, interval / 20) <= now ? "reset" : "keep";
}

const firstNameIn = (credentials: Credentials) => credentialNames.find((one) => credentials[one] !== undefined);
const firstIn = (credentials: Credentials) => credentials[firstNameIn(credentials) ?? "password"];
const rankOf = (name: Credential | undefined) => (name ? credentialNames.indexOf(name) : credentialNames.length);

export function savedIn(memory: Memory | undefined): Credentials {
  const known = credentialNames.filter((name) => memory?.[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, memory?.[name]]));
}

/** What is known of a database's credentials. */
export interface Known extends Pick<Memory, "formers" | "rank" | "pending"> {
  readonly names: readonly Credential[];
}

export function knownIn(memory: Memory | undefined, shown: Credentials = {}): Known {
  const { formers = [], rank = credentialNames.length, pending, missing = [] } = memory ?? {};
  const names = credentialNames.filter((name) => memory?.[name] ?? shown[name] ?? missing.includes(name));
  return { formers, rank, pending, names };
}

/** What is known after a confirmed reset. */
export function replaced(known: Known, ...records: readonly Credentials[]): Known {
  const added = [known.pending, ...records.map(firstIn)].filter((one) => one !== undefined);
  const formers = [...known.formers.filter((one) => !added.includes(one)), ...new Set(added)].slice(-8);
  const rank = Math.min(known.rank, ...records.map((one) => rankOf(firstNameIn(one))));
  return { names: known.names, formers, rank, pending: undefined };
}

/** A record is judged as a whole: a reset replaces all of its credentials. */
export function judge(known: Known, credentials: Credentials): "current" | "stale" | "pending" | "hidden" {
  const first = firstNameIn(credentials);
  if (!first || rankOf(first) > Math.min(known.rank, rankOf(known.names[0]))) return "hidden";
  const values = Object.values(credentials);
  if (known.formers.some((former) => values.includes(former))) return "stale";
  if (known.pending !== undefined && values.includes(known.pending)) return "pending";
  const isMarked = known.formers.length > 0 || known.pending !== undefined;
  const marked = credentialNames[known.rank];
  return isMarked && marked && credentials[marked] === undefined ? "hidden" : "current";
}

export const missingOf = (names: readonly Credential[], shown: Credentials) =>
  names.filter((name) => shown[name] === undefined);

/** Whether an unconfirmed reset is shown to be applied. */
export function isSettledBy(memory: Memory, { credentials }: Shown): boolean {
  const first = firstNameIn(credentials);
  const isSaved = first !== undefined && memory[first] === credentials[first];
  return (
    memory.outcome === "unknown" &&
    memory.pending !== undefined &&
    !isSaved &&
    judge(knownIn(memory), credentials) === "current"
  );
}

/** The unconfirmed reset was applied, for the trigger that it was sent for. */
export function settled(memory: Memory, { credentials, generation }: Shown, now: number): Memory {
  const { databaseId, attempted, applied } = memory;
  const known = knownIn(memory);
  const { formers, rank } = replaced(known, savedIn(memory));
  const made = { generation, ...credentials, formers, rank, missing: missingOf(known.names, credentials) };
  const at = Math.min(memory.firstAttempt ?? now, now);
  return { ...confirmed(memory, { databaseId }, at, made), applied: attempted ?? applied };
}

/** A read of a database whose last reset was confirmed, or which was adopted. */
export function refreshed(memory: Memory, shown: Shown, now: number): Memory {
  if (memory.outcome === "unknown") return isSettledBy(memory, shown) ? settled(memory, shown, now) : memory;
  const { credentials, generation } = shown;
  const verdict = judge(knownIn(memory), credentials);
  if (verdict === "stale" || verdict === "pending") return memory;
  if (verdict === "hidden") return { ...memory, missing: [], generation };
  const { password, restToken, readOnlyRestToken, ...rest } = memory;
  const before = savedIn(memory);
  const first = firstNameIn(credentials) ?? "password";
  const isSame = credentialNames.every(
    (name) => !before[name] || !credentials[name] || before[name] === credentials[name],
  );
  if (before[first] === credentials[first] || (before[first] === undefined && isSame)) {
    return { ...memory, missing: [], ...credentials, generation };
  }
  const missing = missingOf(
    credentialNames.filter((name) => before[name] !== undefined),
    credentials,
  );
  return { ...rest, ...credentials, missing, generation };
}

export function adopted(desired: DesiredInputs, now: number, shown?: Shown): Memory {
  const { databaseId } = desired;
  const made = { applied: triggerOf(desired), generation: shown?.generation, ...shown?.credentials };
  const fresh = { formers: [], rank: credentialNames.length, missing: [], confirmed: 0, unconfirmed: 0 };
  return { ...fresh, databaseId, outcome: "adopted", since: now, initError: false, ...made };
}

/** The platform confirmed the reset. It applies to a trigger that was removed meanwhile, too. */
export function confirmed(
  memory: Memory | undefined,
  desired: DesiredInputs,
  now: number,
  made: Pick<Memory, "generation" | "formers" | "rank" | "missing"> & Credentials,
): Memory {
  const before = memory?.databaseId === desired.databaseId ? memory : undefined;
  return {
    databaseId: desired.databaseId,
    outcome: "reset",
    confirmed: (before?.confirmed ?? 0) + 1,
    applied: triggerOf(desired) ?? before?.attempted ?? before?.applied,
    unconfirmed: 0,
    since: now,
    initError: false,
    ...made,
  };
}

/** The outcome of the reset is unknown: what was known stays. */
export function unconfirmed(memory: Memory | undefined, desired: DesiredInputs, now: number, known: Known): Memory {
  const { databaseId } = desired;
  const before: Partial<Memory> = memory?.databaseId === databaseId ? memory : {};
  const trigger = triggerOf(desired);
  const attempts = before.unconfirmed ?? 0;
  const again = attempts > 0 && (trigger === undefined || trigger === before.attempted);
  const { names, ...marks } = known;
  return {
    confirmed: 0,
    ...before,
    ...marks,
    databaseId,
    outcome: "unknown",
    firstAttempt: Math.min(before.firstAttempt ?? now, now),
    unconfirmed: again ? attempts + 1 : 1,
    attempted: again ? before.attempted : trigger,
    initError: true,
    missing: missingOf(names, savedIn(memory)),
  };
}

/** What is known if the reset after this read is not confirmed. */
export function pendingAfter(memory: Memory | undefined, read: Credentials): Known {
  const known = knownIn(memory, read);
  const verdict = judge(knownIn(memory), read);
  const isShown = verdict === "current" || verdict === "pending";
  const saved = savedIn(memory);
  // A stale record shows that the last reset replaced it, and others of a record that they belong together.
  const shown = credentialNames.filter((name) => read[name] !== undefined && saved[name] !== undefined);
  const isConsistent = shown.length > 0 && shown.every((name) => read[name] === saved[name]);
  const isStale = judge(knownIn(memory), read) === "stale" && memory?.outcome !== "unknown";
  const was = isShown ? read : isStale || isConsistent ? saved : {};
  return { ...known, rank: Math.min(known.rank, rankOf(firstNameIn(was))), pending: firstIn(was) };
}
