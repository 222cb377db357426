import { randomBytes } from "node:crypto";
import { type Credential, nameOf, shownEndpoint } from "../platform/endpoint";
import { RequestError } from "../platform/errors";
import { type ProbeRequest } from "../platform/probe";
import { type RequestQueue } from "../platform/http";
import { ownerOf } from "../platform/secretKind";
import { type AccessCredential } from "../rotation/access";
import { poll, type Run } from "../run";
import { endpointFor, type Failure, isSameCredential, type Target } from "./targets";

/** What the secrets of a call are verified with. */
export interface Tools {
  readonly run: Run;
  /** Limits the secrets that are tried at the same time. */
  readonly queue: RequestQueue;
  /** Time of the run's clock after which nothing is repeated. Each secret gets at least one attempt. */
  readonly endsAtMs: number;
}

/** Milliseconds of one request, and of one that begins after the end of the verification. */
const requestMs = 5_000;
const lateRequestMs = 1_000;

/**
 * Repeats until the current credential is accepted, and a wrong one and the former ones are refused, because platforms
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
  const { clock, settings } = run.options;
  const endpoint = endpointFor(target, run);
  if ("reason" in endpoint) return endpoint;
  if ("mark" in current && !settings.canRead(target.subject.kind)) {
    const advice = "Set rekey:databasePath, or remove saveCredentials or this verification.";
    return notKnown(current, "this platform cannot be read", advice);
  }
  let known: Credential | undefined = "value" in current ? { ...current, username: target.username } : undefined;
  const attempt = async (): Promise<Failure | undefined> => {
    const timeoutMs = clock.elapsedMs() < endsAtMs ? requestMs : lateRequestMs;
    const credential = known ?? (await read(target, current, timeoutMs, run));
    if ("reason" in credential) return credential;
    known = credential;
    return tryAll(target, { endpoint, timeoutMs, credential }, formers, run);
  };
  return poll(run, {
    act: () => queue.run(attempt),
    isDone: (failure) => failure === undefined,
    firstWaitMs: 200,
    endsAtMs,
  });
}

function notKnown(current: AccessCredential, why: string, advice: string): Failure {
  return { reason: `the new ${nameOf(current)} is not saved, and ${why}`, advice };
}

/** Reads a credential that is not saved, or returns why it is not known. */
async function read(
  { subject: { kind, id }, username }: Target,
  current: AccessCredential,
  limitMs: number,
  run: Run,
): Promise<Credential | Failure> {
  const { name } = current;
  try {
    const { [name]: value } = (await run.platform.during({ limitMs }).operations(kind).read(id)).credentials;
    if (value !== undefined && isSameCredential({ name, value }, current)) return { name, value, username };
    const advice =
      "Run `pulumi refresh`, then `up`. If that does not help, remove saveCredentials or this verification.";
    return notKnown(current, "the platform does not show it", advice);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return notKnown(current, `could not be read: ${error.happened}`, error.advice);
  }
}

/** The current credential must be accepted, and a wrong one and the former ones refused. */
async function tryAll(
  { subject }: Target,
  { credential, ...request }: Pick<ProbeRequest, "endpoint" | "timeoutMs" | "credential">,
  formers: readonly Credential[],
  run: Run,
): Promise<Failure | undefined> {
  const service = subject.kind.probe?.service ?? "database";
  const [what, server] = [nameOf(credential), service === "queue" ? service : subject.kind.noun];
  const wrong = { ...credential, value: randomBytes(24).toString("base64url") };
  const tries = [
    { which: "the new", tried: credential, must: "accepted", otherwise: `the new ${what} is refused` },
    {
      which: "a wrong",
      tried: wrong,
      must: "refused",
      otherwise: `the ${server} is open to everyone: it accepts any ${what}`,
    },
    ...formers.map((tried) => {
      return { which: "a former", tried, must: "refused", otherwise: `a former ${what} is still accepted` };
    }),
  ];
  run.platform.secrets.add(tries.map(({ tried }) => tried.value));
  const at = `(${shownEndpoint(request.endpoint, credential)})`;
  for (const { which, tried, must, otherwise } of tries) {
    const owner = ownerOf(subject);
    const result = await run.platform.probe({ ...request, owner, credential: tried });
    if (result.kind === must) continue;
    const address = addresses[service];
    if (result.kind === "unknown") {
      const reason = `${which} ${what} could not be tried: ${result.why} ${at}`;
      const check = `Check ${address}, rekey:proxy and rekey:caFile, and whether the ${server} is active.`;
      return { reason, advice: `${check} ${moreTime}` };
    }
    const words = result.kind === "refused" ? `: ${result.words}` : "";
    const check = tried === wrong ? `it requires a ${what}` : "the reset was applied";
    return {
      reason: `${otherwise}${words} ${at}`,
      advice: `Check at the platform whether ${check}, and check ${address}. ${moreTime}`,
    };
  }
  return undefined;
}

/** The source of the address at which a credential is tried. */
const addresses = {
  database: "connection and rekey:databaseHost",
  index: "the endpoint in its record",
  queue: "rekey:queueUrl (the address of its region)",
} as const;

const moreTime = "Raise withinSeconds if the platform needs longer.";
