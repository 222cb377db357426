import { randomBytes } from "node:crypto";
import {
  type Credential,
  credentialNoun,
  type ProbeEndpoint,
  shownEndpoint,
} from "../domain/endpoint";
import { type ErrorCode, InputError, RequestError, SettingsError } from "../domain/errors";
import { type RequestQueue } from "../platform/http";
import { type ProbeRequest, type ProbeResult } from "../clients/probe";
import { ownerOf, type Subject } from "../domain/secretKind";
import { type AccessCredential, endpointOf } from "../rotation/access";
import { saltedMark } from "../rotation/marks";
import { hasNext } from "../rotation/queueSource";
import { poll } from "../run/poll";
import { type Run } from "../run/run";
import { type Target } from "./targets";

/** Why a secret is not verified. */
export interface Failure {
  readonly reason: string;
  readonly advice: string;
  /** Whether it is about a former credential: the current one is accepted, and a wrong one refused. */
  readonly isOfFormer?: true | undefined;
  /** Whether it is not tried again in this run. */
  readonly isFinal?: true | undefined;
  /** Of the error, if it is another one than that of a failed verification. */
  readonly code?: ErrorCode | undefined;
}

/** What a verification tries with. */
export interface Tools {
  readonly run: Run;
  readonly queue: RequestQueue;
  /** Time of the run's clock after which nothing is repeated: each secret gets at least one attempt. */
  readonly endsAtMs: number;
}

export const defaultWithinSeconds = 30;
/** Milliseconds of one request, and of one that begins after the end of the verification. */
const requestMs = 5_000;
const lateRequestMs = 1_000;

/**
 * Repeats until the current credential is accepted, and a wrong one and the former ones are refused, because platforms
 * apply a reset with a delay.
 *
 * @param current is read first, if its value is not saved
 * @param formers have the same name
 * @returns undefined if all of it holds
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
  if (!canBeKnown(target, current, run)) return neverKnown(target, current);
  let known = withValue(current, current.value);
  const attempt = async (): Promise<Failure | undefined> => {
    const timeoutMs = clock.elapsedMs() < endsAtMs ? requestMs : lateRequestMs;
    const credential = known ?? (await read(target, current, timeoutMs, run));
    if ("reason" in credential) return credential;
    known = credential;
    const place = { owner: ownerOf(target.subject), endpoint, timeoutMs };
    return firstFailure(triesOf(target, known, formers), target, place, run);
  };
  return poll(run, {
    act: () => queue.run(attempt),
    isDone: (failure) => failure === undefined || failure.isFinal === true,
    endsAtMs,
  });
}

/** Where the current credential is tried, or why that is not known. */
export function endpointFor(target: Target, { options }: Run): ProbeEndpoint | Failure {
  const { id, subject, record, connection = {}, restUrl, queueUrl } = target;
  const { probe } = subject.kind;
  try {
    if (!probe) {
      return endpointOf({ databaseId: id, record }, connection, options.settings.databaseHost);
    }
    if (probe.service === "queue") {
      return { ...probe, baseUrl: options.settings.queueAddress(queueUrl) };
    }
    if (restUrl !== undefined) return { ...probe, baseUrl: restUrl.replace(/\/$/, "") };
    const reason = `the platform's record of ${ownerOf(subject)} has no usable endpoint`;
    return { reason, advice: "Remove this verification." };
  } catch (error) {
    return endpointFailure(error);
  }
}

/** @throws the same error, unless a program or a setting can fix it */
function endpointFailure(error: unknown): Failure {
  if (error instanceof SettingsError) return { reason: error.problem, advice: error.advice };
  if (!(error instanceof InputError)) throw error;
  const advice = "Set connection on the rotation, the fleet or this verification.";
  return { reason: `${error.property} ${error.reason}`, advice };
}

function canBeKnown({ subject }: Target, { value }: AccessCredential, { options }: Run): boolean {
  return value !== undefined || options.settings.canRead(subject.kind);
}

function neverKnown({ subject }: Target, current: AccessCredential): Failure {
  const [why, advice] =
    subject.kind.shape === "redis"
      ? ["a Redis shows only hashes", "Set overlap to a duration and remove this verification"]
      : ["this platform cannot be read", "Set rekey:databasePath, or remove this verification"];
  return notKnown(current, why, `${advice}, or remove saveCredentials.`);
}

function notKnown(current: AccessCredential, why: string, advice: string): Failure {
  return { reason: `the new ${credentialNoun(current)} is not saved, and ${why}`, advice };
}

/** A credential as it is tried; undefined if its value is not known. */
export function withValue(
  { name, username }: AccessCredential,
  value: string | undefined,
): Credential | undefined {
  return value === undefined ? undefined : { name, value, username };
}

/** Reads a credential that is not saved, or returns why it is not known. */
async function read(
  target: Target,
  current: AccessCredential,
  limitMs: number,
  run: Run,
): Promise<Credential | Failure> {
  const { mark } = current;
  try {
    const { value, isNext } = await shownValue(target, current, run.during({ limitMs }));
    const isCurrent = value !== undefined && saltedMark(target.salt, value) === mark;
    const known = withValue(current, isCurrent ? value : undefined);
    if (known) return known;
    return isNext
      ? otherPair(current)
      : notKnown(current, "the platform does not show it", adviceIfNotShown(target));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return notKnown(current, `could not be read: ${error.happened}`, error.advice);
  }
}

