import { isDeepStrictEqual } from "node:util";
import { RekeyError } from "../domain/errors";
import { secretOf, type Subject } from "../domain/secretKind";
import { valuesOf } from "../records/fields";
import { type Run } from "../run/run";
import { withAdmin } from "./admin";
import { tryRecipients } from "./ageFile";
import { type Desired, formOf, programOf } from "./desired";
import { adopted } from "./afterRead";
import { canonicalTrigger, triggerMark } from "./marks";
import { credentialsIn, type Memory, type State, withForm } from "./state";
import { type Learned, type Rotated } from "./findings";
import { refusalError } from "./messages";
import { addsSecret, withLasts } from "./overlap/overlap";
import { type OverlapSession, rotateWithOverlap } from "./overlap/rotateWithOverlap";
import { isReadFirst, type Plan } from "./plan";
import { planRotation } from "./planRotation";
import { readBefore, readBeforeChange, tryRead } from "./reads";
import { type Before, sendReset } from "./reset";
import { saveLearned } from "./save";
import { openSession, type Session } from "./session";
import { claimed } from "./signingKeys";

/**
 * Makes one secret what the program asks for: plans, reads, plans again, sends, reads what is still open, and saves.
 *
 * @param run that of a Create or an Update that is not a preview; an import, whose run may only read, adopts
 */
export async function rotate(
  subject: Subject,
  saved: State | undefined,
  desired: Desired,
  run: Run,
): Promise<Rotated> {
  const session = openSession(subject, run, desired);
  const plan = planRotation(saved, desired, session.context);
  const rotated = await carryOut(plan, saved, desired, session);
  const memory = withLasts(rotated.state.memory, desired);
  const state = { ...rotated.state, memory: { ...memory, ...programOf(desired) } };
  return { ...rotated, state: withAdmin(state, desired, run) };
}

/** Plans that are not limited to one in a run. */
const repeatable: readonly Plan["kind"][] = ["retire", "save"];

async function carryOut(
  plan: Plan,
  saved: State | undefined,
  desired: Desired,
  session: Session,
): Promise<Rotated> {
  const { subject, run, context } = session;
  if (saved && (plan.kind === "keep" || plan.kind === "rewrite")) {
    return { state: withAdoption(saved, desired), findings: [] };
  }
  if (saved && plan.kind === "read") return readAndSave(saved, desired, session);
  if (plan.kind === "refuse" && !isReadFirst(saved, plan, context)) {
    throw refusalError(subject, plan);
  }
  await tryRecipients(subject, formOf(desired), run);
  if (repeatable.includes(plan.kind)) return change(plan, saved, desired, session);
  // A program may adopt a secret and rotate it in the same run, so an adoption does not count as its reset.
  if (plan.kind === "adopt" && !plan.mayReset) {
    return saveLearned(await adoptSecret(desired, session), session);
  }
  return once(session, saved, desired, () => change(plan, saved, desired, session));
}

/** Changes the secret, unless a read shows that it is not due any more. */
async function change(
  plan: Plan,
  saved: State | undefined,
  desired: Desired,
  session: Session,
): Promise<Rotated> {
  // With `none`, a token is replaced at once, but may have a former one that is still to be retired.
  const isOverlap = plan.kind === "retire" || addsSecret(session.subject.kind, desired);
  if (hasSource(session) && isOverlap) return rotateWithOverlap(saved, desired, session);
  if (plan.kind === "adopt") return actOn(await adoptSecret(desired, session), desired, session);
  return resetIfStillDue(saved, desired, session);
}

function hasSource(session: Session): session is OverlapSession {
  return session.source !== undefined;
}

/** Reads a secret for a refresh, and prepares what is saved. It resets nothing and never fails. */
export async function refresh(subject: Subject, saved: State, run: Run): Promise<Rotated> {
  const session = openSession(subject, run, { admin: saved.admin?.given });
  const learned = await tryRead(session, saved, true);
  const { failure, ...next } = await saveLearned(learned, session);
  if (!failure) return next;
  const why =
    "was read, but could not be encrypted for encryptFor. Check the recipients and the installation of age-encryption.";
  return { state: saved, findings: [{ kind: "failed", why }] };
}

/**
 * Resets a secret at most once in a run for one trigger. An engine may repeat a call (an error hook does): it then gets
 * the first call's result, and nothing is sent again. What was certainly not applied may be tried again.
 */
function once(
  { subject, run }: Session,
  saved: State | undefined,
  desired: Desired,
  act: () => Promise<Rotated>,
): Promise<Rotated> {
  const results = run.shared.results as Map<string, Promise<Rotated>>;
  const key = JSON.stringify([secretOf(subject), canonicalTrigger(desired)]);
  const known = results.get(key);
  if (known) return known;
  const result = act();
  results.set(key, result);
  const forget = () => results.delete(key);
  result.then((rotated) => wasNotMade(rotated, saved) && forget(), forget);
  return result;
}

