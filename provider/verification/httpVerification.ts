import { RekeyError } from "../domain/errors";
import { isUnknown } from "../pulumi/values";
import { isSet } from "../records/fields";
import { type Notice, type Planned, type Result } from "../resource/resource";
import { saltedMark } from "../rotation/marks";
import { parsed } from "../rotation/memory";
import { attemptLimitMs, type Attempts } from "../rotation/proof";
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
export interface HttpVerificationInputs {
  readonly credential: string;
  readonly http: HttpProbeInput;
  readonly saveCredentials?: boolean | null | undefined;
  readonly withinSeconds?: number | null | undefined;
}

/** What is remembered, as a secret. */
interface Proven {
  /** Of what was proven: the credential, and how. */
  readonly mark?: string | undefined;
  /** The credential that was proven last. */
  readonly accepted?: string | undefined;
  /** The one that it has replaced, until that is refused. */
  readonly former?: string | undefined;
}

export function planOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  inputs: HttpVerificationInputs,
): Planned {
  const { mark, former } = provenIn(saved);
  if (isUnknown(inputs) || mark !== proofMark(inputs)) return { changes: true, notices: [] };
  return { changes: former !== undefined, changing: ["formerRefused", "memory"], notices: [] };
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
  const { credential, http, saveCredentials, withinSeconds } = inputs;
  const { clock } = run.options;
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const attempts = { run, endsAtMs };
  const before = provenIn(saved);
  const mark = proofMark(inputs);
  const isNew = mark !== before.mark;
  if (isNew) await prove(inputs, attempts);
  const isRemembered = saveCredentials !== false && refusedStatusesOf(http).length > 0;
  const tried = isRemembered ? await tryFormer(before, inputs, attempts) : undefined;
  const proven: Proven = { mark, ...(tried && { accepted: credential, former: tried.former }) };
  const outputs = {
    subject: "verification",
    verified: true,
    verifiedAt: isNew ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused:
      tried && !tried.former
        ? (tried.isRefused ?? (before.mark === undefined ? undefined : saved?.formerRefused))
        : undefined,
    memory: JSON.stringify(proven),
  };
  return { outputs, notices: tried?.notices ?? [] };
}

/**
 * Tries the former credential once. If it is not refused, that is a warning, not an error: the engine deletes it only
 * at the end of a run without one.
 *
 * @returns the former one that the next `up` tries
 */
async function tryFormer(
  { accepted, former }: Proven,
  inputs: HttpVerificationInputs,
  attempts: Attempts,
): Promise<Pick<Proven, "former"> & { isRefused?: true; notices?: Notice[] }> {
  const { credential } = inputs;
  const replaced = accepted === credential ? undefined : accepted;
  // One that was put back is the current one again.
  if (former === undefined || former === credential) return { former: replaced };
  const { kind, what } = await tryOverHttp(former, inputs, attempts);
  if (kind === "refused") return { former: replaced, isRefused: true };
  const next =
    replaced === undefined
      ? "If the last `up` failed, this one deletes it at its end; otherwise check that at the vendor. The next `up` tries it again."
      : "It is not tried again, because another one was replaced since: check at the vendor that it is deleted.";
  const text = `The former credential is not refused: ${what}. ${next}`;
  return { former: replaced ?? former, notices: [{ text, isWarning: true }] };
}

/** @throws RekeyError unless the credential is accepted, and a wrong one refused */
async function prove(inputs: HttpVerificationInputs, attempts: Attempts): Promise<void> {
  const { credential, http } = inputs;
  const { run, endsAtMs } = attempts;
  const until = (value: string, isDone: (verdict: Verdict) => boolean) =>
    poll(run, { act: () => tryOverHttp(value, inputs, attempts), isDone, endsAtMs });
  const current = await until(credential, ({ kind }) => kind === "accepted");
  if (current.kind !== "accepted") {
    throw notVerified(
      `The credential is not accepted: ${current.what}. Check http, and whether the credential may make this request. Raise withinSeconds if the vendor needs longer.`,
    );
  }
  // A wrong password may lock an account.
  const isWrongSent = !isSet(http.username) || isSet(http.refusedStatuses);
  if (!isWrongSent || refusedStatusesOf(http).length === 0) return;
  const wrong = await until(wrongOf(credential), ({ mayChange }) => !mayChange);
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

async function tryOverHttp(
  credential: string,
  { http }: HttpVerificationInputs,
  attempts: Attempts,
): Promise<Verdict> {
  const { platform } = attempts.run;
  const request = requestWith(credential, http);
  platform.secrets.add([credential]);
  return verdictOf(request, await platform.statusOf(request, attemptLimitMs(attempts)), http);
}

/** What was remembered; nothing if it is damaged, or that of the other form: then all is proven again. */
function provenIn(saved: CredentialVerificationOutputs | undefined): Proven {
  return parsed(saved?.memory) ?? {};
}

function proofMark({ credential, http, saveCredentials }: HttpVerificationInputs): string {
  return saltedMark(credential, JSON.stringify([http, saveCredentials !== false]));
}
