import { randomBytes } from "node:crypto";
import { type Credential, nameOf, type ProbeEndpoint, secretOf, shownEndpoint } from "../platform/credential";
import { type ProbeResult } from "../platform/probe";
import { type RequestQueue } from "../platform/requestQueue";
import { ownerOf, type Subject } from "../platform/secretKind";
import { type Run } from "../run";
import { readUnsaved, type UnsavedCredential } from "./unsaved";

/** What the secrets of a call are verified with. */
export interface VerificationTools {
  readonly run: Run;
  /** Limits the connections that are open at the same time. */
  readonly queue: RequestQueue;
  /** Time of the run's clock after which nothing is repeated. Each secret gets at least one attempt. */
  readonly endsAt: number;
}

/** A credential that was the current one, and must be refused. */
export interface FormerCredential {
  readonly credential: Credential;
  /** Time of its rotation. */
  readonly rotatedAt?: string | undefined;
}

/** What must be shown of one secret. */
export interface VerificationTask {
  readonly subject: Subject;
  readonly endpoint: ProbeEndpoint;
  /** Must be accepted. One that is not saved is read first. */
  readonly credential: Credential | UnsavedCredential;
  /** Must be refused. They are of the same kind. */
  readonly formers: readonly FormerCredential[];
}

/** A task whose credential is known. */
interface Trial extends VerificationTask {
  readonly credential: Credential;
}

/** Why a secret is not verified. */
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

/**
 * Repeats until the new credential is accepted, and the former ones and a wrong one are refused, because platforms
 * apply a reset with a delay.
 *
 * @returns undefined if all of it holds
 */
export async function verify(
  task: VerificationTask,
  tools: VerificationTools,
): Promise<VerificationFailure | undefined> {
  const { run, queue, endsAt } = tools;
  const { clock, canRead } = run.options;
  let { credential } = task;
  let failure: VerificationFailure | undefined;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    if ("mark" in credential) {
      const unsaved = credential;
      const read = await queue.run(() => readUnsaved(task.subject, unsaved, timeoutOf(tools), run));
      if ("reason" in read) failure = read;
      else credential = read.credential;
    }
    if (!("mark" in credential)) {
      const trial = { ...task, credential };
      const repeated = whyRepeated(trial);
      if (repeated) return repeated;
      failure = await attempt(trial, tools, failure);
    } else if (!canRead(task.subject.kind)) return failure;
    const remainingMs = endsAt - clock.elapsedMs();
    if (failure === undefined || remainingMs <= 0) return failure;
    await clock.sleep(Math.min(waitMs, remainingMs));
  }
}

/** Milliseconds of an attempt that begins now. */
function timeoutOf({ run, endsAt }: VerificationTools): number {
  return run.options.clock.elapsedMs() < endsAt ? attemptMs : lateAttemptMs;
}

function whyRepeated({ subject, credential, formers }: Trial): VerificationFailure | undefined {
  if (!formers.some((former) => secretOf(former.credential) === secretOf(credential))) return undefined;
  const reason = `the former ${nameOf(credential)} is still accepted: the platform returned it as the new one`;
  return { reason, advice: `Set a new version, which resets the ${subject.kind.word} again.` };
}

/** @param last the failure of the last attempt, which counts if this one has to wait too long for its turn */
async function attempt(
  task: Trial,
  tools: VerificationTools,
  last: VerificationFailure | undefined,
): Promise<VerificationFailure | undefined> {
  const { subject, endpoint, credential, formers } = task;
  const { run, queue, endsAt } = tools;
  const { clock } = run.options;
  const otherSecrets = [credential, ...formers.map((former) => former.credential)].map(secretOf);
  const isTooLate = (): boolean => last !== undefined && clock.elapsedMs() > endsAt + lateAttemptMs;
  const send = (tried: Credential): Promise<ProbeResult> => {
    const timeoutMs = timeoutOf(tools);
    return run.platform.probe({ owner: ownerOf(subject), endpoint, credential: tried, otherSecrets, timeoutMs });
  };
  const result = await queue.run(async () => (isTooLate() ? undefined : send(credential)));
  if (result === undefined) return last;
  return whyNotAccepted(task, result) ?? whyOthersAreNotRefused(task, (tried) => queue.run(() => send(tried)));
}

