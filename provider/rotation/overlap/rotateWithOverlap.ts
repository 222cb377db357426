import { InternalError, RekeyError } from "../../domain/errors";
import { secretOf } from "../../domain/secretKind";
import { poll } from "../../run/poll";
import { type Desired } from "../desired";
import { type Learned, type Rotated } from "../findings";
import { refusalError } from "../messages";
import { type Plan, type Reset } from "../plan";
import { planRotation } from "../planRotation";
import { readBeforeChange } from "../reads";
import { saveLearned } from "../save";
import { type Session } from "../session";
import { credentialsIn, type State } from "../state";
import { noOverlap, lastsOf } from "./overlap";
import { begun, notProven, withAdded } from "./added";
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
  source.requireSettings();
  const learned = await readBeforeChange(session, "reset", () => source.read(saved, desired));
  const known = saved || desired.initialRotation === false ? learned.state : undefined;
  const read = { shown: {}, shownInRun: reads, isRolledOnce: false };
  const plan = planRotation(known, desired, { ...context, read });
  switch (plan.kind) {
    case "refuse":
      throw refusalError(subject, plan);
    case "reset":
      return add(await retire(learned, session), plan, desired, session);
    case "retire":
      return saveRotated(await retire(learned, session), session);
    default:
      return saveLearned(withWaiting(learned, plan), session);
  }
}

/** Two are valid, and the schedule waits for a verification. */
function withWaiting({ state, findings }: Learned, plan: Plan): Learned {
  const { overlap } = state.memory;
  if (!overlap || !("waits" in plan) || !plan.waits) return { state, findings };
  return { state, findings: [...findings, { kind: "twoValid", why: overlap.since }] };
}

/** Retires the former one, unless the current one is not valid. A failure says why it was not: both are valid then. */
async function retire({ state, findings }: Learned, session: OverlapSession): Promise<Rotated> {
  const { source, context } = session;
  const { overlap } = state.memory;
  if (!overlap) return { state, findings };
  try {
    const retired = await source.retire(retirementOf(state, overlap));
    if (retired === "kept") return { state, findings };
    if (retired === "already") return { state: withoutOverlap(state), findings };
    return {
      state: { ...withoutOverlap(state), formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind: "retired", why: overlap.since }],
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/** Adds a secret, proves it, and makes it the current one. Whatever fails, nothing valid is removed. */
async function add(
  before: Rotated,
  due: Reset,
  desired: Desired,
  session: OverlapSession,
): Promise<Rotated> {
  if (before.failure) return saveRotated(before, session);
  const { subject, run, source, replacedValues } = session;
  const undo = run.reserveReset(secretOf(subject));
  let added: Added | undefined;
  try {
    added = await source.add(before.state);
    const proof = await prove(added, session);
    if (proof.kind !== "accepted") {
      const failure = added.lost ?? notProven(subject, proof);
      return await saveRotated({ ...begunFrom(before, due, desired, added), failure }, session);
    }
    replacedValues.push(...session.reads, credentialsIn(before.state));
    const state = withAdded(before.state, added, { desired, due, session });
    const next = lastsOf(desired) === noOverlap ? retire : asItIs;
    const rotated = await next({ state, findings: foundOf(before, added) }, session);
    return await saveRotated({ ...rotated, failure: rotated.failure ?? added.failure }, session);
  } catch (error) {
    return afterFailure(error, { before, due, desired, added, undo }, session);
  }
}

const asItIs = async (learned: Learned): Promise<Rotated> => learned;

function foundOf(before: Rotated, { isOfUnknownAge, findings = [] }: Added): Rotated["findings"] {
  const earlier = before.findings.filter(({ kind }) => kind !== "adopted");
  return [...earlier, ...findings, ...(isOfUnknownAge ? [{ kind: "unknownAge" } as const] : [])];
}

function begunFrom(
  { state, findings }: Rotated,
  due: Reset,
  desired: Desired,
  added?: Added,
): Rotated {
  return { state: begun(state, due, desired, added), findings };
}

/** A platform may accept it later than it returns it. */
function prove(added: Added, { run, source }: OverlapSession) {
  const { clock, settings } = run.options;
  return poll(run, {
    act: () => source.prove(added),
    isDone: ({ kind }) => kind === "accepted",
    endsAtMs: clock.elapsedMs() + settings.deadlineMs,
  });
}

interface Failed {
  readonly before: Rotated;
  readonly due: Reset;
  readonly desired: Desired;
  readonly added: Added | undefined;
  readonly undo: () => void;
}

/** What was not added fails as it is, unless the former one was retired first. What may have been is remembered. */
async function afterFailure(
  error: unknown,
  { before, due, desired, added, undo }: Failed,
  session: OverlapSession,
): Promise<Rotated> {
  const { subject } = session;
  const begunRotation = begunFrom(before, due, desired, added);
  if (!(error instanceof RekeyError)) {
    // Saving it in another form may be what has failed.
    const facts = { secret: secretOf(subject), word: subject.kind.word };
    return { ...begunRotation, failure: new InternalError(facts, error) };
  }
  if (added !== undefined || error.delivery === "maybe applied") {
    return saveRotated({ ...begunRotation, failure: error }, session);
  }
  undo();
  const isRetired = before.findings.some(({ kind }) => kind === "retired");
  if (isRetired) return saveRotated({ ...before, failure: error }, session);
  throw error;
}

async function saveRotated({ failure, ...learned }: Rotated, session: Session): Promise<Rotated> {
  const saved = await saveLearned(learned, session);
  return { ...saved, failure: failure ?? saved.failure };
}
