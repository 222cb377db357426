import { type Credentials } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import { InternalError, RefusedError, RekeyError, UnconfirmedError, UnknownOutcomeError } from "../platform/errors";
import {
  type CredentialName,
  credentialNames,
  firstOf,
  judge,
  type Marks,
  type Verdict,
  withFormer,
  withPending,
} from "./marks";
import { adoptionNotice, type DatabaseNotice, problemsNotice, settledNotice, unknownNotice } from "./notices";
import {
  type DesiredRotation,
  isOtherAccount,
  planRotation,
  type RotationPlan,
  type RotationReason,
} from "./planRotation";
import { readFirst, readUntilCurrent } from "./reading";
import { type DatabaseResult, refreshDatabase, settle } from "./refresh";
import { type PasswordRotationOutputs } from "./outputs";
import {
  accountOf,
  credentialsIn,
  isToBeRead,
  knownNames,
  marksIn,
  mayBeSettled,
  picked,
  recordIn,
  savedKnowledge,
  type SavedRecord,
  secretsIn,
  withResponse,
} from "./saved";
import { type Run } from "../run";
import { appliedMark, canonicalTrigger, isSameTrigger, markTrigger } from "./trigger";

export interface PasswordRotationInputs extends DesiredRotation {
  readonly databaseId: string;
  /** The resource's full name. */
  readonly owner?: string;
  /** Full names of other resources of the program for the same database. */
  readonly otherOwners?: readonly string[];
}

/** Plans from the saved and the desired state. The same id may be another database in another account. */
export function planFor(
  saved: PasswordRotationOutputs | undefined,
  inputs: DesiredRotation,
  { options }: Run,
): RotationPlan {
  const isElsewhere = saved?.outcome === "unknown" && isOtherAccount(saved.account, options.account);
  return planRotation(saved, inputs, options.clock.now(), isElsewhere);
}

/** Whether the platform is read before a plan is executed, because its result may be enough. */
export function isReadFirst(plan: RotationPlan, saved: PasswordRotationOutputs | undefined, run: Run): boolean {
  if (plan.kind === "keep") return saved !== undefined && isToBeRead(saved, run);
  if (plan.kind === "refuse" && plan.code !== "REKEY_REPEATEDLY_UNCONFIRMED") return false;
  return mayBeSettled(saved, run);
}

/** Executes the plan for one database, made from the same outputs and inputs. */
export async function execute(
  plan: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  run: Run,
): Promise<DatabaseResult> {
  if (plan.kind === "adopt") return adopt(inputs, run);
  const isRead = isReadFirst(plan, saved, run);
  if (saved && plan.kind === "keep") return isRead ? refreshDatabase(saved, run) : { outputs: saved, notices: [] };
  if (plan.kind === "refuse" && !isRead) {
    throw new RefusedError(plan.code, { databaseId: inputs.databaseId, why: plan.why });
  }
  return once(inputs, run, () => rotate(plan, saved, inputs, run));
}

/**
 * Rotates at most once in a run. An engine may repeat a call (an error hook does): it then gets the first call's
 * result, and nothing is sent again. A rotation of which nothing was applied may be tried again.
 */
function once(inputs: PasswordRotationInputs, run: Run, act: () => Promise<DatabaseResult>): Promise<DatabaseResult> {
  const rotations = run.shared(once, () => new Map<string, Promise<DatabaseResult>>());
  const key = JSON.stringify([inputs.databaseId, canonicalTrigger(inputs)]);
  const known = rotations.get(key);
  if (known) return known;
  const result = act();
  rotations.set(key, result);
  const forget = () => rotations.delete(key);
  result.then(({ failure }) => failure && failure.delivery !== "maybe applied" && forget(), forget);
  return result;
}

