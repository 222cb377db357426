import { InternalError, RefusedError, RekeyError, UnconfirmedError } from "../platform/errors";
import { keyOf, secretOf, type Subject } from "../platform/secretKind";
import { type Credentials, valuesOf } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { type Run } from "../run";
import { urlsOf } from "./access";
import { adopt, adoptTrigger, begin, confirm, learn, madeNow } from "./evidence";
import { type Finding, type Learned } from "./findings";
import { bestOf, type Declared, knownIn, missingIn } from "./memory";
import { savedKeyAdvice, unknownFailure } from "./messages";
import { declaredIn, type Desired, isReadFirst, type Plan, planRotation } from "./plan";
import { contextOf, look, readBefore, readUntilShown, shownIn } from "./reads";
import { claimRoll, isRolledOnce } from "./rolls";
import { isElsewhere, type Rotated, save, tryRecipients } from "./save";
import { credentialsIn, type State } from "./state";
import { canonicalTrigger } from "./trigger";

/** What would be done for one secret. */
export function planFor(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Plan {
  return planRotation(saved, desired, contextOf(subject, run));
}

/**
 * The credentials that resets of this run have replaced, as far as they are known. If they are not saved, no later run
 * can show that they are refused.
 */
export function replacedIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`replaced ${keyOf(subject)}`, (): Credentials[] => []);
}

/**
 * Makes one secret what the program asks for: reads, plans, reserves, sends, reads until the new one is shown, saves.
 *
 * @param run that of a Create or an Update that is not a preview
 */
