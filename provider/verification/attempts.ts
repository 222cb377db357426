import { randomBytes } from "node:crypto";
import { type Credential, nameOf, type ProbeEndpoint, secretOf, shownEndpoint } from "../platform/credential";
import { RequestError } from "../platform/errors";
import { type ProbeResult } from "../platform/probe";
import { type RequestQueue } from "../platform/requestQueue";
import { ownerOf, type SecretKind } from "../platform/secretKind";
import { poll } from "../poll";
import { type AccessCredential } from "../rotation/access";
import { type Run } from "../run";
import { endpointFor, type Failure, isSameCredential, type Target, triedAs } from "./targets";

/** What the secrets of a call are verified with. */
export interface Tools {
  readonly run: Run;
  /** Limits the secrets that are tried at the same time. */
  readonly queue: RequestQueue;
  /** Time of the run's clock after which nothing is repeated. Each secret gets at least one attempt. */
  readonly endsAtMs: number;
}

const firstWaitMs = 200;

/** Milliseconds of one request, and of one that begins after the end of the verification. */
const requestMs = 5_000;
const lateRequestMs = 1_000;

const checkReset = "Check at the platform whether the reset was applied";
const moreTime = "Raise withinSeconds if the platform needs longer.";

/**
 * Repeats until the current credential is accepted, and the former ones or a wrong one are refused, because platforms
 * apply a reset with a delay.
 *
 * @param current is read first, if it is not saved
 * @param formers have the same name
 * @returns undefined if all of it holds
 * @throws RequestError if the engine is gone
 */
export async function verify(
  target: Target,
  current: AccessCredential,
  formers: readonly Credential[],
  { run, queue, endsAtMs }: Tools,
): Promise<Failure | undefined> {
  const { clock } = run.options;
  const endpoint = endpointFor(target, run);
  if ("reason" in endpoint) return endpoint;
  const timeoutMs = () => (clock.elapsedMs() < endsAtMs ? requestMs : lateRequestMs);
  let known = "value" in current ? triedAs(current, target.username) : undefined;
  const attempt = async (): Promise<Failure | undefined> => {
    const credential = known ?? (await read(target, current, timeoutMs(), run));
    if ("reason" in credential) return credential;
    known = credential;
    const otherSecrets = [credential, ...formers].map(secretOf);
    const send = (tried: Credential) => {
      const owner = ownerOf(target.subject);
      return run.platform.probe({ owner, endpoint, credential: tried, otherSecrets, timeoutMs: timeoutMs() });
    };
    return tryAll(target.subject.kind, endpoint, credential, formers, send);
  };
  let last: Failure | undefined;
  // One that has waited too long for its turn is not repeated.
  const isTooLate = () => last !== undefined && clock.elapsedMs() > endsAtMs + lateRequestMs;
  return poll(run, {
    act: () => queue.run(async () => (isTooLate() ? last : (last = await attempt()))),
    isDone: (failure) => failure === undefined || failure.isFinal === true,
    firstWaitMs,
    endsAtMs,
  });
}

/** Reads a credential that is not saved, or returns why it is not known. */
async function read(
  { subject: { kind, id }, username }: Target,
  current: AccessCredential,
  deadlineMs: number,
  run: Run,
): Promise<Credential | Failure> {
  const { name } = current;
  const failed = (why: string, advice: string): Failure => {
    return { reason: `the new ${nameOf(triedAs({ name, value: "" }))} is not saved, and ${why}`, advice };
  };
  if (!run.options.canRead(kind)) {
    const advice = "Set rekey:databasePath, or remove saveCredentials or this verification.";
    return { ...failed("this platform cannot be read", advice), isFinal: true };
  }
  try {
    const { credentials } = await run.platform.within(deadlineMs).operations(kind).read(id);
    const value = credentials[name];
    if (value === undefined) {
      return failed("the platform does not show it", "Remove saveCredentials or this verification.");
    }
    if (isSameCredential({ name, value }, current)) return triedAs({ name, value }, username);
    return failed("the platform shows another one", "Run `pulumi refresh`, then `up`.");
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return failed(`could not be read: ${error.happened}`, error.advice);
  }
}

/** The current credential must be accepted, and a former one of the same user, or else a wrong one, refused. */
async function tryAll(
  { noun, probe }: SecretKind,
  endpoint: ProbeEndpoint,
  credential: Credential,
  formers: readonly Credential[],
  send: (tried: Credential) => Promise<ProbeResult>,
): Promise<Failure | undefined> {
  const service = probe?.service ?? "database";
  const what = nameOf(credential);
  const server = service === "queue" ? service : noun;
  const at = `(${shownEndpoint(endpoint, credential)})`;
  const address = addresses[service];
  const checkAddress = `Check ${address}, rekey:proxy and rekey:caFile, and whether the ${server} is active. ${moreTime}`;
  const failed = (happened: string, advice = checkAddress): Failure => ({ reason: `${happened} ${at}`, advice });
  const notTried = (which: string, why: string) => {
    return failed(`the new ${what} is accepted, but a ${which} one could not be tried: ${why}`);
  };
  const result = await send(credential);
  if (result.kind === "unknown") return failed(`the new ${what} could not be tried: ${result.why}`, result.advice);
  if (result.kind === "refused") {
    return failed(`the new ${what} is refused: ${result.words}`, `${checkReset}, and check ${address}. ${moreTime}`);
  }
  let isFormerAccepted = false;
  for (const former of formers) {
    const tried = await send(former);
    if (tried.kind === "unknown") return notTried("former", tried.why);
    isFormerAccepted = tried.kind === "accepted";
    if (isFormerAccepted) break;
  }
  // A refused credential of the same user has shown already that a wrong one is.
  if (!isFormerAccepted && formers.some((former) => userOf(former) === userOf(credential))) return undefined;
  const wrong = await send(wrongCredential(credential));
  if (wrong.kind === "accepted") {
    const advice = `Require a ${what} at the platform, and check ${address}.`;
    return failed(`the ${server} is open to everyone: it accepts any ${what}`, advice);
  }
  if (isFormerAccepted) return failed(`a former ${what} is still accepted`, `${checkReset}. ${moreTime}`);
  return wrong.kind === "refused" ? undefined : notTried("wrong", wrong.why);
}

/** The source of the address at which a credential is tried. */
const addresses = {
  database: "connection and rekey:databaseHost",
  index: "the endpoint in its record",
  queue: "rekey:queueUrl (the address of its region)",
} as const;

/** A credential of the same user that must be refused. */
function wrongCredential(credential: Credential): Credential {
  const secret = randomBytes(24).toString("base64url");
  if ("password" in credential) return { ...credential, password: secret };
  return "token" in credential ? { token: secret } : { restToken: secret };
}

function userOf(credential: Credential): string | undefined {
  return "password" in credential ? credential.username : undefined;
}
