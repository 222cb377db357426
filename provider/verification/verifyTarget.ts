import { type Credential } from "../domain/endpoint";
import { secretOf } from "../domain/secretKind";
import { type Notice } from "../resource/resource";
import { type AccessCredential, type AccessRetirement } from "../rotation/program/access";
import { oldestFormer, validUntil } from "../rotation/program/formers";
import { saltedMark } from "../rotation/memory/marks";
import { noticeAbout } from "../rotation/messages/messages";
import { type Failure, type Tools, verify, withValue } from "./attempts";
import { type Run } from "../run/run";
import { type KnownTarget, type Target } from "./targets";

/** The saved state of one secret: the last verification, and its result. */
export interface Entry {
  /** Confirmed resets, and the mark of the current credential; undefined if that was not known. */
  readonly count: number;
  readonly mark?: string | undefined;
  readonly failure?: Failure | undefined;
  readonly formerRefused?: true | undefined;
  /**
   * The credential that the last verification has accepted, with its value if the rotation saves values: after the
   * next reset, or once it is retired, it must be refused.
   */
  readonly accepted?: AccessCredential | undefined;
}

/** The result for one secret. */
export interface Verified {
  readonly target: Target;
  readonly entry: Entry;
  readonly notices?: readonly Notice[];
}

/**
 * True if a secret is to be verified: it was changed, or its verification failed; its former one was retired; or the
 * accepted one must be saved without its value.
 */
export function isDue(target: Target, entry: Entry | undefined): boolean {
  const { current, retire } = target;
  if (!entry || entry.failure || !isAbout(entry, target)) return true;
  if (current && !retire && entry.accepted?.mark !== current.mark) return true;
  return withoutUnsaved(entry.accepted, target) !== entry.accepted;
}

/** True if an entry is about the credential that is current now, also if that is not known. */
function isAbout({ count, mark }: Entry, target: Target): boolean {
  return count === target.count && mark === target.current?.mark;
}

/** A credential without its value if the rotation no longer saves values: its mark is enough to compare it. */
function withoutUnsaved(accepted: Entry["accepted"], { current }: Target): Entry["accepted"] {
  if (accepted?.value === undefined || !current || current.value !== undefined) return accepted;
  return { ...accepted, value: undefined };
}

/** Verifies one secret, if it is due, and returns what to save of it. A former one that is valid is not tried. */
export async function verifyTarget(
  target: Target,
  entry: Entry | undefined,
  tools: Tools,
): Promise<Verified> {
  if (entry && !isDue(target, entry)) return { target, entry };
  const { count, current, retire } = target;
  const accepted = withoutUnsaved(entry?.accepted, target);
  const next: Entry = { count, mark: current?.mark, accepted };
  if (!current) return { target, entry: next };
  const last = entry && isAbout(entry, target) ? entry.failure : undefined;
  if (last && isLasting(last, target)) return { target, entry: { ...next, failure: last } };
  const known = { ...target, current };
  const formers = retire ? [] : formersOf(known, entry, tools.run);
  const failure = await verify(known, formers, tools);
  if (failure) {
    const reason = tools.run.redacted(failure.reason);
    return { target, entry: { ...next, failure: { ...failure, reason } } };
  }
  if (retire) return { target, entry: next, notices: [keptNotice(target, retire)] };
  const formerRefused = isFormerRefused(target, entry, formers);
  return { target, entry: { ...next, accepted: current, formerRefused } };
}

function keptNotice({ subject }: Target, { formers }: AccessRetirement): Notice {
  const oldest = oldestFormer({ formers });
  const until = validUntil(oldest) ?? "a Retirement retires it";
  const text = `the former ${subject.kind.word} was not tried: it stays valid until ${until}. More than one has been valid since ${oldest?.since}.`;
  return noticeAbout(subject, { text });
}

/** True if a failure lasts until the next reset: no later run can try an old credential that is not saved. */
export function isLasting({ isOfFormer }: Failure, { current }: Target): boolean {
  return isOfFormer === true && current?.value === undefined;
}

/**
 * The credentials that must be refused by now, as far as their values are known: what was accepted before, and what was
 * replaced. What is not saved can be tried only in the run that has replaced it.
 */
function formersOf(
  target: KnownTarget,
  { accepted }: Pick<Entry, "accepted"> = {},
  run: Run,
): Credential[] {
  const { subject, salt, current, former } = target;
  const isReplaced = accepted !== undefined && accepted.mark !== current.mark;
  const isOfRun = former !== undefined && current.value === undefined;
  const ofRun = run.shared.replacedValues.get(secretOf(subject)) ?? [];
  const isFormer = (value = "") => saltedMark(salt, value) === former?.mark;
  const known = [
    isReplaced && withValue(accepted, accepted.value),
    isOfRun && withValue(former, ofRun.map(({ [former.name]: value }) => value).find(isFormer)),
  ].flatMap((one) => (one && one.name === current.name ? one : []));
  return known.filter(({ value }, nth) => known.findIndex((one) => one.value === value) === nth);
}

/**
 * True if the old credential is proven to be refused. After two resets without a verification between them, nothing is
 * claimed: the credential in between was never tried.
 *
 * @param before undefined before the first verification
 */
function isFormerRefused(
  { former, salt }: Target,
  before: Entry | undefined,
  tried: readonly Credential[],
): true | undefined {
  const isTried = tried.some(({ value }) => saltedMark(salt, value) === former?.mark);
  const isAccepted = before?.accepted && before.accepted.mark === former?.mark;
  return (isTried && (!before || isAccepted)) || undefined;
}
