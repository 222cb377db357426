import { randomBytes } from "node:crypto";
import { type ProbeResult } from "../clients/probe";
import {
  type Credential,
  credentialNoun,
  type ProbeEndpoint,
  shownEndpoint,
} from "../domain/endpoint";
import { InputError, SettingsError } from "../domain/errors";
import { type Subject } from "../domain/secretKind";
import { type RequestQueue } from "../platform/http";
import { type AccessCredential, readCurrent } from "../rotation/program/access";
import { attemptLimitMs, type Attempts, endpointFor, tryUntil } from "../rotation/sources/proof";
import { poll } from "../run/poll";
import { type Run } from "../run/run";
import { type KnownTarget, type Target } from "./targets";

/** Why a secret is not verified. */
export interface Failure {
  readonly reason: string;
  readonly advice: string;
  /** It is about a former credential: the current one is accepted, and a wrong one refused. */
  readonly isOfFormer?: true | undefined;
}

/** The means by which a verification tries credentials. */
export interface Tools extends Attempts {
  readonly queue: RequestQueue;
}

export const defaultWithinSeconds = 30;

/**
 * Proves that the current credential is accepted, as a rotation does, and then that a wrong one and the former ones are
 * refused.
 *
 * @param formers have the same name
 * @returns undefined if all of it holds
 */
export async function verify(
  target: KnownTarget,
  formers: readonly Credential[],
  tools: Tools,
): Promise<Failure | undefined> {
  const { run } = tools;
  const { subject } = target;
  const endpoint = endpointOfTarget(target, run);
  if ("reason" in endpoint) return endpoint;
  const current = await currentOf(target, tools);
  if ("reason" in current) return current;
  const tries = triesOf(target, current, formers);
  run.platform.secrets.add(tries.map(({ credential }) => credential.value));
  for (const one of tries) {
    const { credential, expected } = one;
    const result = await tryUntil(expected, { subject, endpoint, credential }, tools);
    if (result.kind !== expected) return failureOfTry(one, result, target, endpoint);
  }
  return undefined;
}

/** Where a credential is tried, or why that is not known. */
export function endpointOfTarget(target: Target, { options }: Run): ProbeEndpoint | Failure {
  try {
    return endpointFor(target.subject, target, options.settings);
  } catch (error) {
    if (error instanceof SettingsError) return { reason: error.problem, advice: error.advice };
    if (!(error instanceof InputError)) throw error;
    const advice =
      error.property === "restUrl"
        ? "Remove this verification."
        : "Set connection on the rotation, the fleet or this verification.";
    return { reason: `${error.property} ${error.reason}`, advice };
  }
}

/** The current credential, or why it is not known. One that is not saved is read until it is shown. */
async function currentOf(target: KnownTarget, tools: Tools): Promise<Credential | Failure> {
  const { run, queue, endsAtMs } = tools;
  const { subject, current } = target;
  const { kind } = subject;
  const read = () => readCurrent(kind, target, run.during({ limitMs: attemptLimitMs(tools) }));
  const isFinal = !run.options.settings.canRead(kind);
  const value =
    current.value ??
    (await poll(run, {
      act: () => queue.run(read),
      isDone: (shown) => isFinal || typeof shown === "string",
      endsAtMs,
    }));
  if (typeof value === "string") {
    return { name: current.name, username: current.username, value };
  }
  const reason = `the new ${credentialNoun(current)} is not saved, and ${value.why}`;
  return { reason, advice: value.advice };
}

/** A credential as it is tried; undefined if its value is not known. */
export function withValue(
  { name, username }: AccessCredential,
  value: string | undefined,
): Credential | undefined {
  return value === undefined ? undefined : { name, value, username };
}

/** A credential that is tried, and what is expected. */
interface Try {
  readonly credential: Credential;
  readonly expected: "accepted" | "refused";
  /** Its name in messages: `the new password` */
  readonly name: string;
  /** The meaning if the server does the opposite, and the fact to check then. */
  readonly otherwise: string;
  readonly check: string;
  readonly isOfFormer?: true;
}

/** Everything that is tried, in this order, until something fails. */
function triesOf(
  { subject }: Target,
  credential: Credential,
  formers: readonly Credential[],
): Try[] {
  const name = credentialNoun(credential);
  const check = "the reset was applied";
  return [
    {
      credential,
      expected: "accepted",
      name: `the new ${name}`,
      otherwise: `the new ${name} is refused`,
      check,
    },
    {
      credential: { ...credential, value: randomBytes(24).toString("base64url") },
      expected: "refused",
      name: `a wrong ${name}`,
      otherwise: `the ${serverOf(subject)} is open to everyone: it accepts any ${name}`,
      check: `it requires a ${name}`,
    },
    ...formers.map((former): Try => ({
      credential: former,
      expected: "refused",
      name: `an old ${name}`,
      otherwise: `an old ${name} is still accepted`,
      check,
      isOfFormer: true,
    })),
  ];
}

function failureOfTry(
  { credential, name, otherwise, check, isOfFormer }: Try,
  result: ProbeResult,
  { subject }: Target,
  endpoint: ProbeEndpoint,
): Failure {
  const at = `(${shownEndpoint(endpoint, credential)})`;
  const { addressFrom } = subject.kind;
  const moreTime = "Raise withinSeconds if the platform needs longer.";
  if (result.kind === "unknown") {
    const advice =
      result.advice ??
      `Check ${addressFrom}, rekey:proxy and rekey:caFile, and whether the ${serverOf(subject)} is active. ${moreTime}`;
    return { reason: `${name} could not be tried: ${result.why} ${at}`, advice, isOfFormer };
  }
  const words = result.kind === "refused" ? `: ${result.words}` : "";
  const advice = `Check at the platform whether ${check}, and check ${addressFrom}. ${moreTime}`;
  return { reason: `${otherwise}${words} ${at}`, advice, isOfFormer };
}

/** The server that responds, in messages. */
function serverOf({ kind: { probe, noun } }: Subject): string {
  return probe?.service === "queue" ? "queue" : noun;
}
