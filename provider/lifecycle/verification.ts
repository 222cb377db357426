import { type Credential, type ProbeRequest, type ProbeResult } from "../api/databaseProbe";
import { addressOf, type Endpoint } from "../api/endpoint";
import { type RequestQueue } from "../api/requestQueue";

/** What the databases of a call are verified with. */
export interface VerificationTools {
  /** Tries a credential once. */
  readonly probe: (request: ProbeRequest) => Promise<ProbeResult>;
  /** Limits the connections that are open at the same time. */
  readonly queue: RequestQueue;
  readonly timer: Timer;
}

/** A clock that is never set, in milliseconds. */
export interface Timer {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** What must be shown of one database. */
export interface VerificationTask {
  readonly databaseId: string;
  readonly endpoint: Endpoint;
  /** Must be accepted. */
  readonly credential: Credential;
  /** Must be refused; undefined if none is known. */
  readonly former: Credential | undefined;
}

/** Why a database is not verified. */
export interface VerificationFailure {
  readonly reason: string;
  readonly advice: string;
}

const firstWaitMs = 200;
const longestWaitMs = 2_000;

const checkReset = "Check at the platform whether the reset was applied.";
const checkLogin = "Check at the platform whether the reset was applied, and that host, port and username are right.";
const checkAddress =
  "Check host, port, rekey:databaseHost, rekey:proxy and rekey:caFile, and whether the database is active.";

/**
 * Repeats until the new credential is accepted and the former one refused, because platforms apply a reset with a
 * delay.
 *
 * @param endsAt time of the timer after which nothing is repeated. Each database gets at least one attempt.
 * @returns undefined if both hold
 */
export async function verify(
  task: VerificationTask,
  endsAt: number,
  tools: VerificationTools,
): Promise<VerificationFailure | undefined> {
  const { timer } = tools;
  if (task.former && secretOf(task.former) === secretOf(task.credential)) {
    const reason = "the former password is still accepted: the platform returned it as the new one";
    return { reason, advice: "Set a new version, which resets the password again." };
  }
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    const failure = await attempt(task, tools);
    const remainingMs = endsAt - timer.now();
    if (failure === undefined || remainingMs <= 0) return failure;
    await timer.sleep(Math.min(waitMs, remainingMs));
  }
}

async function attempt(
  { databaseId, endpoint, credential, former }: VerificationTask,
  { probe, queue }: VerificationTools,
): Promise<VerificationFailure | undefined> {
  const at = `(${addressOf(endpoint)})`;
  const attempt = (tried: Credential, other: Credential | undefined): Promise<ProbeResult> => {
    const request = { databaseId, endpoint, credential: tried, otherSecrets: other ? [secretOf(other)] : [], timeoutMs: 5_000 };
    return queue.run(() => probe(request), false);
  };
  const result = await attempt(credential, former);
  if (result.is === "refused") {
    return { reason: `the new password is refused: ${result.words} ${at}`, advice: checkLogin };
  }
  if (result.is === "unknown") {
    return { reason: `the new password could not be tried: ${result.why} ${at}`, advice: checkAddress };
  }
  if (former === undefined) return undefined;
  const old = await attempt(former, credential);
  if (old.is === "refused") return undefined;
  if (old.is === "accepted") return { reason: `the former password is still accepted ${at}`, advice: checkReset };
  const reason = `the new password is accepted, but the former one could not be tried: ${old.why} ${at}`;
  return { reason, advice: checkAddress };
}

function secretOf(credential: Credential): string {
  return "password" in credential ? credential.password : credential.restToken;
}
