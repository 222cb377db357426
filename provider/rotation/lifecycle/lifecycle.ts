import { isDeepStrictEqual } from "node:util";
import { InternalError, RefusedError, RekeyError, SettingsError } from "../../domain/errors";
import { secretOf } from "../../domain/secretKind";
import { jsonText } from "../../pulumi/values";
import { isServerChanged } from "../program/admin";
import { tokenOnly } from "./afterRead";
import { tryRecipients } from "../memory/ageFile";
import {
  type Before,
  beforeFirst,
  failedRead,
  notHandedOver,
  readBefore,
  type UpSession,
} from "./before";
import { type Finding, type StateChange, type RotationResult } from "../messages/findings";
import { dueFormers, oldestFormer, validFormers, withOverlapOf } from "../program/formers";
import { withAttempt, withAttemptFacts, handOver, type Made } from "./handOver";
import { marksOf, triggerMark } from "../memory/marks";
import { type Former, type Memory } from "../memory/memory";
import { type Addition, failureAfter, refusalError, savedAdvice } from "../messages/messages";
import { isReadFirst, type Plan, type Rotation } from "../program/plan";
import { planRotation } from "../plan/planRotation";
import { noOverlap, savedProgram } from "../program/program";
import { retire, withUnsaved } from "./retire";
import { save } from "./save";
import { isOlder } from "../memory/schedule";
import { secondRollAt } from "../plan/signingKeys";
import { type Added, type Proof, type ReadResult, type Session } from "./source";
import { type AttemptedState, credentialsIn, isSame, type State, withAdmin } from "../memory/state";

/**
 * Makes one secret what the program asks for: plans, reads, plans again, rotates, and saves.
 *
 * @param session of a Create or an Update that is not a preview; an import, whose run may only read, adopts
 */
export async function rotate(
  saved: State | undefined,
  session: UpSession,
): Promise<RotationResult> {
  const { subject, program, run } = session;
  const plan = planRotation(saved, program, session.context);
  if (saved && plan.kind === "keep") {
    return withProgram({ state: { ...saved, waits: plan.waits?.why }, findings: [] }, session);
  }
  if (plan.kind === "refuse" && !isReadFirst(saved, plan, session.context)) {
    throw refusalError(subject, plan);
  }
  await tryRecipients(subject, program.form, run);
  const act = () => readAndAct(plan, saved, session);
  // A repeated call may do what the first one has left: it has the state that the first one has saved.
  const isUpkeep = ["read", "retire", "save"].includes(plan.kind);
  return isUpkeep ? act() : oncePerTrigger(session, saved, act);
}

/** Reads a secret for a refresh, and prepares what is saved. It changes nothing and never fails. */
export async function refresh(saved: State, session: Session): Promise<RotationResult> {
  const { subject, context, source } = session;
  if (!context.canRead) return { state: saved, findings: [] };
  try {
    const learned = source.afterRead(saved, await source.read(saved));
    const { failure, ...next } = await save(learned, session);
    if (!failure) return next;
    const why =
      "was read, but could not be encrypted for encryptFor. Check the recipients and the installation of age-encryption.";
    return { state: saved, findings: [{ kind: "failed", why }] };
  } catch (error) {
    const advice = savedAdvice(subject.kind.service, error);
    return { state: saved, findings: [failedRead(error, advice)] };
  }
}

/**
 * Rotates a secret at most once in a run for one trigger. An engine may repeat a call (an error hook does): it then
 * gets the first call's result, and nothing is sent again. What was certainly not applied may be tried again.
 */
function oncePerTrigger(
  { subject, run, program }: UpSession,
  saved: State | undefined,
  act: () => Promise<RotationResult>,
): Promise<RotationResult> {
  const results = run.shared.results as Map<string, Promise<RotationResult>>;
  const key = JSON.stringify([secretOf(subject), program.trigger]);
  const known = results.get(key);
  if (known) return known;
  const result = act();
  results.set(key, result);
  const forget = () => results.delete(key);
  result.then((rotated) => wasNotMade(rotated, saved) && forget(), forget);
  return result;
}

/**
 * True if nothing was made, as by an adoption, after which the same run may rotate. What failed may be a later request
 * than the one that made a secret.
 */
function wasNotMade({ state, failure }: RotationResult, saved: State | undefined): boolean {
  const isMade =
    state.rotationCount !== (saved?.rotationCount ?? 0) ||
    !isDeepStrictEqual(state.memory.attempt, saved?.memory.attempt);
  return !isMade && (failure === undefined || failure.delivery !== "maybe applied");
}

