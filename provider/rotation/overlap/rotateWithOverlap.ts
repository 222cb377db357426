import { InternalError, RefusedError, RekeyError, SettingsError } from "../../domain/errors";
import { secretOf } from "../../domain/secretKind";
import { poll } from "../../run/poll";
import { type Desired } from "../desired";
import { type Finding, type Learned, type Rotated } from "../findings";
import { refusalError } from "../messages";
import { type Plan, type Reset } from "../plan";
import { planRotation } from "../planRotation";
import { readBeforeChange } from "../reads";
import { saveLearned } from "../save";
import { type Session } from "../session";
import { credentialsIn, type State } from "../state";
import { noOverlap, lastsOf } from "./overlap";
import { incomplete, notProven, withAdded, withUnproven, withUnsaved } from "./added";
import { withoutOverlap } from "./overlapEvidence";
import { type Added, type OverlapSource, retirementOf } from "./source";

/** A session about a secret of which two may be valid. */
export type OverlapSession = Session & { readonly source: OverlapSource };

/**
 * Rotates a secret without an outage: reads, retires the former one first if it is asked for, adds another one, proves
 * it, and saves it as current. The one before it stays valid until it is retired.
 */
export async function rotateWithOverlap(
  saved: State | undefined,
  desired: Desired,
  session: OverlapSession,
): Promise<Rotated> {
  const { subject, source, context, reads } = session;
  const learned = await readBeforeChange(session, "reset", () => source.read(saved, desired));
  const known = saved || desired.initialRotation === false ? learned.state : undefined;
  const read = { shown: {}, shownInRun: reads, isRolledOnce: false };
  const plan = planRotation(known, desired, { ...context, read });
  if (plan.kind === "refuse") throw refusalError(subject, plan);
  if (plan.kind === "reset") return replace(learned, plan, desired, session);
  if (plan.kind === "retire") return saveRotated(await retire(learned, session), session);
  if (plan.kind === "save") {
    const failure = await source.save?.();
    const state = withUnsaved(learned.state, failure);
    return saveRotated({ ...learned, state, failure }, session);
  }
  return saveLearned(withWaiting(learned, plan), session);
}

/** Reports that two are valid if the schedule waits until a verification retires the former one. */
function withWaiting({ state, findings }: Learned, plan: Plan): Learned {
  const waits = state.memory.overlap && "waits" in plan ? plan.waits : undefined;
  return {
    state,
    findings: waits ? [...findings, { kind: "twoValid", why: waits.why }] : findings,
  };
}

