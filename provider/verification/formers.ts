import { type Credential } from "../domain/endpoint";
import { secretOf } from "../domain/secretKind";
import { type AccessCredential } from "../rotation/access";
import { saltedMark } from "../rotation/marks";
import { type Run } from "../run/run";
import { withValue } from "./attempts";
import { type Target } from "./targets";

/** A target whose current credential is known. */
export type KnownTarget = Target & { readonly current: AccessCredential };

/** What the last successful verification has accepted; undefined if none was successful. */
interface Before {
  readonly accepted?: AccessCredential | undefined;
}

/** The credentials that must be refused by now, as far as their values are known. */
export function formersOf(target: KnownTarget, { accepted }: Before, run: Run): Credential[] {
  const known = [acceptedBefore(target, accepted), replacedInRun(target, run)];
  const all = known.flatMap((one) => (one?.name === target.current.name ? [one] : []));
  return all.filter(({ value }, nth) => all.findIndex((one) => one.value === value) === nth);
}

function acceptedBefore(
  { salt, current }: KnownTarget,
  accepted: Before["accepted"],
): Credential | undefined {
  if (!accepted || markOf(accepted, salt) === current.mark) return undefined;
  return withValue(accepted, accepted.value);
}

/** What is not saved can be tried only in the run that has replaced it. */
function replacedInRun(
  { subject, salt, current, former, retire }: KnownTarget,
  run: Run,
): Credential | undefined {
  if (!former || (current.value !== undefined && !retire)) return undefined;
  const replaced = run.shared.replacedValues.get(secretOf(subject)) ?? [];
  const values = replaced.flatMap(({ [former.name]: value }) => value ?? []);
  const isFormer = (value: string) => saltedMark(salt, value) === former.mark;
  return withValue(former, values.find(isFormer));
}

/**
 * Whether the old credential is proven to be refused. After two resets without a verification between them, nothing is
 * claimed: the credential in between was never tried.
 *
 * @param before undefined before the first verification
 */
export function isFormerRefused(
  { former, salt }: Target,
  before: Before | undefined,
  tried: readonly Credential[],
): boolean {
  const isTried = tried.some(({ value }) => saltedMark(salt, value) === former?.mark);
  if (!isTried || before === undefined) return isTried;
  return before.accepted !== undefined && markOf(before.accepted, salt) === former?.mark;
}

/** The mark of a credential with the salt of its rotation, which may be another one than it had. */
function markOf({ mark, value }: AccessCredential, salt: string): string {
  return value === undefined ? mark : saltedMark(salt, value);
}