/** What the platform shows. While two tokens are valid, the current one is the next one there, which is asked for. */
async function shownValue(
  { subject: { kind, id }, salt, retire }: Target,
  { name, mark }: AccessCredential,
  { platform }: Run,
): Promise<{ readonly value: string | undefined; readonly isNext?: true }> {
  const mayBeNext = retire !== undefined && kind.shape === "adds";
  const response = await platform.operations(kind).read(id, { newConnection: mayBeNext });
  const { [name]: shown } = response.credentials;
  const isShown = shown !== undefined && saltedMark(salt, shown) === mark;
  // Without a next one, this would make one.
  if (isShown || !mayBeNext || !hasNext(response)) return { value: shown };
  return { value: (await platform.nextTokens.prepare(id))[name], isNext: true };
}

/** Someone else has rolled or replaced the pair: asking for it has made another one, if there was none. */
function otherPair(current: AccessCredential): Failure {
  const why =
    "the platform returned another next token: someone else has rolled or replaced the new one, and this request may have made the other one, which is valid, too";
  const advice =
    "If that fails, too, set a new version. The next rotation hands out that other token.";
  return { ...notKnown(current, why, advice), isFinal: true };
}

/** A changed `saveCredentials` takes effect with the next rotation. */
function adviceIfNotShown({ retire }: Target): string {
  const otherwise = retire
    ? "set overlap to a duration and remove this verification, or remove saveCredentials and set a new version"
    : "remove saveCredentials or this verification";
  return `Run \`pulumi refresh\`, then \`up\`. If that does not help, ${otherwise}.`;
}

/** A credential that is tried, and the expected result. */
interface Try {
  readonly credential: Credential;
  /** Its name in messages: `the new password` */
  readonly name: string;
  readonly expected: "accepted" | "refused";
  /** What it means if the server does the opposite, and what to check then. */
  readonly otherwise: string;
  readonly check: string;
  readonly isOfFormer?: true;
}

/** Everything that is tried, in this order, until something fails. */
function triesOf({ subject }: Target, current: Credential, formers: readonly Credential[]): Try[] {
  const name = credentialNoun(current);
  const check = "the reset was applied";
  const accepted: Try = {
    credential: current,
    name: `the new ${name}`,
    expected: "accepted",
    otherwise: `the new ${name} is refused`,
    check,
  };
  const wrongRefused: Try = {
    credential: { ...current, value: randomBytes(24).toString("base64url") },
    name: `a wrong ${name}`,
    expected: "refused",
    otherwise: `the ${serverOf(subject)} is open to everyone: it accepts any ${name}`,
    check: `it requires a ${name}`,
  };
  const formersRefused = formers.map((credential): Try => ({
    credential,
    name: `an old ${name}`,
    expected: "refused",
    otherwise: `an old ${name} is still accepted`,
    check,
    isOfFormer: true,
  }));
  return [accepted, wrongRefused, ...formersRefused];
}

async function firstFailure(
  tries: readonly Try[],
  target: Target,
  place: Omit<ProbeRequest, "credential">,
  run: Run,
): Promise<Failure | undefined> {
  run.platform.secrets.add(tries.map(({ credential }) => credential.value));
  for (const one of tries) {
    const result = await run.platform.probe({ ...place, credential: one.credential });
    if (result.kind !== one.expected) return failureOfTry(one, result, target, place);
  }
  return undefined;
}

/** The source of the address at which a credential is tried. */
const addresses = {
  database: "connection and rekey:databaseHost",
  server: "admin of its rotation",
  index: "the endpoint in its record",
  queue: "queueUrl of its rotation, or rekey:queueUrl (the address of its region)",
} as const;

function failureOfTry(
  { credential, name, otherwise, check, isOfFormer }: Try,
  result: ProbeResult,
  { subject }: Target,
  { endpoint }: Pick<ProbeRequest, "endpoint">,
): Failure {
  const at = `(${shownEndpoint(endpoint, credential)})`;
  const { probe, shape } = subject.kind;
  const address = addresses[probe?.service ?? (shape === "redis" ? "server" : "database")];
  const moreTime = "Raise withinSeconds if the platform needs longer.";
  if (result.kind === "unknown") {
    const advice =
      result.advice ??
      `Check ${address}, rekey:proxy and rekey:caFile, and whether the ${serverOf(subject)} is active. ${moreTime}`;
    return { reason: `${name} could not be tried: ${result.why} ${at}`, advice, isOfFormer };
  }
  const words = result.kind === "refused" ? `: ${result.words}` : "";
  const advice = `Check at the platform whether ${check}, and check ${address}. ${moreTime}`;
  return { reason: `${otherwise}${words} ${at}`, advice, isOfFormer };
}

/** What responds, in messages. */
function serverOf({ kind: { probe, noun } }: Subject): string {
  return probe?.service === "queue" ? "queue" : noun;
}