function whyNotAccepted(task: Trial, result: ProbeResult): VerificationFailure | undefined {
  const [what, at] = [nameOf(task.credential), placeOf(task)];
  switch (result.kind) {
    case "accepted":
      return undefined;
    case "refused": {
      const inputs = addressFor(task) ?? ("password" in task.credential ? "host, port and username" : "host and port");
      const advice = `Check at the platform whether the reset was applied, and check ${inputs}. ${moreTime}`;
      return { reason: `the new ${what} is refused: ${result.words} ${at}`, advice };
    }
    case "unknown": {
      const { why, advice = checkAddress(task) } = result;
      return { reason: `the new ${what} could not be tried: ${why} ${at}`, advice };
    }
  }
}

/** A former credential of the same user, or else a wrong one, must be refused. */
async function whyOthersAreNotRefused(
  task: Trial,
  send: (tried: Credential) => Promise<ProbeResult>,
): Promise<VerificationFailure | undefined> {
  const { credential, formers } = task;
  const [what, at] = [nameOf(credential), placeOf(task)];
  const notTried = (which: string, why: string): VerificationFailure => ({
    reason: `the new ${what} is accepted, but a ${which} one could not be tried: ${why} ${at}`,
    advice: checkAddress(task),
  });
  let accepted: FormerCredential | undefined;
  for (const former of formers) {
    const result = await send(former.credential);
    if (result.kind === "unknown") return notTried("former", result.why);
    if (result.kind === "accepted") accepted = former;
    if (accepted) break;
  }
  // A refused credential of the same user has shown already that a wrong one is.
  const isSameUser = (former: FormerCredential): boolean => userOf(former.credential) === userOf(credential);
  if (!accepted && formers.some(isSameUser)) return undefined;
  const wrong = await send(wrongCredential(credential));
  if (wrong.kind === "accepted") {
    const advice = `Require a ${what} at the platform, and check ${addressFor(task) ?? "host and port"}.`;
    return { reason: `the ${serverOf(task)} is open to everyone: it accepts any ${what} ${at}`, advice };
  }
  if (accepted) {
    const which = accepted.rotatedAt === undefined ? "" : `, the one of ${accepted.rotatedAt}`;
    return { reason: `a former ${what} is still accepted${which} ${at}`, advice: checkReset };
  }
  return wrong.kind === "refused" ? undefined : notTried("wrong", wrong.why);
}

/** Where credentials are tried: `(rediss://db.example.com:6379)` */
function placeOf({ endpoint, credential }: Trial): string {
  return `(${shownEndpoint(endpoint, credential)})`;
}

/** What accepts or refuses the credential: `database` */
function serverOf({ subject: { kind } }: Trial): string {
  return kind.probe?.service === "queue" ? "queue" : kind.noun;
}

/** The source of the address at which a token is tried that is not a database's. */
function addressFor({ subject: { kind } }: Trial): string | undefined {
  const addresses = { queue: "rekey:queueUrl (the address of its region)", index: "the endpoint in its record" };
  return kind.probe && addresses[kind.probe.service];
}

function checkAddress(task: Trial): string {
  const address = addressFor(task) ?? "host, port, rekey:databaseHost";
  return `Check ${address}, rekey:proxy and rekey:caFile, and whether the ${serverOf(task)} is active. ${moreTime}`;
}

/** A credential of the same user that must be refused. */
function wrongCredential(credential: Credential): Credential {
  const secret = randomBytes(24).toString("base64url");
  if ("password" in credential) return { ...credential, password: secret };
  return "token" in credential ? { token: secret } : { restToken: secret };
}

function userOf(credential: Credential): string | undefined {
  return "password" in credential ? credential.username : undefined;
}