/** Whether nothing was reset or added. What failed may be a later request than the one that added a secret. */
function wasNotMade({ state, failure }: Rotated, saved: State | undefined): boolean {
  const isAdded =
    state.rotationCount !== (saved?.rotationCount ?? 0) ||
    state.memory.added !== saved?.memory.added;
  return !isAdded && (failure?.delivery === "not sent" || failure?.delivery === "rejected");
}

/** The first `up` after an import adopts the trigger and the form of the program. */
function withAdoption(state: State, desired: Desired): State {
  const { memory } = state;
  const { applied = triggerMark(memory, desired), form = formOf(desired) } = memory;
  return { ...state, memory: { ...memory, applied, form } };
}

/** Reads what is not known yet. What someone else has replaced is saved in the form of the program. */
async function readAndSave(saved: State, desired: Desired, session: Session): Promise<Rotated> {
  const { subject, run } = session;
  // Fails if a setting is missing, which `tryRead` would only report.
  run.platform.operations(subject.kind);
  await tryRecipients(subject, formOf(desired), run);
  const learned = await tryRead(session, saved);
  const state = withAdoption(learned.state, desired);
  const { memory } = state;
  const isReplaced = !isDeepStrictEqual(memory.current, saved.memory.current);
  const form = isReplaced ? formOf(desired) : memory.form;
  // An import whose first read fails is read by the next `up`.
  const isFailed = learned.findings.some(({ kind }) => kind === "failed");
  const isStillUnread = isFailed && saved.memory.applied === undefined;
  const next: Memory = {
    ...memory,
    ...programOf(desired),
    form,
    isUnread: memory.isUnread ?? (isStillUnread || undefined),
  };
  return saveLearned({ state: { ...state, memory: next }, findings: learned.findings }, session);
}

/** The state of a secret that is adopted without a reset. */
async function adoptSecret(
  desired: Desired,
  session: Session,
): Promise<Before & { readonly state: State }> {
  const { subject, run, context, source } = session;
  // Both fail if a setting is missing, even for an adoption, which may send nothing.
  if (source) {
    const learned = await readBeforeChange(session, "adopted", () =>
      source.read(undefined, desired),
    );
    return { ...learned, read: undefined, isNews: true };
  }
  run.platform.operations(subject.kind);
  const read = context.canRead ? await readBefore(session, "adopted") : undefined;
  return { ...adopted(desired, read, context), read, isNews: true };
}

/** Reads first, if the platform can be read: a reset that was applied before needs nothing else. */
async function resetIfStillDue(
  saved: State | undefined,
  desired: Desired,
  session: Session,
): Promise<Rotated> {
  const { subject, run, context, evidence } = session;
  // Settings that are missing or cannot be used are found before anything is sent.
  run.platform.operations(subject.kind);
  if (subject.kind.authorizesQueue) run.options.settings.get("queueUserId");
  run.platform.secrets.add(valuesOf(credentialsIn(saved)));
  const read = context.canRead ? await readBefore(session, "reset") : undefined;
  if (!saved || !read) {
    return actOn({ state: saved, read, findings: [], isNews: false }, desired, session);
  }
  const learned = evidence.afterRead(saved, read, context);
  return actOn({ ...learned, read, isNews: isNews(saved, learned.state) }, desired, session);
}

/** Whether the read before a reset has settled a pending one, or noticed a roll: that is saved even after a failure. */
function isNews({ memory: before }: State, { memory: after }: State): boolean {
  return before.pending !== after.pending || before.current.currentKey !== after.current.currentKey;
}

/** Plans again, and sends the reset if it is still due. */
async function actOn(before: Before, desired: Desired, session: Session): Promise<Rotated> {
  const { subject, context, reads } = session;
  const read = {
    shown: before.read?.credentials ?? {},
    shownInRun: reads,
    isRolledOnce: before.isRolledOnce === true,
  };
  const plan = planRotation(before.state, desired, { ...context, read });
  try {
    if (plan.kind === "refuse") throw refusalError(subject, plan);
    if (plan.kind === "reset") return await sendReset(before, desired, plan, session);
  } catch (error) {
    if (!before.isNews || !(error instanceof RekeyError)) throw error;
    // What the read has shown is saved, although nothing was reset.
    return { ...(await saveLearned(learnedIn(before, desired), session)), failure: error };
  }
  const learned = learnedIn(before, desired);
  return saveLearned(plan.kind === "claim" ? claimed(learned, desired) : learned, session);
}

/** What a read has shown of a saved secret. A reset that it has settled is saved in the form of the program. */
function learnedIn({ state, findings, isNews }: Before, desired: Desired): Learned {
  if (state === undefined) throw new Error("without a state, a reset is due");
  return { state: isNews ? withForm(state, formOf(desired)) : state, findings };
}
