import { type CredentialName, credentialNames, type Credentials } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { secretOf, type Subject } from "../platform/secretKind";
import { InternalError, RefusedError, RekeyError, UnconfirmedError } from "../platform/errors";
import {
  firstOf,
  judge,
  markAll,
  type Marked,
  type Marks,
  type Verdict,
  withFormer,
  withPending,
  withReplaced,
} from "./marks";
import {
  olderNotices,
  problemsNotice,
  type SecretNotice,
  type SecretResult,
  settledNotice,
  unknownFailure,
  unknownNotice,
  unreadKinds,
} from "./notices";
import { type DesiredRotation, type RotationPlan, type RotationReason } from "./planRotation";
import { isReadFirst, planFor, type SecretInputs } from "./planFor";
import { planWithOwnToken } from "./ownToken";
import { readFirst, readUntilCurrent } from "./reading";
import { adopted, noticedRoll, readSecret, settle } from "./refresh";
import { afterRoll } from "./rolls";
import { afterReset, attemptOf, firstAttempt } from "./rotatedSince";
import { type RotationOutputs } from "./outputs";
import {
  accountOf,
  credentialsIn,
  currentIn,
  knownNames,
  marksIn,
  mayBeSettled,
  picked,
  recordIn,
  replacedIn,
  savedKnowledge,
  type SavedRecord,
  secretsIn,
  together,
  withResponse,
} from "./saved";
import {
  areValuesWanted,
  isSavedNowhere,
  removesCopies,
  requireShown,
  savingOf,
  toSave,
  tryRecipients,
} from "./saving";
import { type Run } from "../run";
import { appliedMark, canonicalTrigger, isSameTrigger, markTrigger } from "./trigger";

/** Executes the plan for one secret, made from the same outputs and inputs. */
export async function execute(
  subject: Subject,
  plan: RotationPlan,
  saved: RotationOutputs | undefined,
  inputs: SecretInputs,
  run: Run,
): Promise<SecretResult> {
  const saving = savingOf(inputs, saved);
  const isRead = isReadFirst(subject, plan, saved, inputs, run);
  if (saved && plan.kind === "keep") {
    const mustRead = isRead || removesCopies(saved, saving);
    const result = mustRead ? await readSecret(subject, saved, saving, run) : { outputs: saved, notices: [] };
    // The next run tries again to read values that the program wants.
    const isUnread = areValuesWanted(saved, saving) && result.notices.some(({ kind }) => unreadKinds.includes(kind));
    return isUnread ? result : toSave(subject, saved, result, saving, run);
  }
  if (plan.kind === "refuse" && !isRead) {
    throw new RefusedError(plan.code, { secret: secretOf(subject), why: plan.why });
  }
  await tryRecipients(subject, saving, run);
  const result = await once(subject, inputs, run, () => rotate(subject, plan, saved, inputs, run));
  return toSave(subject, saved, result, saving, run);
}

/**
 * Rotates at most once in a run. An engine may repeat a call (an error hook does): it then gets the first call's
 * result, and nothing is sent again. A rotation of which nothing was applied may be tried again.
 */
function once(
  subject: Subject,
  inputs: DesiredRotation,
  run: Run,
  act: () => Promise<SecretResult>,
): Promise<SecretResult> {
  const rotations = run.shared(once, () => new Map<string, Promise<SecretResult>>());
  const key = JSON.stringify([secretOf(subject), canonicalTrigger(inputs)]);
  const known = rotations.get(key);
  if (known) return known;
  const result = act();
  rotations.set(key, result);
  const forget = () => rotations.delete(key);
  result.then(({ failure }) => failure && failure.delivery !== "maybe applied" && forget(), forget);
  return result;
}

/**
 * If the platform can be asked, it is read first: an unconfirmed reset may turn out to be applied, or what is to be
 * adopted to be older than `rotatedSince`.
 */
