import { RekeyError } from "../domain/errors";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import { type Notice, type Planned, type Result } from "../resource/resource";
import { saltedMark } from "../rotation/marks";
import { parsed } from "../rotation/memory";
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

/** What is saved. All of it is a secret. */
interface Memory {
  /** Of what was proven: the credential, and how. Undefined after a failure. */
  readonly mark?: string | undefined;
  /** The credential that was proven last. */
  readonly accepted?: string | undefined;
  /** The one that it has replaced, until that is refused. */
  readonly former?: string | undefined;
}

const subject = "verification";
/** Milliseconds of one attempt, which waits for what the server asks for, and of one when the time is over. */
const attemptMs = 10_000;
const lateAttemptMs = 1_000;

export function planOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  inputs: HttpVerificationInputs,
): Planned {
  const { mark, former } = memoryIn(saved);
  if (isUnknown(inputs) || mark !== markOf(inputs)) return { changes: true, notices: [] };
  return { changes: former !== undefined, changing: ["formerRefused", "memory"], notices: [] };
}

/**
 * Proves a credential that is not proven yet. Its provider deletes the former one after that, so the next `up` tries
 * that one. If it is not refused, that is no error: the engine deletes it only at the end of a run without one.
 */
export async function applyOverHttp(
  saved: CredentialVerificationOutputs | undefined,
  inputs: HttpVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { credential, http, withinSeconds } = inputs;
  const withinMs = (withinSeconds ?? defaultWithinSeconds) * 1000;
  const { clock } = run.options;
  const before = memoryIn(saved);
  const mark = markOf(inputs);
  const isNew = mark !== before.mark;
  const attempts = { http, run, endsAtMs: clock.elapsedMs() + withinMs };
  const failure = isNew ? await proofFailure(credential, attempts) : undefined;
  if (failure !== undefined) {
    const memory = JSON.stringify({ ...before, mark: undefined });
    const outputs = { subject, memory, verified: false, verifiedAt: saved?.verifiedAt };
    return { outputs, failure: notVerified(failure), notices: [] };
  }
  const remembers = inputs.saveCredentials !== false && refusedStatusesOf(http).length > 0;
  const isReplaced = before.accepted !== credential;
  const former = remembers ? await tryFormer(before, inputs, attempts) : {};
  const memory: Memory = {
    mark,
    accepted: remembers ? credential : undefined,
    former: isReplaced && remembers ? before.accepted : former.open,
  };
  const outputs = {
    subject,
    verified: true,
    verifiedAt: isNew ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused: isReplaced ? undefined : (former.isRefused ?? saved?.formerRefused),
    memory: JSON.stringify(memory),
  };
  return { outputs, notices: former.notices ?? [] };
}

/** Tries the former credential once, if it is remembered. */
async function tryFormer(
  { accepted, former }: Memory,
  { credential, http }: HttpVerificationInputs,
  attempts: Attempts,
): Promise<{ isRefused?: true; open?: string; notices?: Notice[] }> {
  if (former === undefined || former === credential) return {};
  const verdict = await attempt(former, attempts);
  if (verdict.kind === "refused") return { isRefused: true };
  return { open: former, notices: [notRefused(verdict, http, accepted !== credential)] };
}

interface Attempts {
  readonly http: HttpProbeInput;
  readonly run: Run;
  /** Time of the run's clock after which nothing is repeated. */
  readonly endsAtMs: number;
}

/** Why a credential is not proven; undefined if it is accepted, and a wrong one is refused. */
async function proofFailure(credential: string, attempts: Attempts): Promise<string | undefined> {
  const { http, run, endsAtMs } = attempts;
  const attemptUntil = (value: string, isDone: (verdict: Verdict) => boolean) =>
    poll(run, { act: () => attempt(value, attempts), isDone, endsAtMs });
  const current = await attemptUntil(credential, ({ kind }) => kind === "accepted");
  if (current.kind !== "accepted") {
    const advice =
      "Check http, and whether the credential may make this request. Raise withinSeconds if the vendor needs longer.";
    return `The credential is not accepted: ${shown(current, http)}. ${advice}`;
  }
  // A wrong password may lock an account.
  const isWrongSent =
    refusedStatusesOf(http).length > 0 && (!isSet(http.username) || isSet(http.refusedStatuses));
  if (!isWrongSent) return undefined;
  const wrong = await attemptUntil(wrongOf(credential), ({ mayChange }) => !mayChange);
  if (wrong.kind === "refused") return undefined;
  const isOpen = wrong.kind === "accepted";
  const why = isOpen
    ? "a wrong one is accepted, too, so that nothing is proven"
    : "it is not known whether a wrong one is refused";
  return `The credential is accepted, but ${why}: ${shown(wrong, http)}. Use a request that needs a valid credential, or set refusedStatuses to what means that one is refused.`;
}

/** Tries a credential once. */
async function attempt(credential: string, { http, run, endsAtMs }: Attempts): Promise<Verdict> {
  const leftMs = endsAtMs - run.options.clock.elapsedMs();
  const timeoutMs = Math.max(lateAttemptMs, Math.min(attemptMs, leftMs));
  run.platform.secrets.add([credential]);
  return verdictOf(
    await run.platform.sendOfProgram(requestWith(credential, http), timeoutMs),
    http,
  );
}

/** A response, and what it is one to, without the query. */
function shown({ what }: Verdict, http: HttpProbeInput): string {
  const { method, baseUrl, path } = requestWith("", http);
  return `${method} ${baseUrl}${path} ${what}`;
}

function notVerified(failure: string): RekeyError {
  const kept =
    "The verification changes nothing, and the engine deletes what was replaced only after an `up` that succeeds.";
  const text = `Not verified. ${failure} ${kept} The next \`up\` verifies again.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

function notRefused(verdict: Verdict, http: HttpProbeInput, isLast: boolean): Notice {
  const next = isLast
    ? "It is not tried again, because another one was replaced since: check at the vendor that it is deleted."
    : "If the last `up` failed, this one deletes it at its end; otherwise check that at the vendor. The next `up` tries it again.";
  return {
    text: `The former credential is not refused: ${shown(verdict, http)}. ${next}`,
    isWarning: true,
  };
}

/** What was remembered; nothing if it is damaged, or that of another form: then all is proven again. */
function memoryIn(saved: CredentialVerificationOutputs | undefined): Memory {
  const found = parsed(saved?.memory);
  return isObject(found) && Object.values(found).every((one) => typeof one === "string")
    ? found
    : {};
}

function markOf({ credential, http, saveCredentials }: HttpVerificationInputs): string {
  return saltedMark(credential, JSON.stringify([http, saveCredentials !== false]));
}
