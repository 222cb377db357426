/**
 * What became of a request:
 * - `not sent`: it cannot have arrived;
 * - `rejected`: it arrived, and the platform refused it;
 * - `maybe applied`: it may have arrived, and it is unknown what the platform did;
 * - `answered`: the platform says that it was done.
 */
export type Delivery = "not sent" | "rejected" | "maybe applied" | "answered";

/** The delivery that an answer tells of. */
export function deliveryOfResponse(status: number): Exclude<Delivery, "not sent"> {
  if (status >= 200 && status < 300) return "answered";
  if (status >= 300 && status < 500 && status !== 303 && status !== 408) return "rejected";
  return "maybe applied";
}

/**
 * The delivery of a request that got no whole answer. Error codes do not tell it: a reset connection is seen both
 * before the request went out and after it was applied. What tells is whether the request was handed to a connection.
 */
export function deliveryOfSilence(sent: boolean): "not sent" | "maybe applied" {
  return sent ? "maybe applied" : "not sent";
}

/** What is known when an attempt has failed. */
export interface Failure {
  /** Whether the request may be delivered twice without harm. Not if undefined. */
  readonly idempotent?: boolean | undefined;
  readonly delivery: Delivery;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  /** The answer's `Retry-After`, in milliseconds; `unusable` where it is no time to wait. */
  readonly retryAfter?: number | "unusable" | undefined;
  /** Which attempt this was, from 1. */
  readonly attempt: number;
  /** Milliseconds until the request's deadline. */
  readonly remaining: number;
}

/** `everyone`: the platform asked for quiet, so all requests wait, not this one alone. */
export type RetryDecision =
  { readonly do: "wait"; readonly milliseconds: number; readonly everyone: boolean } | { readonly do: "stop" };

const maxAttempts = 3;
const firstBackoff = 500;

/** Failures of the way to the platform that may pass by themselves. A wrong name or certificate does not. */
const passing = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EPIPE",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
const passingStatuses = new Set([408, 429, 500, 502, 503, 504]);
const stop: RetryDecision = { do: "stop" };

/** Whether to try again, and when: exponential backoff with full jitter, within the deadline. */
export function decideRetry(failure: Failure, random: number): RetryDecision {
  const { retryAfter, remaining, attempt } = failure;
  if (attempt >= maxAttempts || !mayRepeat(failure) || retryAfter === "unusable") return stop;
  const milliseconds = retryAfter ?? random * firstBackoff * 2 ** (attempt - 1);
  if (milliseconds >= remaining) return stop;
  return { do: "wait", milliseconds, everyone: retryAfter !== undefined };
}

function mayRepeat({ idempotent, delivery, status, code = "" }: Failure): boolean {
  if (!idempotent && delivery === "maybe applied") return false;
  return status === undefined ? passing.has(code) : passingStatuses.has(status);
}

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which is held against the answer's own `Date` so that a
 * wrong clock here does not matter.
 *
 * @returns milliseconds from now, `unusable` for what is neither, undefined where there is none.
 */
export function readRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): Failure["retryAfter"] {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  // Without a letter it is no date, though the parser takes "-5" for a year.
  const until = /[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) : NaN;
  if (Number.isNaN(until)) return "unusable";
  const from = Date.parse(date ?? "");
  return Math.max(0, until - (Number.isNaN(from) ? now : from));
}
