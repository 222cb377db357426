import { type Notice } from "../resource/resource";
import { type AccessCredential, type AccessRetirement } from "../rotation/access";
import { saltedMark } from "../rotation/marks";
import { type Failure, type Tools, verify } from "./attempts";
import { formersOf, isFormerRefused } from "./formers";
import { keptNotice, retiredNotice, retireFormerOf } from "./retirement";
import { type KnownTarget, type Target } from "./targets";

/** What is saved of one secret: what was verified last, and the result. */
export interface Entry {
  /** Confirmed resets, and the mark of the current credential; undefined if that was not known. */
  readonly count: number;
  readonly mark?: string | undefined;
  readonly failure?: Failure | undefined;
  readonly formerRefused?: true | undefined;
  /**
   * The credential that the last successful verification has accepted, with its value if the rotation saves values:
   * after the next reset, it must be refused.
   */
  readonly accepted?: AccessCredential | undefined;
  /** The former one that was not tried, because it is valid until it is retired. It must be refused then. */
  readonly kept?: { readonly former?: AccessCredential | undefined } | undefined;
  /** What this resource has retired, if the server has not saved that: only this resource knows of it. */
  readonly unsaved?: AccessRetirement | undefined;
  /** When this resource retired the former one, or found that it was retired (ISO 8601, UTC). */
  readonly retiredAt?: string | undefined;
}

/** What was found for one secret. */
export interface Verified {
  readonly target: Target;
  readonly entry: Entry;
  readonly notices?: readonly Notice[];
}

/** What one call verifies with. */
export interface Verification extends Tools {
  /** Whether it retires the former secret once the current one is proven. */
  readonly retires: boolean;
}

/**
 * Whether a secret is to be verified: it was changed, or its verification failed; its former one was, or is to be,
 * retired; or the accepted one must be saved without its value.
 */
export function isDue(target: Target, entry: Entry | undefined, retires: boolean): boolean {
  if (!entry || entry.failure || !isAbout(entry, target)) return true;
  // A former one that was retired before may be valid again.
  if (target.retire ? retires : entry.kept) return true;
  return withoutUnsaved(entry.accepted, target) !== entry.accepted;
}

/** Whether an entry is about the credential that is current now. */
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
  tools: Verification,
): Promise<Verified> {
  if (entry && !isDue(target, entry, tools.retires)) return { target, entry };
  const { count, current } = target;
  const { kept, retiredAt, unsaved, failure } =
    entry && isAbout(entry, target) ? entry : ({} as Entry);
  const accepted = withoutUnsaved(entry?.accepted, target);
  const next: Entry = { count, mark: current?.mark, accepted, kept, retiredAt, unsaved };
  if (!current) return { target, entry: next };
  if (failure && isLasting(failure, target)) return { target, entry: { ...next, failure } };
  // A former one that was kept was not tried yet. Without one, the former one is what was accepted before.
  const before = kept ? { accepted: kept.former } : entry;
  const retire = target.retire ?? (tools.retires ? unsaved : undefined);
  const verified = await verifyKnown({ ...target, current, retire }, next, before, tools);
  const { failure: found } = verified.entry;
  const redacted = found && { ...found, reason: tools.run.redacted(found.reason) };
  return { ...verified, target, entry: { ...verified.entry, failure: redacted } };
}

/**
 * Verifies a secret whose current one is known. A former one that is valid is kept or, if the program asks for it, is
 * retired once the current one is accepted.
 *
 * @param next what to save if nothing more is learned
 * @param before what was accepted before
 */
async function verifyKnown(
  target: KnownTarget,
  next: Entry,
  before: Pick<Entry, "accepted"> | undefined,
  tools: Verification,
): Promise<Omit<Verified, "target">> {
  const { current, former, retire, salt } = target;
  const formers = formersOf(target, before ?? {}, tools.run);
  if (!retire) {
    const failure = await verify(target, formers, tools);
    if (failure) return { entry: { ...next, failure } };
    const formerRefused = isFormerRefused(target, before, formers);
    return { entry: { ...next, accepted: current, kept: undefined, formerRefused } };
  }
  const { value } = formers.find((one) => saltedMark(salt, one.value) === former?.mark) ?? {};
  // With its value, if the rotation saves values.
  const saved = former && { ...former, value: current.value === undefined ? undefined : value };
  // It was not retired, or is valid again.
  const open: Entry = { ...next, kept: next.kept ?? { former: saved }, retiredAt: undefined };
  const notAccepted = await verify(target, [], tools);
  if (notAccepted) return { entry: { ...open, failure: notAccepted } };
  const proven: Entry = { ...open, accepted: current };
  const both = { ...target, retire };
  if (!tools.retires) return { entry: proven, notices: [keptNotice(both)] };
  const result = await retireFormerOf(both, tools.run);
  if (result && "waits" in result) {
    return { entry: proven, notices: [{ text: result.waits, isWarning: true }] };
  }
  if (result) {
    return { entry: { ...proven, ...(result.isUnsaved && { unsaved: retire }), failure: result } };
  }
  const retired = {
    ...proven,
    unsaved: undefined,
    retiredAt: tools.run.options.clock.now().toISOString(),
  };
  const notices = [retiredNotice(both)];
  const failure = await verify({ ...target, retire: undefined }, formers, tools);
  if (failure) return { entry: { ...retired, failure }, notices };
  const formerRefused = isFormerRefused(target, { accepted: open.kept?.former }, formers);
  return { entry: { ...retired, kept: undefined, formerRefused }, notices };
}

/** Whether a failure lasts until the next reset: no later run can try an old credential that is not saved. */
export function isLasting({ isOfFormer }: Failure, { current }: Target): boolean {
  return isOfFormer === true && current?.value === undefined;
}
