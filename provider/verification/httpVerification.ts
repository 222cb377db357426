import { RekeyError } from "../domain/errors";
import { isUnknown } from "../pulumi/values";
import { isSet } from "../records/fields";
import { type Notice, type Planned, type Result } from "../resource/resource";
import { saltedMark } from "../rotation/memory/marks";
import { parsed } from "../rotation/memory/memory";
import { attemptLimitMs, type Attempts } from "../rotation/sources/proof";
import { poll } from "../run/poll";
import { type Run } from "../run/run";
import { defaultWithinSeconds } from "./attempts";
import {
  type HttpProbeInput,
  refusedStatusesOf,
  requestWith,
  type Verdict,
  verdictOf,
  wrongOf,
} from "./httpProbe";

/** The outputs of a CredentialVerification. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  /** Over HTTP: the one that is proven. */
  readonly credential?: string | undefined;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  /** False over HTTP only, if a later `up` has tried one, and it was accepted. */
  readonly formerRefused?: boolean | undefined;
  /** Over HTTP: those that were replaced and are not refused yet. */
  readonly formersValid?: number | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** The former credentials that are remembered. */
const maxFormers = 12;

/** @param count of former ones: `3`, `12 or more` */
export function countText(count: unknown): string {
  return `${String(count)}${count === maxFormers ? " or more" : ""}`;
}

/** The inputs of a verification of a key that a program creates, and that Rekey does not know. */
export interface HttpVerificationInputs extends HttpProof {
  /** `value` of the trigger of a key that a person makes. */
  readonly triggerValue?: string | null | undefined;
  readonly saveCredentials?: boolean | null | undefined;
  readonly withinSeconds?: number | null | undefined;
}

/** The parts of a request that proves a credential. */
interface HttpProof {
  readonly credential: string;
  readonly http: HttpProbeInput;
}

/** The remembered proofs, as a secret. */
interface Proven {
  /** The one that was accepted last. */
  readonly accepted?: HttpProof | undefined;
  /** Those that were replaced and are not refused yet, the oldest first. */
  readonly formers?: readonly HttpProof[] | undefined;
  /** The trigger's value and the mark of the credential, when both were last replaced. */
  readonly turn?: Turn | undefined;
}

type Turn = readonly [value: string, mark: string];

/** The former ones, and the result of trying them. */
interface Formers {
  readonly formers: readonly HttpProof[];
  /** True if all were refused, false if one was accepted; undefined if that is not known. */
  readonly areRefused?: boolean | undefined;
  readonly notices: readonly Notice[];
}

/**
 * Another credential replaces the verification, so that the engine deletes old consumers, the old verification and the
 * old key in this order.
 */
export function planOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  inputs: HttpVerificationInputs,
  { shared: { replacedProofs } }: Run,
): Planned {
  const { credential, http } = inputs;
  const { accepted, formers = [], turn } = provenIn(saved?.memory);
  const next = JSON.stringify({ credential, http });
  const isOther = saved !== undefined && saved.credential !== credential;
  // Of two, the Create could not tell which one it replaces.
  if (isOther) replacedProofs.set(next, replacedProofs.has(next) ? "" : saved.memory);
  const { turn: nextTurn, notices } = turnToRemember(turn, inputs);
  return {
    changes:
      next !== JSON.stringify(accepted) || formers.length > 0 || String(turn) !== String(nextTurn),
    replaces: isOther ? ["credential"] : [],
    changing: ["verified", "verifiedAt", "formerRefused", "formersValid", "memory"],
    notices,
  };
}

/**
 * Compares the trigger's value and the credential with those of the last turn: a person replaces both.
 *
 * @returns what to remember: the last turn, until both are replaced
 */
function turnToRemember(
  last: Turn | undefined,
  { triggerValue, credential }: HttpVerificationInputs,
): { readonly turn?: Turn | undefined; readonly notices: readonly Notice[] } {
  if (!isSet(triggerValue)) return { notices: [] };
  if (isUnknown(triggerValue) || isUnknown(credential)) return { turn: last, notices: [] };
  const turn: Turn = [triggerValue, saltedMark("turn", credential)];
  const [hasTurned, isReplaced] = turn.map((one, nth) => last !== undefined && one !== last[nth]);
  if (hasTurned === isReplaced) return { turn, notices: [] };
  const text = hasTurned
    ? "The trigger has turned, but the credential is the same: give the new one to `credential`."
    : "The credential is another one, but its trigger has not turned: set a new version of the trigger, with which its schedule starts again.";
  return { turn: last, notices: [{ text, isWarning: true }] };
}

/**
 * Proves a credential that is not proven yet. Its provider deletes the former one after that.
 *
 * @throws RekeyError if it is not proven: what is saved stays that of the one that was
 */
export async function applyOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  inputs: HttpVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { credential, http, withinSeconds } = inputs;
  const { clock } = run.options;
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const attempts = { run, endsAtMs };
  const accepted: HttpProof = { credential, http };
  const next = JSON.stringify(accepted);
  const before = provenIn(saved?.memory ?? run.shared.replacedProofs.get(next));
  const isNew = next !== JSON.stringify(before.accepted);
  if (isNew) await prove(inputs, attempts, before.accepted ? 3 : 1);
  const wereRefused = (before.accepted && saved?.formerRefused) || undefined;
  const { formers, areRefused, notices } =
    ofOtherHost(before, inputs) ?? (await tryFormers(before, wereRefused, inputs, attempts));
  const outputs = {
    subject: "verification",
    credential,
    verified: true,
    verifiedAt: isNew ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused: areRefused,
    formersValid: formers.length,
    memory: JSON.stringify({ accepted, formers, turn: turnToRemember(before.turn, inputs).turn }),
  };
  return { outputs, notices };
}

