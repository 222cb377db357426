import { InternalError, RefusedError, RekeyError, RequestError } from "../platform/errors";
import { secretOf, type Subject, ownerOf } from "../platform/secretKind";
import { type CredentialName, type Credentials, valuesOf } from "../records/fields";
import { poll, untilEnd, type Run } from "../run";
import { type SecretResponse } from "../records/response";
import { adopt, claimedRoll } from "./adoption";
import { confirm, judge, learn, madeNow, withPending } from "./evidence";
import { bestOf, canonicalTrigger, knownIn, marksOf, triggerMark, unknownIn } from "./marks";
import { credentialsIn, type State } from "./memory";
import { isUnread, type Learned, type Rotated, savedKeyAdvice, unknownFailure } from "./messages";
import { contextOf, declaredIn, type Desired, isOlder, mayChange, type Plan, planRotation, savesNone } from "./plan";
import { isShown, readsIn, save, tryRecipients } from "./save";

/**
 * The former credentials that resets of this run have replaced, as far as they are known. If they are not saved, no
 * later run can show that they are refused.
 */
export function formerIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`former ${secretOf(subject)}`, (): Credentials[] => []);
}

/**
 * Makes one secret what the program asks for: plans, reads, plans again, sends, reads what is still open, and saves.
 *
 * @param run that of a Create or an Update that is not a preview; an import, whose run may only read, adopts
 */
