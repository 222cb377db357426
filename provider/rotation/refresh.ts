import { isDeepStrictEqual } from "node:util";
import { RekeyError } from "../platform/errors";
import { credentialNames } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { type Subject } from "../platform/secretKind";
import { firstOf, judge, markAll, withReplaced } from "./marks";
import {
  adoptionNotice,
  driftNotice,
  failedNotice,
  missingNotice,
  notContactedNotice,
  otherAccountNotice,
  otherRollNotice,
  readNotice,
  savedKeyAdvice,
  type SecretNotice,
  type SecretResult,
  settledNotice,
  staleNotice,
  unknownNotice,
  unseenNotice,
} from "./notices";
import { type RotationOutputs, type Saving } from "./outputs";
import { type DesiredRotation } from "./planRotation";
import { afterRoll } from "./rolls";
import { afterReset, firstAttempt } from "./rotatedSince";
import {
  accountOf,
  currentIn,
  isElsewhere,
  keptCredentials,
  knownNames,
  marksIn,
  mayBeSettled,
  missingIn,
  recordIn,
  savedKnowledge,
  secretsIn,
  shownIn,
  withoutCredentials,
  withResponse,
} from "./saved";
import { areValuesWanted, toSave } from "./saving";
import { type Run } from "../run";
import { appliedMark, markTrigger } from "./trigger";

/**
 * Reads a saved secret, and returns what to save: what was changed outside of Rekey, and what was not known. It resets
 * nothing and never fails: if the read fails, the saved outputs stay.
 */
export async function refreshSecret(subject: Subject, saved: RotationOutputs, run: Run): Promise<SecretResult> {
  const saving = saved.saving ?? {};
  const read = await readSecret(subject, saved, saving, run, (error) => savedKeyAdvice(subject.kind.service, error));
  const result = await toSave(subject, saved, read, saving, run);
  const { failure } = result;
  return failure ? { outputs: saved, notices: [failedNotice(subject, failure.text)] } : result;
}

/**
 * As `refreshSecret`, with the credentials that were read, however they are to be saved.
 *
 * @param adviceOn returns what the notice of a failed read says in addition, with a space before it
 */
export async function readSecret(
  subject: Subject,
  saved: RotationOutputs,
  saving: Saving,
  run: Run,
  adviceOn: (error: unknown) => string = () => "",
): Promise<SecretResult> {
  const { kind, id } = subject;
  try {
    if (!run.options.canRead(kind)) return { outputs: saved, notices: [] };
    // The same id may be another secret there.
    if (isElsewhere(kind, saved, run)) return { outputs: saved, notices: [otherAccountNotice(subject)] };
    const isUnknown = saved.outcome === "unknown";
    if (isUnknown && !mayBeSettled(kind, saved, run)) return { outputs: saved, notices: [] };
    const { platform } = run;
    platform.secrets.add(secretsIn(saved));
    const read = await platform.operations(kind).read(id);
    shownIn(subject, run).push(read.credentials);
    if (!isUnknown) return withRead(subject, saved, read, saving, run);
    const settled = settle(subject, saved, read, run, "at the last `up`");
    return settled ?? { outputs: saved, notices: staleNotices(subject, saved, read) };
  } catch (error) {
    // Only the text of Rekey's own errors is free of secrets.
    const why = error instanceof RekeyError ? `${error.text}${adviceOn(error)}` : "";
    return { outputs: saved, notices: [failedNotice(subject, why)] };
  }
}

function staleNotices(subject: Subject, saved: RotationOutputs, { credentials }: SecretResponse): SecretNotice[] {
  const isStale = judge(marksIn(saved), knownNames(saved), credentials) === "stale";
  return isStale ? [staleNotice(subject)] : [];
}

/**
 * The outputs of an unconfirmed reset that a read settles. Undefined if it does not. The reset was applied if the
 * credentials are neither those before it nor former ones: its trigger is then the applied one. If it was not, because
 * someone else rolled, its trigger is still to be applied.
 *
 * @param happened why the reset was not confirmed
 */
export function settle(
  subject: Subject,
  saved: RotationOutputs,
  read: SecretResponse,
  run: Run,
  happened: string,
): SecretResult | undefined {
  const { kind } = subject;
  if (!mayBeSettled(kind, saved, run)) return undefined;
  const { rotationCount, attemptedTrigger, attemptedReason, appliedTrigger } = saved;
  const known = knownNames(saved);
  const marks = marksIn(saved);
  const before = currentIn(saved, marks);
  const { credentials } = read;
  const shown = markAll(marks, credentials);
  // The saved credentials may be older than the pending one: they prove nothing either.
  const first = firstOf(credentials);
  const verdict = judge(marks, known, credentials);
  if (first === undefined || shown[first] === before[first]) return undefined;
  if (verdict !== "current" && verdict !== "other") return undefined;
  const missing = known.filter((name) => credentials[name] === undefined);
  const now = run.options.clock.now().toISOString();
  const common = {
    ...withResponse(recordIn(saved), read),
    ...credentials,
    ...accountOf(kind, run),
    ...savedKnowledge(withReplaced(marks, before, shown), missing),
  };
  if (verdict === "other") {
    const { rotatedAt, adoptedAt = now, rotationReason } = saved;
    const outputs: RotationOutputs = {
      ...common,
      ...(rotatedAt === undefined ? { outcome: "adopted", adoptedAt } : { outcome: "reset", rotatedAt }),
      rotationCount,
      ...(rotationReason && { rotationReason }),
      ...(appliedTrigger !== undefined && { appliedTrigger }),
      // A schedule is still due by itself.
      ...(attemptedReason !== "schedule" && { attemptedTrigger }),
      ...afterRoll(saved, before, shown, now),
    };
    return { outputs, notices: [otherRollNotice(subject, happened)] };
  }
  // It is not newer than the reset that was not confirmed. Earlier versions saved the time of rolls only.
  const attempt = firstAttempt(saved, { attemptedAt: now });
  const { attemptedAt: rotatedAt = saved.lastRolledAt ?? now, attemptedSince } = attempt;
  const outputs: RotationOutputs = {
    ...common,
    outcome: "reset",
    rotatedAt,
    rotationCount: rotationCount + 1,
    appliedTrigger: appliedMark([attemptedTrigger, appliedTrigger], {}),
    ...afterReset(kind, saved, attemptedSince),
    ...(kind.minInterval && afterRoll(saved, before, shown, now, rotatedAt)),
  };
  const notices = missing.length > 0 ? [missingNotice(subject, missing)] : [];
  return { outputs, notices: [settledNotice(subject, happened), ...notices] };
}