/** Reads, plans again with what the read has shown, and acts. */
async function readAndAct(
  planned: Plan,
  saved: State | undefined,
  session: UpSession,
): Promise<RotationResult> {
  const { context, program, reads } = session;
  const before = await readBefore(planned, saved, session);
  const { state, readResult, findings } = before;
  const plan = planRotation(state, program, {
    ...context,
    read: {
      shown: readResult?.credentials ?? {},
      shownInRun: reads,
      goneReason: readResult?.goneReason,
      isOtherServer: readResult?.isOtherServer,
      isForeign: before.isForeign,
    },
  });
  try {
    return await carryOut(plan, before, session);
  } catch (error) {
    const isNews = state !== undefined && isChangedBy(state, saved);
    if (!isNews || !(error instanceof RekeyError)) throw error;
    // The result of the read is saved, although nothing was rotated.
    return { ...(await finish({ state, findings }, session)), failure: error };
  }
}

/** Carries out a plan that was made after the read. */
async function carryOut(plan: Plan, before: Before, session: UpSession): Promise<RotationResult> {
  const { subject, source } = session;
  const { state, readResult, findings } = before;
  if (plan.kind === "refuse") throw refusalError(subject, plan);
  if (plan.kind === "rotate") return performRotation(before, plan, session);
  if (state === undefined) throw new Error("without a state, a rotation is due");
  const { waits } = plan;
  const waiting: Finding[] = waits && readResult ? [{ kind: "waits", why: waits.why }] : [];
  const kept = { state: { ...state, waits: waits?.why }, findings: [...findings, ...waiting] };
  if (plan.kind === "retire") {
    return finish(await retire(kept, plan.formers, session), session);
  }
  if (plan.kind === "save") {
    const failure = await source.save?.();
    return finish({ ...kept, state: withUnsaved(kept.state, failure), failure }, session);
  }
  const former = readResult && oldestFormer(state.memory);
  const left: Finding[] = former ? [{ kind: "leavesFormer", why: former.since }] : [];
  return finish({ ...kept, findings: [...kept.findings, ...left] }, session);
}

/** True if a read has shown something that must be saved, whatever follows. */
function isChangedBy({ memory }: State, saved: State | undefined): boolean {
  const newsIn = ({ current, attempt, formers, kindFacts }: Memory) => {
    return [current.marks, current.mustRead, attempt, formers, kindFacts.unknown];
  };
  return !saved || !isSame(newsIn(saved.memory), newsIn(memory));
}

/**
 * The lifecycle of one rotation: reserves, retires first what a date demands, adds, proves, and hands over. From `add`
 * on, whatever happens ends in what was delivered and a failure that says that the secret may have changed.
 *
 * @throws RekeyError if nothing was changed, also for the limit of the run
 */
async function performRotation(
  before: Before,
  due: Rotation,
  session: UpSession,
): Promise<RotationResult> {
  const { subject, run, context, program, source, replacedValues } = session;
  const { readResult } = before;
  requireSettings(session);
  const undo = run.reserveReset(secretOf(subject));
  const { state: first, findings } = beforeFirst(before, session);
  const retired = await retire(
    { state: first, findings: findings.filter(({ kind }) => kind !== "adopted") },
    retiredFirst(first, readResult, session),
    session,
    "retiredFirst",
  );
  if (retired.failure) {
    undo();
    return finish(retired, session);
  }
  const hasRetired = retired.state !== first;
  const shown = marksOf(first.memory, readResult?.credentials ?? {});
  const sent = withAttempt(retired.state, due, program, shown, context);
  let added: Added | undefined;
  let kept: StateChange = { state: sent, findings: retired.findings };
  try {
    // A retirement makes the read before it stale.
    added = await source.add(sent, hasRetired ? undefined : readResult);
    const open = withAdded(sent, added);
    kept = { state: open, findings: [...kept.findings, ...(added.findings ?? [])] };
    replacedValues.push(...session.reads, credentialsIn(before.state));
    const proof = await source.prove(open, added);
    if (!proof.made) {
      const unproven = withoutProof(open, kept.findings, proof, session);
      return await finish(notHandedOver(unproven, before), session, added);
    }
    // A change by someone else before the hand-over does not matter any more.
    const outdated = ["drift", "notCompared", "unknown"];
    const lasting = kept.findings.filter(({ kind }) => !outdated.includes(kind));
    kept = {
      state: withUnsaved(handOver(open, proof.made, context), added.unsaved),
      findings: [...lasting, ...proof.findings],
    };
    // With `none`, what stays valid at a hand-over is retired in the same run.
    const over = program.overlap === noOverlap ? validFormers(kept.state.memory) : [];
    const done = await retire(kept, over, session);
    kept = { ...done, findings: [...done.findings, ...problemsOf(done.state, session)] };
    // The retirement saves what the server had not saved.
    const unsaved = done.state.memory.kindFacts.isUnsaved ? added.unsaved : undefined;
    return await finish({ ...kept, failure: done.failure ?? unsaved }, session, added);
  } catch (error) {
    if (added || !(error instanceof RekeyError)) {
      return afterError(error, notHandedOver(kept, before), added, session);
    }
    undo();
    if (hasRetired) return finish({ ...retired, failure: error }, session);
    throw error;
  }
}