async function rotate(
  subject: Subject,
  planned: RotationPlan,
  saved: RotationOutputs | undefined,
  inputs: SecretInputs,
  run: Run,
): Promise<SecretResult> {
  const { kind, id } = subject;
  const isSaved = !isSavedNowhere(savingOf(inputs, saved));
  const secret = secretOf(subject);
  const reserve = () => run.reserveReset(secret);
  // A read counts as no reset, so one that may be enough needs none to be left.
  const isAdopted = planned.kind === "adopt";
  let undoCount = isAdopted || mayBeSettled(kind, saved, run) ? undefined : reserve();
  let settled: SecretResult | undefined;
  try {
    // An adoption that sends nothing fails as well if a setting is missing: the reset, some nights later, would.
    run.platform.operations(kind);
    if (saved) run.platform.secrets.add(secretsIn(saved));
    const before = run.options.canRead(kind)
      ? await readFirst(subject, isAdopted ? "adopted" : "reset", run)
      : undefined;
    if (isAdopted) settled = adopted(subject, inputs, before, run);
    else if (before && saved) {
      const happened = "the last reset was not confirmed";
      settled = settle(subject, saved, before, run, happened) ?? noticedRoll(subject, saved, before, run);
    }
    const next = settled ? planFor(subject, settled.outputs, inputs, run) : planned;
    const plan = kind.authorizesQueue
      ? planWithOwnToken(next, id, settled?.outputs ?? saved, run, before?.credentials ?? {})
      : next;
    if (plan.kind === "refuse") throw new RefusedError(plan.code, { secret, why: plan.why });
    // Only a settled or adopted state may need no reset.
    if (plan.kind !== "reset") return settled as SecretResult;
    if (!isSaved) requireShown(subject, saved, before?.credentials);
    undoCount ??= reserve();
    const result = await reset(subject, settled?.outputs ?? saved, inputs, plan.reason, run, { read: before, isSaved });
    // It was sent, and counts.
    undoCount = undefined;
    const notices = isAdopted ? [] : (settled?.notices ?? []);
    return { ...result, notices: [...notices, ...result.notices] };
  } catch (error) {
    // What the read has settled is saved, although nothing was reset.
    if (settled && error instanceof RekeyError) return { ...settled, failure: error };
    throw error;
  } finally {
    undoCount?.();
  }
}

/** What is known before a reset, and what it makes former. */
interface Before {
  /** Marks of the saved credentials. */
  readonly saved: Marked;
  /** Marks of those that the read before the reset showed. */
  readonly shown: Marked;
  /** The credentials that are known to exist. */
  readonly names: readonly CredentialName[];
  /** The marks to save if the reset is not confirmed. */
  readonly unconfirmed: Marks;
  /** The marks to save if it is confirmed. */
  readonly confirmed: Marks;
  readonly record: SavedRecord;
}

/** @param read what the platform showed before the reset; undefined if it cannot be read */
function knownBefore(saved: RotationOutputs | undefined, read: SecretResponse | undefined): Before {
  const marks = marksIn(saved);
  const former = currentIn(saved, marks);
  const shown = markAll(marks, read?.credentials ?? {});
  const verdict = judge(marks, knownNames(saved), read?.credentials ?? {});
  const isShown = verdict === "current" || verdict === "pending";
  // Without a read, a later one could not distinguish this reset from a change outside of Rekey.
  const { pending, expected: _expected, ...confirmedOnly } = marks;
  const known = isShown ? withPending(marks, shown) : pending ? marks : withPending(marks, former);
  return {
    saved: former,
    shown,
    names: knownNames(saved, read?.credentials),
    unconfirmed: read ? known : confirmedOnly,
    confirmed: withFormer(marks, former, shown),
    record: read && verdict !== "stale" ? withResponse(recordIn(saved), read) : recordIn(saved),
  };
}

/**
 * @param isSaved whether the new credentials are saved; otherwise a read must show them
 * @throws RekeyError if the secret was not changed
 */