/** Retires the former one, if there is one and the current one is valid. After a failure, both stay valid. */
async function retire(
  { state, findings }: Learned,
  session: OverlapSession,
  kind: "retired" | "retiredFirst" = "retired",
): Promise<Rotated> {
  const { source, context } = session;
  const { overlap } = state.memory;
  if (!overlap) return { state, findings };
  try {
    const { result, failure } = await source.retire(retirementOf(state, overlap));
    if (result === "kept") return { state, findings };
    const next = withUnsaved(withoutOverlap(state), failure);
    if (result === "already") return { state: next, findings, failure };
    return {
      state: { ...next, formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind, why: overlap.since }],
      failure,
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/**
 * Retires the former one, adds a secret, proves it, and makes it the current one. Whatever fails then, nothing valid is
 * removed.
 *
 * @throws RekeyError if nothing was changed, also for the limit of the run
 */
async function replace(
  learned: Learned,
  due: Reset,
  desired: Desired,
  session: OverlapSession,
): Promise<Rotated> {
  const { subject, run, source, replacedValues } = session;
  requireSettings(session);
  const undo = run.reserveReset(secretOf(subject));
  const before = await retire(learned, session, "retiredFirst");
  if (before.failure) {
    undo();
    return saveRotated(before, session);
  }
  let added: Added | undefined;
  try {
    added = await source.add(before.state);
    const proof = await prove(added, session);
    if (proof.kind !== "accepted") {
      const failure = added.lost ?? notProven(subject, proof);
      const state = withUnproven(before.state, due, desired, added);
      return await saveRotated({ state, findings: before.findings, failure }, session);
    }
    replacedValues.push(...session.reads, credentialsIn(before.state));
    const next: Learned = {
      state: withUnsaved(withAdded(before.state, added, { desired, due, session }), added.failure),
      findings: findingsOf(before, added),
    };
    const rotated: Rotated = lastsOf(desired) === noOverlap ? await retire(next, session) : next;
    const failure = rotated.failure ?? added.failure;
    return await saveRotated({ ...rotated, failure }, session, true);
  } catch (error) {
    return afterFailure(error, { before, due, desired, added, undo }, session);
  }
}

/** @throws RekeyError before anything is changed, if what is added could not be proven */
function requireSettings({ subject, source }: OverlapSession): void {
  try {
    source.requireSettings?.();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const why = `${error.problem}. ${error.advice.replace(/\.$/, "")}`;
    throw new RefusedError(error.code, { secret: secretOf(subject), why, overlaps: true });
  }
}

/** Tries what was added until it is accepted: a platform may accept a secret later than it returns it. */
function prove(added: Added, { run, source }: OverlapSession) {
  const { clock, settings } = run.options;
  return poll(run, {
    act: () => source.prove(added),
    isDone: ({ kind }) => kind === "accepted",
    endsAtMs: clock.elapsedMs() + settings.deadlineMs,
  });
}

/** An adoption is not reported any more once something was added. */
function findingsOf(before: Learned, { isOfUnknownAge, findings = [] }: Added): Finding[] {
  const earlier = before.findings.filter(({ kind }) => kind !== "adopted");
  return [...earlier, ...findings, ...(isOfUnknownAge ? [{ kind: "unknownAge" } as const] : [])];
}

/** What is known when adding or saving a secret fails. */
interface Failed {
  readonly before: Learned;
  readonly due: Reset;
  readonly desired: Desired;
  readonly added: Added | undefined;
  /** Returns the reset to the limit of the run. */
  readonly undo: () => void;
}

/**
 * If a secret was, or may have been, added, that is saved with the failure. Otherwise, the error is thrown, unless the
 * former one was retired first: that is saved, too.
 */
async function afterFailure(
  error: unknown,
  { before, due, desired, added, undo }: Failed,
  session: OverlapSession,
): Promise<Rotated> {
  const { subject } = session;
  const unproven: Learned = {
    ...before,
    state: withUnproven(before.state, due, desired, added),
  };
  if (!(error instanceof RekeyError)) {
    // It is not saved by `saveRotated`, whose encryption may be what has failed.
    const facts = { secret: secretOf(subject), word: subject.kind.word };
    return { ...unproven, failure: new InternalError(facts, error) };
  }
  if (added !== undefined || error.delivery === "maybe applied") {
    const isAdded = added !== undefined && added.lost === undefined;
    return saveRotated({ ...unproven, failure: added?.lost ?? error }, session, isAdded);
  }
  undo();
  if (retiredBy(before)) return saveRotated({ ...before, failure: error }, session);
  throw error;
}

/** Saves what was done. Its own failure has precedence over that of the encryption. */
async function saveRotated(
  { failure, ...learned }: Rotated,
  session: Session,
  isAdded = false,
): Promise<Rotated> {
  const saved = await saveLearned(learned, session);
  const done = { isAdded, retired: retiredBy(learned) };
  const own = failure && incomplete(session.subject, done, failure);
  return { ...saved, failure: own ?? saved.failure };
}

/** Which one this run has retired, as it is called in the run. */
function retiredBy({ findings }: Learned): "former" | "older" | undefined {
  if (findings.some(({ kind }) => kind === "retired")) return "former";
  return findings.some(({ kind }) => kind === "retiredFirst") ? "older" : undefined;
}