/** @throws RekeyError before anything is changed, if what is added could not be proven */
function requireSettings({ subject, source }: UpSession): void {
  try {
    source.requireSettings?.();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const why = `${error.problem}. ${error.advice.replace(/\.$/, "")}`;
    throw new RefusedError(error.code, { secret: secretOf(subject), why });
  }
}

/**
 * The result if something is thrown after a secret was, or may have been, made: all that was delivered, whatever it
 * is. It is not saved by `finish`, whose encryption may be what has failed.
 */
function afterError(
  error: unknown,
  learned: StateChange,
  added: Added | undefined,
  session: UpSession,
): RotationResult {
  const { state, findings } = learned;
  const addition = additionOf(state, added, session);
  const isHandedOver = state.memory.attempt === undefined;
  const delivered = addition || isHandedOver ? {} : added?.response?.credentials;
  const failure =
    addition && error instanceof RekeyError
      ? failureAfter(session.subject, added?.lost ?? error, learned, addition)
      : new InternalError(session.subject, error);
  return { state: { ...state, ...delivered }, findings, failure };
}

/** The secret that was made valid in addition to the current one, if there is one. */
function additionOf(
  { memory }: State,
  added: Added | undefined,
  { program }: UpSession,
): Addition | undefined {
  if (!added || !program.adds) return undefined;
  if (memory.attempt === undefined) return "handed over";
  return added.lost ? "lost" : "unproven";
}

/** Former ones that are retired first: those that are due, and, of a token, of which two can be valid, always. */
function retiredFirst(
  { memory }: State,
  readResult: ReadResult | undefined,
  { subject, program, context }: UpSession,
): readonly Former[] {
  if (readResult?.goneReason !== undefined || !program.adds) return [];
  if (subject.kind.maxValid === 2) return validFormers(memory);
  return dueFormers(memory, program, context)?.formers ?? [];
}

/** The state with an added secret, until it is proven. */
function withAdded(sent: AttemptedState, { attempt, kindFacts, unsaved }: Added): AttemptedState {
  const { memory } = sent;
  const next = { ...memory, kindFacts: { ...memory.kindFacts, ...kindFacts } };
  return withUnsaved(withAttemptFacts({ ...sent, memory: next }, attempt), unsaved);
}

/** The state after an attempt that is not proven, and why. What may be current is in `otherFields` only. */
function withoutProof(
  state: AttemptedState,
  findings: readonly Finding[],
  { failure, delivered = {}, attempt, foreignRead }: Exclude<Proof, { made: Made }>,
  { source }: UpSession,
): RotationResult {
  const isDelivered = Object.keys(delivered).length > 0;
  const next = withAttemptFacts(
    { ...state, ...(isDelivered && { otherFields: jsonText(delivered) }) },
    attempt,
  );
  const learned = foreignRead && source.afterRead(next, foreignRead);
  return learned
    ? { state: learned.state, findings: [...findings, ...learned.findings], failure }
    : { state: next, findings, failure };
}

/** Problems that are left after a confirmed rotation. */
function problemsOf(
  { memory, problems = [] }: State,
  { context, program, subject }: UpSession,
): Finding[] {
  const unreadable: Finding[] = problems.length > 0 ? [{ kind: "problems", names: problems }] : [];
  const known = [...unreadable, ...tokenOnly(memory.current.identity)];
  if (!isOlder(memory.current, program.rotatedSince, context.now)) return known;
  const kind = subject.kind.receiverDelay ? "olderKeys" : "older";
  return [...known, { kind, why: secondRollAt(memory, program, context) }];
}

/** Saves what was done. A failure of the rotation takes precedence over a failure to encrypt. */
async function finish(
  rotated: RotationResult,
  session: UpSession,
  added?: Added,
): Promise<RotationResult> {
  const { failure, ...learned } = withProgram(rotated, session);
  const saved = await save(learned, session);
  const addition = additionOf(learned.state, added, session);
  const own = failure && failureAfter(session.subject, failure, learned, addition);
  return { ...saved, failure: own ?? saved.failure };
}

/** The state with what the program says. The first `up` after an import adopts its trigger and form. */
function withProgram<T extends StateChange>(rotated: T, { program }: UpSession): T {
  const isElsewhere = isServerChanged(program.admin, rotated.state.memory);
  const state = isElsewhere ? rotated.state : withAdmin(rotated.state, program.admin);
  const memory = withOverlapOf(state.memory, program);
  const { applied = triggerMark(memory, program.trigger), current } = memory;
  const { form = program.form } = current;
  const next = {
    ...memory,
    applied,
    program: savedProgram(program, memory),
    current: { ...current, form },
  };
  return { ...rotated, state: { ...state, memory: next } };
}