/** No former credential is sent to another host than the one that has accepted it. */
function ofOtherHost(
  { accepted, formers = [] }: Proven,
  { credential, http }: HttpProof,
): Formers | undefined {
  const [host, before] = [http, accepted?.http ?? http].map(({ url }) => new URL(url).host);
  if (host === before) return undefined;
  const text = `The former credential was accepted by ${before}, and http now names ${host}: it is sent to neither of them. Check at ${before} that it is deleted.`;
  const isKnown = [accepted, ...formers].some((one) => one && one.credential !== credential);
  return { formers: [], notices: isKnown ? [{ text, isWarning: true }] : [] };
}

/**
 * Tries each former credential once. One that is not refused is a warning, not an error: the engine deletes it only at
 * the end of a run without one.
 *
 * @param wereRefused whether those before were refused in an earlier `up`
 * @returns the former ones that the next `up` tries
 */
async function tryFormers(
  { accepted, formers = [] }: Proven,
  wereRefused: true | undefined,
  inputs: HttpVerificationInputs,
  attempts: Attempts,
): Promise<Formers> {
  const { credential, http, saveCredentials } = inputs;
  const isTried = saveCredentials !== false && refusedStatusesOf(http).length > 0;
  // One that was put back is the current one again.
  const tried = await Promise.all(
    formers
      .filter((one) => one.credential !== credential)
      .map(async (former) => ({ former, ...(await tryOverHttp(former, inputs, attempts)) })),
  );
  const left = tried.filter(({ kind }) => kind !== "refused");
  const replaced = isTried && accepted && accepted.credential !== credential ? [accepted] : [];
  const known = [...left.map(({ former }) => former), ...replaced].slice(-maxFormers);
  if (known.length === 0) {
    return { formers: [], areRefused: tried.length > 0 || wereRefused, notices: [] };
  }
  const next = isTried
    ? "Delete at the vendor what the engine does not delete at the end of this `up`. The next `up` tries again."
    : "It is not tried again, because saveCredentials is false or refusedStatuses is empty: check at the vendor that it is deleted.";
  const who =
    known.length > 1
      ? `${countText(known.length)} former credentials are`
      : "The former credential is";
  const results = [...new Set(left.map(({ what }) => what))].join("; ");
  const text = `${who} not refused: ${results}. ${next}`;
  const notices = left.length > 0 ? [{ text, isWarning: true }] : [];
  if (!isTried) return { formers: [], notices };
  const isAccepted = left.some(({ kind }) => kind === "accepted");
  return { formers: known, areRefused: isAccepted ? false : undefined, notices };
}

/**
 * @param times how often in a row it must be accepted, each time on a new connection: a vendor may have several servers
 * @throws RekeyError unless the credential is accepted, and a wrong one refused
 */
async function prove(
  inputs: HttpVerificationInputs,
  attempts: Attempts,
  times: number,
): Promise<void> {
  const { credential, http } = inputs;
  const { run, endsAtMs } = attempts;
  const until = (value: string, count: number, isDone: (verdict: Verdict) => boolean) => {
    const act = async (left = count): Promise<Verdict> => {
      const verdict = await tryOverHttp({ credential: value, http }, inputs, attempts);
      return left > 1 && isDone(verdict) ? act(left - 1) : verdict;
    };
    return poll(run, { act, isDone, endsAtMs });
  };
  const current = await until(credential, times, ({ kind }) => kind === "accepted");
  if (current.kind !== "accepted") {
    const {
      what,
      advice = "Check http, and whether the credential may make this request. Raise withinSeconds if the vendor needs longer.",
    } = current;
    throw notVerified(`The credential is not accepted: ${what}. ${advice}`);
  }
  // A wrong password may lock an account.
  const isWrongSent = !isSet(http.username) || isSet(http.refusedStatuses);
  if (!isWrongSent || refusedStatusesOf(http).length === 0) return;
  const wrong = await until(wrongOf(credential), 1, ({ mayChange }) => !mayChange);
  if (wrong.kind === "refused") return;
  const why =
    wrong.kind === "accepted"
      ? "a wrong one is accepted, too, so that nothing is proven"
      : "it is not known whether a wrong one is refused";
  throw notVerified(
    `The credential is accepted, but ${why}: ${wrong.what}. Use a request that needs a valid credential, or set refusedStatuses to what means that one is refused.`,
  );
}

function notVerified(why: string): RekeyError {
  const text = `Not verified. ${why} The verification changes nothing, and the engine deletes what was replaced only after an \`up\` that succeeds. The next \`up\` verifies again.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

/** @param http what the statuses mean now, also for a former one */
async function tryOverHttp(
  proof: HttpProof,
  { http }: HttpVerificationInputs,
  attempts: Attempts,
): Promise<Verdict> {
  const { platform } = attempts.run;
  const request = requestWith(proof.credential, proof.http);
  platform.secrets.add([proof.credential]);
  return verdictOf(request, await platform.statusOf(request, attemptLimitMs(attempts)), http);
}

/** The remembered proofs; none if the memory is damaged, or that of the other form: then all is proven again. */
function provenIn(memory: string | undefined): Proven {
  return parsed(memory) ?? {};
}
