import { type ProbeResult } from "../../clients/probe";
import { type Credential, type ProbeEndpoint } from "../../domain/endpoint";
import { InputError, RekeyError } from "../../domain/errors";
import { ownerOf, secretOf, type Subject } from "../../domain/secretKind";
import { type RequestQueue } from "../../platform/http";
import { poll } from "../../run/poll";
import { type Run } from "../../run/run";
import { type Settings } from "../../settings/settings";
import { type Access } from "../program/access";
import { endpointOf } from "../program/databaseEndpoint";
import { type Place, type SourceContext } from "../lifecycle/source";

/** Milliseconds of one attempt, and of one at the end of the time. */
const attemptMs = 5_000;
const lastAttemptMs = 1_000;

/** Milliseconds within which a platform accepts a token that it has made. */
export const lateTokenMs = 10_000;

/** A credential, and where it is tried as clients use it. */
export interface Trial {
  readonly subject: Subject;
  readonly endpoint: ProbeEndpoint;
  readonly credential: Credential;
  /** The sentence of an error about the changes so far. Default: `The rotation itself is saved.` */
  readonly unchanged?: string;
}

/** How long a credential is tried. */
export interface Attempts {
  readonly run: Run;
  /** Time of the run's clock after which nothing is repeated: at least one attempt is made. */
  readonly endsAtMs: number;
  /** From when on a refusal is final. Default: it may be followed by an acceptance. */
  readonly finalAtMs?: number;
  /** In which each attempt waits for its turn. Default: none does. */
  readonly queue?: RequestQueue;
}

/** Milliseconds that an attempt which begins now may take. */
export function attemptLimitMs({ run, endsAtMs }: Attempts): number {
  const leftMs = endsAtMs - run.options.clock.elapsedMs();
  return Math.max(lastAttemptMs, Math.min(attemptMs, leftMs));
}

function tryOnce(
  { subject, ...trial }: Trial,
  { platform }: Run,
  timeoutMs: number,
): Promise<ProbeResult> {
  return platform.probe({ owner: ownerOf(subject), ...trial, timeoutMs });
}

/**
 * Tries a credential until what is expected of it happens: a platform may apply a change later than it confirms it.
 *
 * @returns the last result
 */
export function tryUntil(
  expected: "accepted" | "refused",
  trial: Trial,
  attempts: Attempts,
): Promise<ProbeResult> {
  const { run, queue, endsAtMs, finalAtMs = Infinity } = attempts;
  const { clock } = run.options;
  const attempt = () => tryOnce(trial, run, attemptLimitMs(attempts));
  return poll(run, {
    act: queue ? () => queue.run(attempt) : attempt,
    isDone: ({ kind }) =>
      kind === expected || (kind === "refused" && clock.elapsedMs() >= finalAtMs),
    endsAtMs,
  });
}

/**
 * Tries a secret that is to be handed out, or was, until it is accepted. A refresh tries it once.
 *
 * @param lateMs for how long a refusal may be followed by an acceptance
 */
export function proveAccepted(
  { subject, run, program }: SourceContext,
  endpoint: ProbeEndpoint,
  credential: Credential,
  lateMs = Infinity,
): Promise<ProbeResult> {
  const { clock, settings } = run.options;
  const trial = { subject, endpoint, credential, unchanged: "Nothing new was handed out." };
  if (!program) return tryOnce(trial, run, attemptMs);
  const nowMs = clock.elapsedMs();
  const endsAtMs = nowMs + settings.deadlineMs;
  return tryUntil("accepted", trial, { run, endsAtMs, finalAtMs: nowMs + lateMs });
}

/**
 * Where clients use a secret.
 *
 * @param place what is known from its record, and what the program sets
 * @throws InputError or SettingsError if that is unknown or cannot be used
 */
export function endpointFor(
  subject: Subject,
  place: Pick<Access, "record" | "connection" | "restUrl"> & Pick<Place, "queueUrl">,
  settings: Settings,
): ProbeEndpoint {
  const { probe } = subject.kind;
  const { record, connection = {}, restUrl, queueUrl } = place;
  if (!probe) {
    return endpointOf({ databaseId: subject.id, record }, connection, settings.databaseHost);
  }
  if (probe.service === "queue") return { ...probe, baseUrl: settings.queueAddress(queueUrl) };
  if (restUrl !== undefined) return { ...probe, baseUrl: restUrl.replace(/\/$/, "") };
  const reason = `is unknown: the platform's record of ${ownerOf(subject)} has no usable endpoint`;
  throw new InputError("restUrl", reason);
}

/** The error of what was made valid, and is not proven. */
export function unproven(subject: Subject, why: string): RekeyError {
  const { addressFrom } = subject.kind;
  const text = `The new ${secretOf(subject)} is not proven: ${why}. Check ${addressFrom}, rekey:proxy and rekey:caFile, then run \`up\` again, which tries it again.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "responded");
}

/** As `unproven`, if it was not accepted. */
export function notAccepted(
  subject: Subject,
  proof: Exclude<ProbeResult, { kind: "accepted" }>,
): RekeyError {
  const why =
    proof.kind === "refused"
      ? `it is refused: ${proof.words}`
      : `it could not be tried: ${proof.why}`;
  return unproven(subject, why);
}