export async function rotate(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Promise<Rotated> {
  const context = contextOf(subject, run);
  const plan = planRotation(saved, desired, context);
  const declared = declaredIn(desired, saved?.memory.declared);
  const toSave = (rotated: Rotated, form: Declared = declared) =>
    save(subject, saved, rotated, form, howToSave(subject, run));
  if (saved && (plan.kind === "read" || plan.kind === "adopt trigger")) {
    run.platform.operations(subject.kind);
    const { state, findings } = await look(subject, saved, run);
    const next = plan.kind === "adopt trigger" ? adoptTrigger(state, desired) : state;
    // Without the values, the next run tries again.
    const isUnread = findings.some(({ kind }) => unreadKinds.includes(kind));
    const { saveCredentials: _save, encryptFor: _for, ...others } = declared;
    const { saveCredentials, encryptFor } = saved.memory.declared;
    const former = {
      ...others,
      ...(saveCredentials === false && { saveCredentials }),
      ...(encryptFor && { encryptFor }),
    };
    return toSave({ state: next, findings }, isUnread ? former : declared);
  }
  if (saved && (plan.kind === "keep" || plan.kind === "save")) return toSave({ state: saved, findings: [] });
  if (plan.kind === "refuse" && !(saved && isReadFirst(saved, plan, context))) throw refusal(subject, plan);
  await tryRecipients(subject, declared, run);
  return toSave(await once(subject, desired, run, () => reset(subject, saved, desired, declared, run)));
}

/** What is found by a read that has not shown what is current. */
const unreadKinds: readonly Finding["kind"][] = ["failed", "stale", "unread", "elsewhere"];

function howToSave(subject: Subject, run: Run) {
  return { urlsOf: (state: State) => urlsOf(subject, state, run), shown: shownIn(subject, run) };
}

/**
 * Resets at most once in a run. An engine may repeat a call (an error hook does): it then gets the first call's result,
 * and nothing is sent again. What was certainly not applied may be tried again.
 */
function once(subject: Subject, desired: Desired, run: Run, act: () => Promise<Rotated>): Promise<Rotated> {
  const results = run.shared(once, () => new Map<string, Promise<Rotated>>());
  const key = JSON.stringify([secretOf(subject), canonicalTrigger(desired)]);
  const known = results.get(key);
  if (known) return known;
  const result = act();
  results.set(key, result);
  const forget = () => results.delete(key);
  result.then(({ failure }) => failure && failure.delivery !== "maybe applied" && forget(), forget);
  return result;
}

/** Reads first, if the platform can be read: that may be enough. Then sends one reset, and reads until it is shown. */
async function reset(
  subject: Subject,
  saved: State | undefined,
  desired: Desired,
  declared: Declared,
  run: Run,
): Promise<Rotated> {
  const context = contextOf(subject, run);
  const first = planRotation(saved, desired, context);
  const isAdopted = first.kind === "adopt";
  // An adoption, and a read that may be enough, count as no reset.
  const mayKeep = isAdopted || (saved !== undefined && isReadFirst(saved, first, context));
  let undo = mayKeep ? undefined : run.reserveReset(secretOf(subject));
  let noticed: Learned | undefined;
  let isSent = false;
  try {
    // An adoption also fails if a setting is missing, although it may send nothing.
    run.platform.operations(subject.kind);
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    const read = context.canRead ? await readBefore(subject, isAdopted ? "adopted" : "reset", run) : undefined;
    const learned = isAdopted ? adopt(desired, read, context) : saved && read && learn(saved, read, context);
    if (learned && (isAdopted || isNews(saved, learned.state))) noticed = learned;
    const from = learned?.state ?? saved;
    const isDue = first.kind === "reset" && first.reason === "trigger" && first.isAgain !== true;
    if (saved && learned && isDue && isRolledOnce(saved.memory, learned.state.memory)) {
      return claimRoll(learned.state, desired);
    }
    const plan = planRotation(from, desired, { ...context, shown: read?.credentials });
    if (plan.kind === "refuse") throw refusal(subject, plan);
    if (plan.kind !== "reset") return learned ?? unexpected(plan);
    if (isUnsaved(declared)) requireShown(subject, from, read, run);
    undo ??= run.reserveReset(secretOf(subject));
    const pending = begin(from, desired, plan.reason, read, context);
    // Not later than the reset, so that a leak after it counts.
    const made = madeNow(desired, context);
    const sent = await send(subject, run);
    isSent = true;
    replacedIn(subject, run).push(credentialsIn(saved), read?.credentials ?? {});
    const after = await settle(subject, { pending, sent, made, declared, isRead: read !== undefined }, run);
    const older = olderAfter(after.state, desired, subject, run);
    // What someone else has changed before is replaced by a confirmed reset.
    const earlier = isAdopted || (!noticed && !after.failure) ? [] : (learned?.findings ?? []);
    return { ...after, findings: [...earlier, ...after.findings, ...older] };
  } catch (error) {
    // What the read has shown is saved, although nothing was reset.
    if (noticed && error instanceof RekeyError) return { ...noticed, failure: error };
    throw error;
  } finally {
    if (!isSent) undo?.();
  }
}

/** Whether a read before a reset has shown what must not be lost if the reset is not made. */
function isNews(saved: State | undefined, { memory }: State): boolean {
  return memory.pending !== saved?.memory.pending || memory.rolledAt !== saved?.memory.rolledAt;
}

function unexpected(plan: Plan): never {
  throw new Error(`a rotation cannot be ${plan.kind}`);
}

/** Whether new credentials are nowhere but at the platform. */
function isUnsaved({ saveCredentials, encryptFor }: Declared): boolean {
  return saveCredentials === false && encryptFor === undefined;
}

/** @throws RefusedError if the platform hides the best credential: the response would be the only place that has it */
function requireShown(
  subject: Subject,
  from: State | undefined,
  read: SecretResponse | undefined,
  { platform }: Run,
): void {
  const { credentials = {} } = read ?? {};
  platform.secrets.add(valuesOf(credentials));
  const best = bestOf({ ...from?.memory.current, ...credentials });
  if (best !== undefined && credentials[best] !== undefined) return;
  const why =
    "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
  throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
}

/** A reset that was sent. */
interface Sent {
  /** The state before it. */
  readonly pending: State;
  /** The response, or why it is unknown whether it was applied. */
  readonly sent: SecretResponse | UnconfirmedError | InternalError;
  readonly made: ReturnType<typeof madeNow>;
  readonly declared: Declared;
  readonly isRead: boolean;
}

/** The state after a reset. What is not known, or not known to be shown, is read until the platform shows it. */
async function settle(subject: Subject, { pending, sent, made, declared, isRead }: Sent, run: Run): Promise<Rotated> {
  const { kind, id } = subject;
  const context = { ...contextOf(subject, run), canRead: isRead };
  const failed = sent instanceof RekeyError ? sent : undefined;
  const response = sent instanceof RekeyError ? undefined : sent;
  let state = failed ? pending : confirm(pending, { response }, made, context);
  const canSettle = pending.memory.pending?.before !== undefined;
  const isOpen = failed
    ? canSettle
    : missingIn(state.memory).length > 0 || (isUnsaved(declared) && hasUnshown(subject, state, run));
  const last = isRead && isOpen ? await readUntilShown(subject, state, run) : undefined;
  const findings: Finding[] = [];
  if (last?.read && failed) {
    // The platform's text may contain the new credentials, which only this read has shown.
    run.platform.secrets.add(valuesOf(last.read.credentials));
    const why = run.platform.secrets.redact(
      failed instanceof UnconfirmedError ? failed.happened : "its result was lost",
    );
    const learned = learn(pending, last.read, contextOf(subject, run));
    state = learned.state;
    findings.push(...learned.findings.map((one) => (one.kind === "missing" ? one : { ...one, why })));
  } else if (last?.read) state = confirm(pending, { response, read: last.read }, made, context);
  if (failed && state.memory.pending) return { state, failure: unknownFailure(subject, failed, canSettle), findings };
  if (state.problems && state.problems.length > 0) findings.push({ kind: "problems", names: state.problems });
  const { current } = pending.memory;
  const expected = Object.keys({ ...current, ...pending.memory.pending?.before }) as (keyof Credentials)[];
  const names = expected.filter((name) => state[name] === undefined);
  if (!failed && (names.length > 0 || (isRead && bestOf(credentialsIn(state)) === undefined))) {
    findings.push({ kind: last?.isOld ? "unread" : isRead ? "hidden" : "left out", names, why: last?.why });
  }
  if (kind.authorizesQueue) run.platform.useQueueToken(id, state.token);
  return { state, findings };
}

function hasUnshown(subject: Subject, { memory }: State, run: Run): boolean {
  return knownIn(memory.current).some((name) => !isElsewhere(memory, name, shownIn(subject, run)));
}

/** The finding for what is due by `rotatedSince` after a reset, too: of keys, the current one is older. */
function olderAfter(state: State, desired: Desired, subject: Subject, run: Run): Finding[] {
  const next = planFor(subject, state, desired, run);
  const { reason } = next.kind === "keep" ? (next.waits ?? {}) : next.kind === "reset" ? next : {};
  if (reason !== "rotatedSince") return [];
  return [{ kind: "older", ...(next.kind === "keep" && { why: next.waits?.why }) }];
}

/**
 * Sends one reset.
 *
 * @returns the response, or why it is unknown whether the secret was changed
 * @throws RekeyError if it was not
 */
async function send(subject: Subject, run: Run): Promise<Sent["sent"]> {
  const { kind, id } = subject;
  try {
    return await run.platform.operations(kind).reset(id);
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) throw error;
    if (error instanceof UnconfirmedError) return error;
    return new InternalError({ secret: secretOf(subject), word: kind.word }, error);
  }
}

function refusal(subject: Subject, { code, why }: Extract<Plan, { kind: "refuse" }>): RekeyError {
  return new RefusedError(code, { secret: secretOf(subject), why });
}

/** Reads what may have been changed elsewhere, and what is not known. It resets nothing and never fails. */
export async function refresh(subject: Subject, saved: State, run: Run): Promise<Rotated> {
  const { declared } = saved.memory;
  const found = await look(subject, saved, run, (error) => savedKeyAdvice(subject.kind.service, error));
  const { failure, ...next } = await save(subject, saved, found, declared, howToSave(subject, run));
  return failure ? { state: saved, findings: [{ kind: "failed", why: failure.text }] } : next;
}

/**
 * Adopts a secret for an import, which does not know the program, so values are not saved if a read can show them.
 *
 * @throws RekeyError if it could not be read
 */
export async function adoptSecret(subject: Subject, run: Run): Promise<Rotated> {
  const context = contextOf(subject, run);
  run.platform.operations(subject.kind);
  const read = context.canRead ? await readBefore(subject, "adopted", run) : undefined;
  const adopted = adopt(undefined, read, context);
  return save(subject, undefined, adopted, adopted.state.memory.declared, howToSave(subject, run));
}
