import { type Credential } from "../domain/endpoint";
import { secretOf } from "../domain/secretKind";
import { type AccessCredential } from "../rotation/program/access";
import { saltedMark } from "../rotation/memory/marks";
import { type Run } from "../run/run";
import { withValue } from "./attempts";
import { type KnownTarget, type Target } from "./targets";

/** The credential that the verification before has accepted. */
interface Before {
  readonly accepted?: AccessCredential | undefined;
}

/**
 * The credentials that must be refused by now, as far as their values are known: what was accepted before, and what was
 * replaced. What is not saved can be tried only in the run that has replaced it.
 */
export function formersOf(target: KnownTarget, { accepted }: Before = {}, run: Run): Credential[] {
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
export function isFormerRefused(
  { former, salt }: Target,
  before: Before | undefined,
  tried: readonly Credential[],
): true | undefined {
  const isTried = tried.some(({ value }) => saltedMark(salt, value) === former?.mark);
  const isAccepted = before?.accepted && before.accepted.mark === former?.mark;
  return (isTried && (!before || isAccepted)) || undefined;
}
