import { type Notice } from "../resource/resource";
import { type AccessCredential, type AccessRetirement } from "../rotation/program/access";
import { oldestFormer, validUntil } from "../rotation/program/formers";
import { noticeAbout } from "../rotation/messages/messages";
import { type Failure, type Tools, verify } from "./attempts";
import { formersOf, isFormerRefused } from "./formers";
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
  if (!entry || entry.failure || !isAbout(entry, target)) return true;
  const { current, retire } = target;
  if (current && !retire && entry.accepted?.mark !== current.mark) return true;
  return withoutUnsaved(entry.accepted, target) !== entry.accepted;
}

/** True if an entry is about the credential that is current now. */
function isAbout({ count, mark }: Entry, target: Target): boolean {
  return count === target.count && mark === target.current?.mark;
}

/** A credential without its value if the rotation no longer saves values: its mark is enough to compare it. */
function withoutUnsaved(accepted: Entry["accepted"], { current }: Target): Entry["accepted"] {
  if (accepted?.value === undefined || !current || current.value !== undefined) return accepted;
  return { ...accepted, value: undefined };
}

/** Verifies one secret, if it is due, and returns what to save of it. */
export async function verifyTarget(
  target: Target,
  entry: Entry | undefined,
  tools: Tools,
): Promise<Verified> {
  if (entry && !isDue(target, entry)) return { target, entry };
  const { count, current } = target;
  const failure = entry && isAbout(entry, target) ? entry.failure : undefined;
  const accepted = withoutUnsaved(entry?.accepted, target);
  const next: Entry = { count, mark: current?.mark, accepted };
  if (!current) return { target, entry: next };
  if (failure && isLasting(failure, target)) return { target, entry: { ...next, failure } };
  const verified = await verifyKnown({ ...target, current }, next, entry, tools);
  const { failure: found } = verified.entry;
  const redacted = found && { ...found, reason: tools.run.redacted(found.reason) };
  return { ...verified, target, entry: { ...verified.entry, failure: redacted } };
}

/**
 * Verifies a secret whose current one is known. A former one that is valid is not tried.
 *
 * @param next what to save if nothing more is learned
 * @param before what was accepted before; undefined before the first verification
 */
async function verifyKnown(
  target: KnownTarget,
  next: Entry,
  before: Entry | undefined,
  tools: Tools,
): Promise<Omit<Verified, "target">> {
  const { current, retire } = target;
  const formers = retire ? [] : formersOf(target, before, tools.run);
  const failure = await verify(target, formers, tools);
  if (failure) return { entry: { ...next, failure } };
  if (retire) return { entry: next, notices: [keptNotice(target, retire)] };
  const formerRefused = isFormerRefused(target, before, formers);
  return { entry: { ...next, accepted: current, formerRefused } };
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