/** If the platform can be asked, it is read first: an unconfirmed reset may turn out to be applied. */
async function rotate(
  planned: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  run: Run,
): Promise<DatabaseResult> {
  const { databaseId } = inputs;
  const reserve = () => run.reserveReset(databaseId);
  // A read counts as no reset, so one that may be enough needs none to be left.
  let undoCount = mayBeSettled(saved, run) ? undefined : reserve();
  let settled: DatabaseResult | undefined;
  let isSent = false;
  try {
    run.platform.secrets.add(secretsIn(saved));
    const before = run.options.canRead() ? await readFirst(databaseId, "reset", run) : undefined;
    settled = before && saved && settle(saved, before, run, "the last reset was not confirmed");
    const plan = settled ? planFor(settled.outputs, inputs, run) : planned;
    if (plan.kind === "refuse") throw new RefusedError(plan.code, { databaseId, why: plan.why });
    // Only a settled state may need no reset.
    if (plan.kind !== "reset") return settled as DatabaseResult;
    undoCount ??= reserve();
    const result = await reset(settled?.outputs ?? saved, inputs, plan.reason, run, before);
    isSent = true;
    return { ...result, notices: [...(settled?.notices ?? []), ...result.notices] };
  } catch (error) {
    // What the read has settled is saved, although nothing was reset.
    if (settled && error instanceof RekeyError) return { ...settled, failure: error };
    throw error;
  } finally {
    if (!isSent) undoCount?.();
  }
}

/** What is known before a reset, and what it makes former. */
interface Before {
  /** The saved credentials, and those that the read before the reset showed. */
  readonly credentials: readonly Credentials[];
  /** The credentials that the database is known to have. */
  readonly names: readonly CredentialName[];
  /** The marks to save if the reset is not confirmed. */
  readonly unconfirmed: Marks;
  /** The marks to save if it is confirmed. */
  readonly confirmed: Marks;
  readonly record: SavedRecord;
}

/** @param read what the platform showed before the reset; undefined if it cannot be read */
function knownBefore(saved: PasswordRotationOutputs | undefined, read: DatabaseResponse | undefined): Before {
  const marks = marksIn(saved);
  const former = credentialsIn(saved);
  const shown = read?.credentials ?? {};
  const verdict = judge(marks, knownNames(saved), shown);
  const isShown = verdict === "current" || verdict === "pending";
  // Without a read, a later one could not distinguish this reset from a change outside of Rekey.
  const { pending, ...confirmedOnly } = marks;
  const known = isShown ? withPending(marks, shown) : pending ? marks : withPending(marks, former);
  return {
    credentials: [former, shown],
    names: knownNames(saved, shown),
    unconfirmed: read ? known : confirmedOnly,
    confirmed: withFormer(marks, former, shown),
    record: read && verdict !== "stale" ? withResponse(recordIn(saved), read) : recordIn(saved),
  };
}

/** @throws RekeyError if the password was not changed */
async function reset(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  rotationReason: RotationReason,
  run: Run,
  read: DatabaseResponse | undefined,
): Promise<DatabaseResult> {
  const { databaseId } = inputs;
  const before = knownBefore(saved, read);
  const { platform } = run;
  let response: DatabaseResponse | undefined;
  let failed: UnconfirmedError | InternalError | undefined;
  try {
    response = await platform.databases.resetPassword(databaseId);
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) throw error;
    failed = error instanceof UnconfirmedError ? error : new InternalError(databaseId, error);
  }
  const verdictOf = ({ credentials }: DatabaseResponse) => judge(before.confirmed, before.names, credentials);
  const missingOf = (known: Credentials) => before.names.filter((name) => known[name] === undefined);
  const isRepeated = response !== undefined && verdictOf(response) === "stale";
  const returned = response ? returnedBy(response, verdictOf(response), before) : {};
  const isReadAgain = failed ? before.unconfirmed.pending !== undefined : read && missingOf(returned).length > 0;
  const shown = isReadAgain ? await readUntilCurrent(databaseId, verdictOf, run) : undefined;
  const current = shown?.kind === "current" ? shown.response : undefined;
  if (failed && !current) return unconfirmed(saved, inputs, failed, before, run);
  const credentials = together(returned, current?.credentials ?? {});
  const missing = missingOf(credentials);
  const usable = [isRepeated ? undefined : response, current].filter((one) => one !== undefined);
  const record = usable.reduce<SavedRecord>(withResponse, { ...before.record, problems: [] });
  const outputs: PasswordRotationOutputs = {
    databaseId,
    ...record,
    ...credentials,
    outcome: "reset",
    rotatedAt: run.options.clock.now().toISOString(),
    rotationCount: (saved?.rotationCount ?? 0) + 1,
    rotationReason,
    appliedTrigger: appliedMark([saved?.attemptedTrigger, saved?.appliedTrigger], inputs),
    ...accountOf(run),
    ...savedKnowledge(before.confirmed, read ? missing : []),
  };
  const notices: DatabaseNotice[] = [];
  if (failed) {
    // The platform's text may contain the new credentials, which only this read has shown.
    const happened = failed instanceof UnconfirmedError ? failed.happened : "its result was lost";
    notices.push(settledNotice(databaseId, platform.secrets.redact(happened)));
  }
  if (record.problems.length > 0) notices.push(problemsNotice(databaseId, record.problems));
  if (missing.length > 0 || (read && firstOf(credentials) === undefined)) {
    const ofResponse = isRepeated ? "repeated" : "left out";
    notices.push(unknownNotice(databaseId, missing, read ? (shown ?? { kind: "hidden" }) : { kind: ofResponse }));
  }
  return { outputs, notices };
}

