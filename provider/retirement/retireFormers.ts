import { isDeepStrictEqual } from "node:util";
import { shownEndpoint } from "../domain/endpoint";
import { RekeyError } from "../domain/errors";
import { secretOf } from "../domain/secretKind";
import { orUndefined } from "../records/fields";
import { type AccessCredential } from "../rotation/program/access";
import { readAdmin } from "../rotation/program/admin";
import { waitsForRetirement } from "../rotation/program/formers";
import { type Former } from "../rotation/memory/memory";
import { endpointFor, tryUntil } from "../rotation/sources/proof";
import { openSession } from "../rotation/sources/session";
import { type Source } from "../rotation/lifecycle/source";
import { type Run } from "../run/run";
import { type Target } from "../verification/targets";

/** The former ones that wait for a Retirement. */
export function waitingOf(target: Target | undefined): Former[] {
  return (target?.retire?.formers ?? []).filter(waitsForRetirement);
}

/** True if two of such a secret can be valid. */
export function mayRetire(target: Target, run: Run): boolean {
  return "retire" in sourceOf(target, run);
}

function sourceOf(target: Target, run: Run): Source {
  const admin = readAdmin(target.admin, run.options.settings.find("databaseHost"));
  return openSession(target.subject, run, { ...target, admin }).source;
}

/**
 * Retires the former ones that wait, if the current one is valid, and lets the server save that.
 *
 * @param target what consumers have by now
 * @returns those that are retired
 * @throws RekeyError if some may still be valid, or may be again after a restart of the server
 */
export async function retireFormers(target: Target, run: Run): Promise<readonly Former[]> {
  const { subject, salt, retire, current } = target;
  const waiting = waitingOf(target);
  const of = { salt, currentHash: retire?.currentHash, current: current?.value };
  try {
    const source = sourceOf(target, run);
    const retired = waiting.length > 0 ? await source.retire?.(waiting, of) : undefined;
    const failure = retired ? (retired.failure ?? retired.unsaved) : await source.save?.();
    if (failure) throw failure;
    return waiting;
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const next = `Until that is done, the former ${subject.kind.word} may be valid. ${triedAgain}`;
    throw new RekeyError(error.code, `${error.text} ${next}`, error.delivery);
  }
}

/**
 * Proves that a credential which was replaced is refused.
 *
 * @param replaced where it was used: it is sent to no other server than its own
 * @param stays what has replaced it
 * @returns false if it is not tried: its value, or that it was used there, is not known
 * @throws RekeyError if it is not refused
 */
export async function proveRefused(
  replaced: Target,
  { value, ...credential }: AccessCredential,
  stays: Target,
  run: Run,
): Promise<boolean> {
  const { subject } = stays;
  const { clock, settings } = run.options;
  const [endpoint, its] = [stays, replaced].map((one) =>
    orUndefined(() => endpointFor(subject, one, settings)),
  );
  if (value === undefined || !endpoint || !isDeepStrictEqual(endpoint, its)) return false;
  run.platform.secrets.add([value]);
  const trial = { subject, endpoint, credential: { ...credential, value } };
  const endsAtMs = clock.elapsedMs() + settings.deadlineMs;
  const result = await tryUntil("refused", trial, { run, endsAtMs });
  if (result.kind === "refused") return true;
  const why = result.kind === "unknown" ? `could not be tried: ${result.why}` : "is still accepted";
  const at = shownEndpoint(endpoint, trial.credential);
  const text = `A former ${secretOf(subject)} was retired, but ${why} (${at}). Check which are valid there. ${triedAgain}`;
  throw new RekeyError("REKEY_VERIFICATION_FAILED", run.redacted(text), "responded");
}

const triedAgain = "The rest of this `up` is saved, and the next one tries this again at its end.";