export async function rotate(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Promise<Rotated> {
  const context = contextOf(subject, run);
  const plan = planRotation(saved, desired, context);
  const declared = declaredIn(desired);
  if (saved && (plan.kind === "keep" || plan.kind === "rewrite" || plan.kind === "read")) {
    // Fails if a setting is missing, which `tryRead` would only report.
    if (plan.kind === "read") run.platform.operations(subject.kind);
    const { state, findings } =
      plan.kind === "read" ? await tryRead(subject, saved, run) : { state: saved, findings: [] };
    const { memory } = state;
    const next = { ...state, memory: { ...memory, applied: memory.applied ?? triggerMark(memory, desired) } };
    // Without the values, the next run tries again.
    const form = isUnread(findings) ? saved.memory.declared : declared;
    return save(subject, saved, { state: next, findings }, form, run);
  }
  if (plan.kind === "refuse" && !(saved && mayChange(saved, plan, context))) throw refusal(subject, plan);
  await tryRecipients(subject, declared, run);
  const act = () => adoptOrReset(subject, saved, desired, run);
  // The result of an adoption must not stand in for a reset: a program may import a secret and rotate it in one run.
  const rotated = await (plan.kind === "adopt" && !plan.mayReset ? act() : once(subject, desired, run, act));
  return save(subject, saved, rotated, declared, run);
}

/** Reads a secret for a refresh, and prepares what is saved. It resets nothing and never fails. */
export async function refresh(subject: Subject, saved: State, run: Run): Promise<Rotated> {
  const found = await tryRead(subject, saved, run, true);
  const { failure, ...next } = await save(subject, saved, found, saved.memory.declared, run);
  return failure ? { state: saved, findings: [{ kind: "unencrypted" }] } : next;
}

/**
 * Resets a secret at most once in a run for one trigger. An engine may repeat a call (an error hook does): it then gets
 * the first call's result, and nothing is sent again. What was certainly not applied may be tried again.
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

/**
 * Reads first, if the platform can be read: an adoption, or a reset that was applied before, needs nothing else.
 * Otherwise sends one reset, and reads what its response leaves open.
 */
async function adoptOrReset(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Promise<Rotated> {
  const { kind, id } = subject;
  const context = contextOf(subject, run);
  const first = planRotation(saved, desired, context);
  const isAdopted = first.kind === "adopt";
  let news: Learned | undefined;
  try {
    // Fails if a setting is missing, even for an adoption, which may send nothing.
    run.platform.operations(kind);
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    const read = context.canRead ? await readBefore(subject, isAdopted ? "adopted" : "reset", run) : undefined;
    const learned = isAdopted ? adopt(desired, read, context) : saved && read && learn(saved, read, context);
    if (learned && (isAdopted || isNews(saved, learned.state))) news = learned;
    const claimed = saved && learned && claimedRoll(first, saved.memory, learned, desired);
    if (claimed) return claimed;
    const from = learned?.state ?? saved;
    const plan = planRotation(from, desired, { ...context, reads: read && readsIn(subject, run) });
    if (plan.kind === "refuse") throw refusal(subject, plan);
    // Without a state, a reset is due.
    if (plan.kind !== "reset") return learned ?? { state: from as State, findings: [] };
    const unconfirmed = withPending(from, desired, plan.reason, read, context);
    // Not later than the reset, so that a leak after it counts.
    const made = madeNow(desired, run.options.clock.now());
    const sent = await send(subject, run);
    formerIn(subject, run).push(credentialsIn(saved), read?.credentials ?? {});
    const { state, failure, ...after } =
      sent instanceof RekeyError
        ? await settleLost(subject, unconfirmed, sent, run)
        : await complete(subject, unconfirmed, sent, made, run);
    // A confirmed reset has replaced what someone else has changed before, so that is not told.
    const earlier = learned && !isAdopted && (news || failure) ? learned.findings : [];
    const findings = [...earlier, ...after.findings];
    if (failure) return { state, failure, findings };
    const { memory, problems = [] } = state;
    if (problems.length > 0) findings.push({ kind: "problems", names: problems });
    if (isOlder(memory, desired.rotatedSince, context.now)) findings.push({ kind: "older" });
    if (kind.authorizesQueue) run.platform.useQueueToken(id, state.token);
    return { state, findings };
  } catch (error) {
    // What the read has shown is saved, although nothing was reset.
    if (news && error instanceof RekeyError) return { ...news, failure: error };
    throw error;
  }
}

/** Whether the read before a reset has ended a doubt, or noticed a roll: that is saved, even if the reset fails. */
function isNews(saved: State | undefined, { memory }: State): boolean {
  return memory.pending !== saved?.memory.pending || memory.rolledAt !== saved?.memory.rolledAt;
}

function refusal(subject: Subject, { code, why }: Extract<Plan, { kind: "refuse" }>): RekeyError {
  return new RefusedError(code, { secret: secretOf(subject), why });
}

/**
 * Sends one reset, and counts it.
 *
 * @returns the response, or why it is unknown whether it was applied
 * @throws RekeyError if it was not
 */
async function send(subject: Subject, run: Run): Promise<SecretResponse | RequestError | InternalError> {
  const { kind, id } = subject;
  const undo = run.reserveReset(secretOf(subject));
  try {
    return await run.platform.operations(kind).reset(id);
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) {
      undo();
      throw error;
    }
    return error instanceof RequestError
      ? error
      : new InternalError({ secret: secretOf(subject), word: kind.word }, error);
  }
}

/** The state after a response. What is not known, or not known to be shown, is read until the platform shows it. */
async function complete(
  subject: Subject,
  unconfirmed: State,
  response: SecretResponse,
  made: ReturnType<typeof madeNow>,
  run: Run,
): Promise<Rotated> {
  const context = contextOf(subject, run);
  let state = confirm(unconfirmed, [response], made, context);
  const { memory } = state;
  const { current, declared } = memory;
  const isUnshown = (name: CredentialName) => !isShown(memory, name, readsIn(subject, run));
  const isOpen = unknownIn(current).length > 0 || (savesNone(declared) && knownIn(current).some(isUnshown));
  const last = context.canRead && isOpen ? await readUntilShown(subject, state, run) : undefined;
  if (last?.read) state = confirm(unconfirmed, [response, last.read], made, context);
  const values = credentialsIn(state);
  const expected = Object.keys({ ...unconfirmed.memory.current, ...unconfirmed.memory.pending?.before });
  const names = expected.filter((name) => !Object.hasOwn(values, name));
  const isKnown = names.length === 0 && (bestOf(values) !== undefined || !context.canRead);
  return { state, findings: isKnown ? [] : [{ kind: "unknown", names, why: last?.why }] };
}

/** The state after a reset whose response was lost: it stays unconfirmed, unless a read shows the result. */
async function settleLost(
  subject: Subject,
  unconfirmed: State,
  failed: RequestError | InternalError,
  run: Run,
): Promise<Rotated> {
  const canSettle = unconfirmed.memory.pending?.before !== undefined;
  const last = canSettle ? await readUntilShown(subject, unconfirmed, run) : undefined;
  const failure = unknownFailure(subject, failed, canSettle);
  if (!last?.read) return { state: unconfirmed, failure, findings: [] };
  // The platform's text may contain the new credentials, which only this read has shown.
  const why = run.redacted(failed instanceof RequestError ? failed.happened : "its result was lost");
  const { state, findings } = learn(unconfirmed, last.read, contextOf(subject, run));
  return {
    state,
    findings: findings.map((one) => (one.kind === "unknown" ? one : { ...one, why })),
    ...(state.memory.pending && { failure }),
  };
}

async function readSecret(subject: Subject, run: Run): Promise<SecretResponse> {
  const response = await run.platform.operations(subject.kind).read(subject.id);
  readsIn(subject, run).push(response.credentials);
  return response;
}

/** Reads a secret before it is reset or adopted. */
export async function readBefore(subject: Subject, intent: "reset" | "adopted", run: Run): Promise<SecretResponse> {
  try {
    return await readSecret(subject, run);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { method, url, happened, advice } = error;
    const [when, unchanged] =
      intent === "reset"
        ? ["before its reset", `No reset was sent, and the ${subject.kind.word} was not changed.`]
        : ["to adopt it", "It was not adopted, and nothing was changed."];
    const facts = { purpose: `read ${ownerOf(subject)} ${when}`, method, url, consequences: { unchanged } };
    throw new RequestError("not sent", facts, { happened, advice, code: "REKEY_NOT_READ" });
  }
}

/**
 * Reads a secret without resetting it; `learn` decides what the read changes. It never fails: if the read does, the
 * saved state stays.
 *
 * @param isRefresh whether the configuration is that of the last `up`
 */
async function tryRead(subject: Subject, saved: State, run: Run, isRefresh = false): Promise<Learned> {
  const context = contextOf(subject, run);
  try {
    if (!context.canRead) return { state: saved, findings: [] };
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    return learn(saved, await readSecret(subject, run), context);
  } catch (error) {
    const advice = isRefresh ? savedKeyAdvice(subject.kind.service, error) : "";
    // Only the text of Rekey's own errors is free of secrets.
    const why = error instanceof RekeyError ? error.text + advice : "";
    return { state: saved, findings: [{ kind: "failed", why }] };
  }
}

/** Milliseconds of a read at the end of the time for reads. */
const lastReadMs = 1_000;

/** The last of several reads. */
interface Last {
  /** What it has shown, if that is current. */
  readonly read?: SecretResponse;
  /** Why it has shown nothing that is current. */
  readonly why?: string;
  readonly isFinal: boolean;
}

/**
 * Reads until the new credentials are shown, because a platform may apply a reset later than it responds, and a read
 * may show an older record. What is hidden is not waited for.
 */
function readUntilShown(subject: Subject, { memory }: State, run: Run): Promise<Last> {
  const { clock, end, settings } = run.options;
  const endsAtMs = clock.elapsedMs() + settings.deadlineMs;
  const ended: Last = { why: "the run was ended", isFinal: true };
  const act = async (): Promise<Last> => {
    if (end.aborted) return ended;
    const remainingMs = Math.max(lastReadMs, endsAtMs - clock.elapsedMs());
    try {
      const last = await untilEnd(end, readSecret(subject, run.during({ limitMs: remainingMs })));
      if (last === undefined) return ended;
      const verdict = judge(memory, marksOf(memory, last.credentials), contextOf(subject, run));
      if (verdict === "hidden") return { why: "the platform neither returned it nor shows it", isFinal: true };
      const isOld = verdict === "stale" || (verdict === "same" && memory.pending !== undefined);
      return isOld
        ? { why: "the platform still shows the former credentials", isFinal: false }
        : { read: last, isFinal: true };
    } catch (error) {
      const { happened = "pulumi-rekey failed", delivery, status } = error instanceof RequestError ? error : {};
      return { why: `it could not be read (${happened})`, isFinal: delivery === "rejected" && status !== 429 };
    }
  };
  return poll(run, { act, isDone: ({ isFinal }) => isFinal, endsAtMs });
}