/** The outputs of a secret that is adopted without a reset, with what a read shows. */
export function adopted(
  subject: Subject,
  inputs: DesiredRotation,
  response: SecretResponse | undefined,
  run: Run,
): SecretResult {
  const { kind } = subject;
  const outputs: RotationOutputs = {
    ...(response && withResponse(recordIn(undefined), response)),
    ...response?.credentials,
    outcome: "adopted",
    adoptedAt: run.options.clock.now().toISOString(),
    rotationCount: 0,
    appliedTrigger: markTrigger(inputs),
    ...accountOf(kind, run),
  };
  if (response === undefined) return { outputs, notices: [notContactedNotice(subject)] };
  return { outputs, notices: firstOf(response.credentials) === undefined ? [adoptionNotice(subject)] : [] };
}

/** The outputs after a read that shows a roll by someone else. Undefined if it shows none. */
export function noticedRoll(
  subject: Subject,
  saved: RotationOutputs,
  read: SecretResponse,
  run: Run,
): SecretResult | undefined {
  const result = saved.outcome === "unknown" ? undefined : withRead(subject, saved, read, {}, run);
  return result?.outputs.lastRolledAt === saved.lastRolledAt ? undefined : result;
}

/**
 * The outputs after a read. A stale record changes nothing. Credentials that the platform no longer shows stay, unless
 * they belong to others than those that it shows; what is still missing then counts as not offered.
 */
function withRead(
  subject: Subject,
  saved: RotationOutputs,
  read: SecretResponse,
  saving: Saving,
  run: Run,
): SecretResult {
  const known = knownNames(saved);
  const marks = marksIn(saved);
  const verdict = judge(marks, known, read.credentials);
  const isOpen = missingIn(saved).length > 0;
  if (verdict === "stale") {
    const notice = isOpen ? unknownNotice(subject, missingIn(saved), { kind: "stale" }) : staleNotice(subject);
    return { outputs: saved, notices: [notice] };
  }
  const before = currentIn(saved, marks);
  const credentials = verdict === "current" ? read.credentials : {};
  const shown = markAll(marks, credentials);
  const changed = credentialNames.filter((name) => before[name] && shown[name] && before[name] !== shown[name]);
  const first = firstOf(shown);
  const isOther = first !== undefined && before[first] !== shown[first];
  const isRolled = before.currentKey !== undefined && shown.currentKey !== undefined && isOther;
  const lost = credentialNames.filter((name) => before[name] !== undefined && read.credentials[name] === undefined);
  const isNew = credentialNames.some((name) => before[name] === undefined && shown[name] !== undefined);
  const drift = [...changed, ...changedFields(saved.record ?? {}, read.record)];
  const notices: SecretNotice[] = [];
  if (drift.length > 0) notices.push(driftNotice(subject, drift));
  else if (isNew) notices.push(readNotice(subject));
  if (isOpen && verdict === "hidden") notices.push(unknownNotice(subject, [], { kind: "hidden" }));
  else if (lost.length > 0) notices.push((isOther ? missingNotice : unseenNotice)(subject, lost));
  const { otherFields, missingCredentials, baseline, ...others } = withoutCredentials(saved);
  const merged = withResponse(recordIn(saved), read);
  const isWanted = areValuesWanted(saved, saving);
  if (drift.length === 0 && !isNew && !isOpen && !isWanted && isSame(saved.record, merged.record)) {
    return { outputs: saved, notices };
  }
  // An error may be returned with status 200 and the id: fields that are not known stay.
  const kept = verdict === "hidden" && otherFields !== undefined ? { otherFields } : {};
  const outputs: RotationOutputs = {
    ...others,
    ...merged,
    ...kept,
    ...(isOther ? {} : keptCredentials(saved)),
    ...credentials,
    ...(isRolled && afterRoll(saved, before, shown, run.options.clock.now().toISOString())),
    ...savedKnowledge(isRolled ? withReplaced(marks, before, shown) : marks, isOther ? lost : []),
  };
  return { outputs, notices };
}

/** Fields that both records have, with different values: a response may leave out fields that another one has. */
function changedFields(before: SecretResponse["record"], now: SecretResponse["record"]): string[] {
  return Object.keys(before).filter((name) => now[name] !== undefined && !isSame(before[name], now[name]));
}

/** Compares two values as a saved state has them. */
export function isSame(saved: unknown, read: unknown): boolean {
  return isDeepStrictEqual(inState({ value: saved }), inState({ value: read }));
}

function inState(values: object): unknown {
  return JSON.parse(JSON.stringify(values));
}
