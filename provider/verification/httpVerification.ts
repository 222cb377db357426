import { RekeyError } from "../domain/errors";
import { isSet } from "../records/fields";
import { type Notice, type Planned, type Result } from "../resource/resource";
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
import { type CredentialVerificationOutputs } from "./outputs";

/** The inputs of a verification of a key that a program creates, and that Rekey does not know. */
export interface HttpVerificationInputs extends HttpProof {
  readonly saveCredentials?: boolean | null | undefined;
  readonly withinSeconds?: number | null | undefined;
}

/** What makes a request that proves a credential. */
interface HttpProof {
  readonly credential: string;
  readonly http: HttpProbeInput;
}

/** What is remembered, as a secret. */
interface Proven {
  /** The one that was accepted last. */
  readonly accepted?: HttpProof | undefined;
  /** The one that it has replaced, until that is refused. */
  readonly former?: HttpProof | undefined;
}

/** What is known of the former one. */
interface Former extends Pick<Proven, "former"> {
  readonly isRefused?: true | undefined;
  readonly notices: readonly Notice[];
}

/**
 * Another credential replaces the verification, so that the engine deletes old consumers, the old verification and the
 * old key in this order.
 */
export function planOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  { credential, http }: HttpVerificationInputs,
  { shared: { replacedProofs } }: Run,
): Planned {
  const { accepted, former } = provenIn(saved?.memory);
  const next = JSON.stringify({ credential, http });
  const isOther = saved !== undefined && saved.credential !== credential;
  // Of two, the Create could not tell which one it replaces.
  if (isOther) replacedProofs.set(next, replacedProofs.has(next) ? "" : saved.memory);
  return {
    changes: next !== JSON.stringify(accepted) || former !== undefined,
    replaces: isOther ? ["credential"] : [],
    changing: ["verified", "verifiedAt", "formerRefused", "memory"],
    notices: [],
  };
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
  const known = { ...before, isRefused: before.accepted && saved?.formerRefused };
  const { former, isRefused, notices } =
    ofOtherHost(before, inputs) ?? (await tryFormer(known, inputs, attempts));
  const outputs = {
    subject: "verification",
    credential,
    verified: true,
    verifiedAt: isNew ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused: former ? undefined : isRefused,
    memory: JSON.stringify({ accepted, former }),
  };
  return { outputs, notices };
}

/** No former credential is sent to another host than the one that has accepted it. */
function ofOtherHost(
  { accepted, former }: Proven,
  { credential, http }: HttpProof,
): Former | undefined {
  const [host, before] = [http, accepted?.http ?? http].map(({ url }) => new URL(url).host);
  if (host === before) return undefined;
  const text = `The former credential was accepted by ${before}, and http now names ${host}: it is sent to neither of them. Check at ${before} that it is deleted.`;
  const isKnown = [accepted, former].some((one) => one && one.credential !== credential);
  return { notices: isKnown ? [{ text, isWarning: true }] : [] };
}

/**
 * Tries the former credential once. If it is not refused, that is a warning, not an error: the engine deletes it only
 * at the end of a run without one.
 *
 * @returns the former one that the next `up` tries
 */
async function tryFormer(
  { accepted, former, isRefused }: Proven & Partial<Former>,
  inputs: HttpVerificationInputs,
  attempts: Attempts,
): Promise<Former> {
  const { credential, http, saveCredentials } = inputs;
  const isTried = saveCredentials !== false && refusedStatusesOf(http).length > 0;
  const replaced = isTried && accepted?.credential !== credential ? accepted : undefined;
  // One that was put back is the current one again.
  const open = former?.credential === credential ? undefined : former;
  if (open === undefined) return { former: replaced, isRefused, notices: [] };
  const { kind, what } = await tryOverHttp(open, inputs, attempts);
  if (kind === "refused") return { former: replaced, isRefused: true, notices: [] };
  const next = !isTried
    ? "It is not tried again, because saveCredentials is false or refusedStatuses is empty: check at the vendor that it is deleted."
    : replaced
      ? "It is not tried again, because another one was replaced since: check at the vendor that it is deleted."
      : "If the last `up` failed, this one deletes it at its end; otherwise check that at the vendor. The next `up` tries it again.";
  const text = `The former credential is not refused: ${what}. ${next}`;
  return {
    former: isTried ? (replaced ?? open) : undefined,
    notices: [{ text, isWarning: true }],
  };
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

/** What was remembered; nothing if it is damaged, or that of the other form: then all is proven again. */
function provenIn(memory: string | undefined): Proven {
  return parsed(memory) ?? {};
}