/** The new credentials in the response to a reset. */
function returnedBy({ credentials }: DatabaseResponse, verdict: Verdict, before: Before): Credentials {
  if (verdict === "current") return credentials;
  if (verdict !== "hidden") return {};
  // Without the one by which records are judged, each is new only if it differs.
  const isNew = (name: CredentialName) => before.credentials.every((known) => known[name] !== credentials[name]);
  return picked(credentials, credentialNames.filter(isNew));
}

/** Credentials of a response and of a later read, whose credentials count alone if one of them differs. */
function together(returned: Credentials, read: Credentials): Credentials {
  const isSame = (name: CredentialName) => (returned[name] ?? read[name]) === (read[name] ?? returned[name]);
  return credentialNames.every(isSame) ? { ...returned, ...read } : read;
}

/** Adopts a database without a reset. What a read shows is saved. */
async function adopt(inputs: PasswordRotationInputs, run: Run): Promise<DatabaseResult> {
  const { databaseId } = inputs;
  const response = run.options.canRead() ? await readFirst(databaseId, "adopted", run) : undefined;
  const outputs: PasswordRotationOutputs = {
    databaseId,
    ...(response && withResponse(recordIn(undefined), response)),
    ...response?.credentials,
    outcome: "adopted",
    adoptedAt: run.options.clock.now().toISOString(),
    rotationCount: 0,
    appliedTrigger: markTrigger(inputs),
    ...accountOf(run),
  };
  const isHidden = response !== undefined && firstOf(response.credentials) === undefined;
  return { outputs, notices: isHidden ? [adoptionNotice(databaseId)] : [] };
}

/** It is unknown whether the reset was applied: the former outputs are kept, with `outcome: "unknown"`. */
function unconfirmed(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  { text, code }: RekeyError,
  { unconfirmed: marks, names }: Before,
  run: Run,
): DatabaseResult {
  const again = saved?.attemptedTrigger !== undefined && isSameTrigger(saved.attemptedTrigger, inputs);
  const unconfirmedResets = (again ? (saved.unconfirmedResets ?? 0) : 0) + 1;
  const { baseline, formerMarks, missingCredentials, ...former } = saved ?? { rotationCount: 0 };
  const isComparable = marks.pending !== undefined;
  const outputs: PasswordRotationOutputs = {
    ...former,
    databaseId: inputs.databaseId,
    outcome: "unknown",
    attemptedTrigger: again ? saved.attemptedTrigger : markTrigger(inputs),
    unconfirmedResets,
    ...savedKnowledge(marks, isComparable ? names.filter((name) => saved?.[name] === undefined) : []),
    ...accountOf(run),
  };
  const next = isComparable
    ? "The next `up` reads the database first. If it still shows the former credentials, it sends one more reset"
    : "The next `up` sends one more reset, which returns new credentials";
  const stop = "After three unconfirmed resets in a row it stops and asks for a new version.";
  return { outputs, failure: new UnknownOutcomeError(code, `${text}\n${next}. ${stop}`), notices: [] };
}
