import { InternalError, RefusedError, RekeyError, RequestError } from "../platform/errors";
import { keyOf, secretOf, type Subject } from "../platform/secretKind";
import { type CredentialName, type Credentials, valuesOf } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { type Run } from "../run";
import { adopt } from "./adoption";
import { begin, confirm, learn, madeNow } from "./evidence";
import { isUnread, type Learned, type Rotated } from "./findings";
import { bestOf, better, knownIn, missingIn } from "./memory";
import { contextOf, declaredIn, type Desired, isOlder, isReadFirst, type Plan, planRotation } from "./plan";
import { readBefore, readUntilShown, settleLost, tryRead } from "./reads";
import { claimedRoll } from "./rolls";
import { isShown, isUnsaved, save, shownIn, tryRecipients } from "./save";
import { credentialsIn, type State } from "./state";
import { canonicalTrigger, triggerMark } from "./trigger";

/**
 * The former credentials that resets of this run have replaced, as far as they are known. If they are not saved, no
 * later run can show that they are refused.
 */
export function formerIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`former ${keyOf(subject)}`, (): Credentials[] => []);
}

/**
 * Makes one secret what the program asks for: reads, plans, reserves, sends, reads until the new one is shown, saves.
 *
 * @param run that of a Create or an Update that is not a preview
 */
export async function rotate(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Promise<Rotated> {
  const context = contextOf(subject, run);
  const plan = planRotation(saved, desired, context);
  const declared = declaredIn(desired);
  if (saved && (plan.kind === "keep" || plan.kind === "save" || plan.kind === "read")) {
    if (plan.kind === "read") run.platform.operations(subject.kind);
    const { state, findings } =
      plan.kind === "read" ? await tryRead(subject, saved, run) : { state: saved, findings: [] };
    const { memory } = state;
    const next = { ...state, memory: { ...memory, applied: memory.applied ?? triggerMark(memory, desired) } };
    // Without the values, the next run tries again.
    const form = isUnread(findings) ? saved.memory.declared : declared;
    return save(subject, saved, { state: next, findings }, form, run);
  }
  if (plan.kind === "refuse" && !(saved && isReadFirst(saved, plan, context))) throw refusal(subject, plan);
  await tryRecipients(subject, declared, run);
  const rotated = await once(subject, desired, run, () => adoptOrReset(subject, saved, desired, run));
  return save(subject, saved, rotated, declared, run);
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

/**
 * Reads first, if the platform can be read: an adoption, or a reset that was applied before, needs nothing else.
 * Otherwise sends one reset, and reads until the new credentials are shown.
 */
async function adoptOrReset(subject: Subject, saved: State | undefined, desired: Desired, run: Run): Promise<Rotated> {
  const { kind, id } = subject;
  const context = contextOf(subject, run);
  const first = planRotation(saved, desired, context);
  const isAdopted = first.kind === "adopt";
  let noticed: Learned | undefined;
  try {
    // An adoption also fails if a setting is missing, although it may send nothing.
    run.platform.operations(kind);
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    const read = context.canRead ? await readBefore(subject, isAdopted ? "adopted" : "reset", run) : undefined;
    const learned = isAdopted ? adopt(desired, read, context) : saved && read && learn(saved, read, context);
    if (learned && (isAdopted || isNews(saved, learned.state))) noticed = learned;
    const from = learned?.state ?? saved;
    if (saved && learned && kind.minInterval !== undefined) {
      const claimed = claimedRoll(first, saved.memory, learned.state, desired);
      if (claimed) return claimed;
    }
    const plan = planRotation(from, desired, { ...context, shown: read?.credentials });
    if (plan.kind === "refuse") throw refusal(subject, plan);
    if (plan.kind !== "reset") return learned ?? unexpected(plan);
    const unconfirmed = begin(from, desired, plan.reason, read, context);
    requireShown(subject, unconfirmed, read, run);
    // Not later than the reset, so that a leak after it counts.
    const made = madeNow(desired, run.options.clock.now());
    const sent = await send(subject, run);
    formerIn(subject, run).push(credentialsIn(saved), read?.credentials ?? {});
    const { state, failure, ...after } =
      sent instanceof RekeyError
        ? await settleLost(subject, unconfirmed, sent, run)
        : await complete(subject, unconfirmed, sent, made, run);
    // What someone else has changed before is replaced by a confirmed reset.
    const earlier = learned && !isAdopted && (noticed || failure) ? learned.findings : [];
    const findings = [...earlier, ...after.findings];
    if (failure) return { state, failure, findings };
    const { memory, problems = [] } = state;
    if (problems.length > 0) findings.push({ kind: "problems", names: problems });
    if (isOlder(memory, desired.rotatedSince, context.now)) findings.push({ kind: "older" });
    if (kind.authorizesQueue) run.platform.useQueueToken(id, state.token);
    return { state, findings };
  } catch (error) {
    // What the read has shown is saved, although nothing was reset.
    if (noticed && error instanceof RekeyError) return { ...noticed, failure: error };
    throw error;
  }
}

/** Whether a read before a reset has shown what must not be lost if the reset is not made. */
function isNews(saved: State | undefined, { memory }: State): boolean {
  return memory.pending !== saved?.memory.pending || memory.rolledAt !== saved?.memory.rolledAt;
}

function unexpected({ kind }: Plan): never {
  throw new Error(`a rotation cannot be ${kind}`);
}

/** @throws RefusedError if the response would be the only place that has the best credential, because reads hide it */
function requireShown(
  subject: Subject,
  { memory }: State,
  { credentials = {} }: Partial<SecretResponse> = {},
  { platform }: Run,
): void {
  if (!isUnsaved(memory.declared)) return;
  platform.secrets.add(valuesOf(credentials));
  const best = better(memory.best, bestOf({ ...memory.current, ...credentials }));
  if (best !== undefined && credentials[best] !== undefined) return;
  const why =
    "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
  throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
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
    const isUnchanged = error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected");
    if (!isUnchanged) {
      return error instanceof RequestError
        ? error
        : new InternalError({ secret: secretOf(subject), word: kind.word }, error);
    }
    undo();
    throw error;
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
  const isUnshown = (name: CredentialName) => !isShown(memory, name, shownIn(subject, run));
  const isOpen =
    missingIn(memory).length > 0 || (isUnsaved(memory.declared) && knownIn(memory.current).some(isUnshown));
  const last = context.canRead && isOpen ? await readUntilShown(subject, state, run) : undefined;
  if (last?.read) state = confirm(unconfirmed, [response, last.read], made, context);
  const values = credentialsIn(state);
  const expected = Object.keys({ ...unconfirmed.memory.current, ...unconfirmed.memory.pending?.before });
  const names = expected.filter((name) => !Object.hasOwn(values, name));
  const isKnown = names.length === 0 && (bestOf(values) !== undefined || !context.canRead);
  return { state, findings: isKnown ? [] : [{ kind: "unknown", names, why: last?.why }] };
}

function refusal(subject: Subject, { code, why }: Extract<Plan, { kind: "refuse" }>): RekeyError {
  return new RefusedError(code, { secret: secretOf(subject), why });
}
