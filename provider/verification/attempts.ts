import { randomBytes } from "node:crypto";
import { type Credential, type ProbeRequest, type ProbeResult } from "./probe";
import { type RequestQueue } from "../platform/requestQueue";
import { addressOf, type ClientEndpoint, restAddressOf } from "../rotation/clientEndpoint";

/** What the databases of a call are verified with. */
export interface VerificationTools {
  /** Tries a credential once. */
  readonly probe: (request: ProbeRequest) => Promise<ProbeResult>;
  /** Limits the connections that are open at the same time. */
  readonly queue: RequestQueue;
  readonly timer: Timer;
}

/** A clock that is never set, in milliseconds. */
interface Timer {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** A credential that was the current one, and must be refused. */
export interface FormerCredential {
  readonly credential: Credential;
  /** Time of its rotation. */
  readonly rotatedAt?: string | undefined;
}

/** What must be shown of one database. */
export interface VerificationTask {
  readonly databaseId: string;
  readonly endpoint: ClientEndpoint;
  /** Must be accepted. */
  readonly credential: Credential;
  /** Must be refused. They are of the same kind. */
  readonly formers: readonly FormerCredential[];
}

/** Why a database is not verified. */
export interface VerificationFailure {
  readonly reason: string;
  readonly advice: string;
}

const firstWaitMs = 200;
const longestWaitMs = 2_000;

/** Milliseconds of an attempt, and of one that begins after the end of the verification. */
const attemptMs = 5_000;
const lateAttemptMs = 1_000;

const moreTime = "Raise withinSeconds if the platform needs longer.";
const checkReset = `Check at the platform whether the reset was applied. ${moreTime}`;
const checkAddress = `Check host, port, rekey:databaseHost, rekey:proxy and rekey:caFile, and whether the database is active. ${moreTime}`;

/**
 * Repeats until the new credential is accepted, and the former ones and a wrong one are refused, because platforms
 * apply a reset with a delay.
 *
 * @param endsAt time of the timer after which nothing is repeated. Each database gets at least one attempt.
 * @returns undefined if all of it holds
 */
export async function verify(
  task: VerificationTask,
  endsAt: number,
  tools: VerificationTools,
): Promise<VerificationFailure | undefined> {
  const { timer } = tools;
  const { credential, formers } = task;
  if (formers.some((former) => secretOf(former.credential) === secretOf(credential))) {
    const what = kindOf(credential);
    const reason = `the former ${what} is still accepted: the platform returned it as the new one`;
    return { reason, advice: "Set a new version, which resets the password again." };
  }
  let failure: VerificationFailure | undefined;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    failure = await attempt(task, endsAt, tools, failure);
    const remainingMs = endsAt - timer.now();
    if (failure === undefined || remainingMs <= 0) return failure;
    await timer.sleep(Math.min(waitMs, remainingMs));
  }
}

/** @param last the failure of the last attempt, which counts if this one has to wait too long for its turn */
async function attempt(
  { databaseId, endpoint, credential, formers }: VerificationTask,
  endsAt: number,
  { probe, queue, timer }: VerificationTools,
  last: VerificationFailure | undefined,
): Promise<VerificationFailure | undefined> {
  const isPassword = "password" in credential;
  const what = kindOf(credential);
  const at = `(${isPassword ? addressOf(endpoint) : restAddressOf(endpoint)})`;
  const otherSecrets = [credential, ...formers.map((former) => former.credential)].map(secretOf);
  const send = (tried: Credential): Promise<ProbeResult> => {
    const timeoutMs = timer.now() < endsAt ? attemptMs : lateAttemptMs;
    return probe({ databaseId, endpoint, credential: tried, otherSecrets, timeoutMs });
  };
  const isTooLate = (): boolean => last !== undefined && timer.now() > endsAt + lateAttemptMs;

  const result = await queue.run(async () => (isTooLate() ? undefined : send(credential)), false);
  if (result === undefined) return last;
  if (result.is === "refused") {
    const advice = `Check at the platform whether the reset was applied, and check ${isPassword ? "host, port and username" : "host and port"}. ${moreTime}`;
    return { reason: `the new ${what} is refused: ${result.words} ${at}`, advice };
  }
  if (result.is === "unknown") {
    const { why, advice = checkAddress } = result;
    return { reason: `the new ${what} could not be tried: ${why} ${at}`, advice };
  }
  let accepted: FormerCredential | undefined;
  for (const former of formers) {
    const old = await queue.run(() => send(former.credential), false);
    if (old.is === "unknown") return halfTried(`a former one could not be tried: ${old.why}`);
    if (old.is === "accepted") {
      accepted = former;
      break;
    }
  }
  // A refused credential of the same user has shown already that a wrong one is.
  const isSameUser = (former: FormerCredential): boolean => userOf(former.credential) === userOf(credential);
  if (!accepted && formers.some(isSameUser)) return undefined;
  const wrong = await queue.run(() => send(wrongCredential(credential)), false);
  if (wrong.is === "accepted") {
    const advice = `Require a ${what} at the platform, and check host and port.`;
    return { reason: `the database is open to everyone: it accepts any ${what} ${at}`, advice };
  }
  if (accepted) {
    const which = accepted.rotatedAt === undefined ? "" : `, the one of ${accepted.rotatedAt}`;
    return { reason: `a former ${what} is still accepted${which} ${at}`, advice: checkReset };
  }
  return wrong.is === "refused" ? undefined : halfTried(`a wrong one could not be tried: ${wrong.why}`);

  function halfTried(why: string): VerificationFailure {
    return { reason: `the new ${what} is accepted, but ${why} ${at}`, advice: checkAddress };
  }
}

/** A credential of the same user that a database must refuse. */
function wrongCredential(credential: Credential): Credential {
  const secret = randomBytes(24).toString("base64url");
  return "password" in credential ? { ...credential, password: secret } : { restToken: secret };
}

function kindOf(credential: Credential): string {
  return "password" in credential ? "password" : "REST token";
}

/** The secret of a credential. */
export function secretOf(credential: Credential): string {
  return "password" in credential ? credential.password : credential.restToken;
}

function userOf(credential: Credential): string | undefined {
  return "password" in credential ? credential.username : undefined;
}
