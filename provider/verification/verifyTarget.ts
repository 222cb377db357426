import { type Credential } from "../domain/endpoint";
import { type Notice } from "../resource/resource";
import { type AccessCredential } from "../rotation/access";
import { saltedMark } from "../rotation/marks";
import { type Failure, type Tools, verify } from "./attempts";
import { formersOf, isFormerRefused, type KnownTarget } from "./formers";
import { keptNotice, type OverlappingTarget, retiredNotice, retireFormerOf } from "./retirement";
import { type Target } from "./targets";

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
  const { current } = target;
  const ofCurrent = entry && isAbout(entry, target) ? entry : undefined;
  const next: Entry = {
    count: target.count,
    mark: current?.mark,
    accepted: withoutUnsaved(entry?.accepted, target),
  };
  if (!current) return { target, entry: next };
  if (ofCurrent?.failure && isLasting(ofCurrent.failure, target)) {
    const { failure, kept, retiredAt } = ofCurrent;
    return { target, entry: { ...next, kept, retiredAt, failure } };
  }
  return verifyKnown({ ...target, current }, { next, ofCurrent, saved: entry }, tools);
}

interface Entries {
  /** What to save if nothing more is learned. */
  readonly next: Entry;
  readonly saved: Entry | undefined;
  /** The saved one, if it is about the credential that is current now. */
  readonly ofCurrent: Entry | undefined;
}

async function verifyKnown(
  target: KnownTarget,
  { next, saved, ofCurrent }: Entries,
  tools: Verification,
): Promise<Verified> {
  const { current, retire } = target;
  // A former one that was kept was not tried yet. Without one, the former one is what was accepted before.
  const before = ofCurrent?.kept ? { accepted: ofCurrent.kept.former } : saved;
  const formers = formersOf(target, before ?? {}, tools.run);
  if (retire) {
    const kept = ofCurrent?.kept ?? { former: formerToKeep(target, formers) };
    return verifyOverlap({ ...target, retire }, { ...next, kept }, formers, tools);
  }
  const failure = await verifyRedacted(target, formers, tools);
  if (failure) return { target, entry: { ...next, kept: ofCurrent?.kept, failure } };
  const formerRefused = isFormerRefused(target, before, formers) || undefined;
  const entry = { ...next, accepted: current, formerRefused, retiredAt: ofCurrent?.retiredAt };
  return { target, entry };
}

/** Verifies a secret whose former one is valid, and then retires that one, if the program asks for it. */
async function verifyOverlap(
  target: OverlappingTarget,
  next: Entry,
  formers: readonly Credential[],
  tools: Verification,
): Promise<Verified> {
  const notAccepted = await verifyRedacted(target, [], tools);
  if (notAccepted) return { target, entry: { ...next, failure: notAccepted } };
  const proven: Entry = { ...next, accepted: target.current };
  if (!tools.retires) return { target, entry: proven, notices: [keptNotice(target)] };
  const result = await retireFormerOf(target, tools.run);
  if (result && "waits" in result) {
    return { target, entry: proven, notices: [{ text: result.waits, isWarning: true }] };
  }
  if (result) return { target, entry: { ...proven, failure: result } };
  const retiredAt = tools.run.options.clock.now().toISOString();
  const notices = [retiredNotice(target)];
  const failure = await verifyRedacted({ ...target, retire: undefined }, formers, tools);
  if (failure) return { target, entry: { ...proven, retiredAt, failure }, notices };
  const before = { accepted: next.kept?.former };
  const formerRefused = isFormerRefused(target, before, formers) || undefined;
  return { target, entry: { ...proven, kept: undefined, formerRefused, retiredAt }, notices };
}

/** Like `verify`, with a reason that contains no secrets. */
async function verifyRedacted(
  target: KnownTarget,
  formers: readonly Credential[],
  tools: Tools,
): Promise<Failure | undefined> {
  const failure = await verify(target, target.current, formers, tools);
  return failure && { ...failure, reason: tools.run.redacted(failure.reason) };
}

/** What is saved of the former one: with its value, if the rotation saves values. */
function formerToKeep(
  { former, current, salt }: KnownTarget,
  formers: readonly Credential[],
): AccessCredential | undefined {
  const known = formers.find(({ value }) => saltedMark(salt, value) === former?.mark);
  return former && { ...former, value: current.value === undefined ? undefined : known?.value };
}

/** Whether a failure lasts until the next reset: no later run can try an old credential that is not saved. */
export function isLasting({ isOfFormer }: Failure, { current }: Target): boolean {
  return isOfFormer === true && current?.value === undefined;
}