async function reset(
  subject: Subject,
  saved: RotationOutputs | undefined,
  inputs: DesiredRotation,
  rotationReason: RotationReason,
  run: Run,
  { read, isSaved }: { readonly read: SecretResponse | undefined; readonly isSaved: boolean },
): Promise<SecretResult> {
  const { kind, id } = subject;
  const before = knownBefore(saved, read);
  // Not later than the reset, so that a leak after it counts.
  const last = attemptOf(inputs, run.options.clock.now());
  const sent = await send(subject, run);
  const [response, failed] = sent instanceof RekeyError ? [undefined, sent] : [sent];
  const attempt = failed ? firstAttempt(saved, last) : last;
  const marks = failed ? { ...before.confirmed, expected: before.unconfirmed.expected } : before.confirmed;
  const verdictOf = ({ credentials }: SecretResponse) => judge(marks, before.names, credentials);
  const missingOf = (known: Credentials) => before.names.filter((name) => known[name] === undefined);
  const isRepeated = response !== undefined && verdictOf(response) === "stale";
  const returned = response ? returnedBy(response, verdictOf(response), before) : {};
  const isToBeShown = read && (!isSaved || missingOf(returned).length > 0);
  const isReadAgain = failed ? before.unconfirmed.pending !== undefined : isToBeShown;
  const shown = isReadAgain ? await readUntilCurrent(subject, verdictOf, run) : undefined;
  const current = shown?.kind === "current" ? shown.response : undefined;
  if (failed && !current) return unconfirmed(subject, saved, inputs, failed, before, attempt, rotationReason, run);
  const credentials = together(returned, current?.credentials ?? {});
  const missing = missingOf(credentials);
  const usable = [isRepeated ? undefined : response, current].filter((one) => one !== undefined);
  const record = usable.reduce<SavedRecord>(withResponse, { ...before.record, problems: [] });
  const { attemptedAt: rotatedAt = last.attemptedAt, attemptedSince } = attempt;
  const known = markAll(marks, credentials);
  const outputs: RotationOutputs = {
    ...record,
    ...credentials,
    outcome: "reset",
    rotatedAt,
    rotationCount: (saved?.rotationCount ?? 0) + 1,
    rotationReason,
    appliedTrigger: appliedMark([saved?.attemptedTrigger, saved?.appliedTrigger], inputs),
    ...afterReset(kind, saved, attemptedSince),
    ...(kind.minInterval && afterRoll(saved, before.saved, known, run.options.clock.now().toISOString(), rotatedAt)),
    ...accountOf(kind, run),
    ...savedKnowledge(withReplaced(marks, { ...before.saved, ...before.shown }, known), read ? missing : []),
  };
  replacedIn(subject, run).push(credentialsIn(saved), read?.credentials ?? {});
  if (kind.authorizesQueue) run.platform.useQueueToken(id, credentials.token);
  const notices: SecretNotice[] = [];
  if (failed) {
    // The platform's text may contain the new credentials, which only this read has shown.
    const happened = failed instanceof UnconfirmedError ? failed.happened : "its result was lost";
    notices.push(settledNotice(subject, run.platform.secrets.redact(happened)));
  }
  if (record.problems.length > 0) notices.push(problemsNotice(subject, record.problems));
  if (missing.length > 0 || (read && firstOf(credentials) === undefined)) {
    const ofResponse = isRepeated ? "repeated" : "left out";
    notices.push(unknownNotice(subject, missing, read ? (shown ?? { kind: "hidden" }) : { kind: ofResponse }));
  }
  notices.push(...olderNotices(subject, planFor(subject, outputs, inputs, run)));
  return { outputs, notices };
}

/**
 * Sends one reset.
 *
 * @returns the response, or why it is unknown whether the secret was changed
 * @throws RekeyError if it was not
 */
async function send(subject: Subject, run: Run): Promise<SecretResponse | UnconfirmedError | InternalError> {
  const { kind, id } = subject;
  const { platform } = run;
  try {
    return await platform.operations(kind).reset(id);
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) throw error;
    if (error instanceof UnconfirmedError) return error;
    return new InternalError({ secret: secretOf(subject), word: kind.word }, error);
  }
}

/** The new credentials in the response to a reset. */
function returnedBy({ credentials }: SecretResponse, verdict: Verdict, before: Before): Credentials {
  if (verdict === "current") return credentials;
  if (verdict !== "hidden") return {};
  // Without the one by which records are judged, each is new only if it differs.
  const shown = markAll(before.confirmed, credentials);
  const isNew = (name: CredentialName) => ![before.saved[name], before.shown[name]].includes(shown[name]);
  return picked(credentials, credentialNames.filter(isNew));
}

/** It is unknown whether the reset was applied: the former outputs are kept, with `outcome: "unknown"`. */
function unconfirmed(
  { kind }: Subject,
  saved: RotationOutputs | undefined,
  inputs: DesiredRotation,
  failed: RekeyError,
  { unconfirmed: marks, names, saved: current }: Before,
  attempt: ReturnType<typeof firstAttempt>,
  reason: RotationReason,
  run: Run,
): SecretResult {
  const again = saved?.attemptedTrigger !== undefined && isSameTrigger(saved.attemptedTrigger, inputs);
  const unconfirmedResets = (again ? (saved.unconfirmedResets ?? 0) : 0) + 1;
  const { baseline, formerMarks, missingCredentials, attemptedReason, ...former } = saved ?? { rotationCount: 0 };
  // A repeated one is still asked for by what asked for the first.
  const isOfSchedule = (reason === "unconfirmed" ? attemptedReason : reason) === "schedule";
  const isComparable = marks.pending !== undefined;
  const outputs: RotationOutputs = {
    ...former,
    outcome: "unknown",
    attemptedTrigger: again ? saved.attemptedTrigger : markTrigger(inputs),
    unconfirmedResets,
    ...(isOfSchedule && { attemptedReason: "schedule" }),
    ...attempt,
    ...(kind.minInterval !== undefined && { lastRolledAt: run.options.clock.now().toISOString() }),
    ...savedKnowledge(marks, isComparable ? names.filter((name) => current[name] === undefined) : []),
    ...accountOf(kind, run),
  };
  return { outputs, failure: unknownFailure(kind, failed, isComparable), notices: [] };
}
