import { type Delivery } from "../domain/errors";

/** The delivery of a request with a response that is not 2xx. */
export function deliveryOfFailure(status: number): "rejected" | "maybe applied" {
  return status >= 300 && status < 500 && status !== 303 && status !== 408
    ? "rejected"
    : "maybe applied";
}

/** A failed attempt of a request. */
export interface Failure {
  readonly delivery: Exclude<Delivery, "responded">;
  /** Of the network failure, if there was no response. */
  readonly code?: string | undefined;
  /** Of the proxy, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
  readonly status?: number | undefined;
  readonly body?: string | undefined;
  /** Milliseconds to wait, from the response's headers; infinite if its `Retry-After` cannot be read. */
  readonly retryAfterMs?: number | undefined;
}

export interface FailedAttempt extends Failure {
  /** Its number, from 1. */
  readonly attempt: number;
  /** The request may be delivered twice without harm. Default: false. */
  readonly idempotent?: boolean | undefined;
  /** Milliseconds until the request's deadline. */
  readonly remainingMs: number;
}

export interface Retry {
  readonly waitMs: number;
  /** The platform said for how long to wait, so that all requests wait. */
  readonly appliesToAll: boolean;
}

const maxAttempts = 3;
const firstBackoffMs = 500;
/** At least half of it is waited, and all waits of a request pass a second: limits are usually those of a second. */
const firstLimitedMs = 700;

/** Connection failures that may be temporary, unlike a wrong name or certificate. The first one is a cut body. */
const transientCodes = new Set([
  "ERR_BAD_RESPONSE",
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "ERR_TLS_HANDSHAKE_TIMEOUT",
  "EPIPE",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
const transientStatuses = new Set([408, 429, 500, 502, 503, 504]);

/** When to retry: exponential backoff with jitter, within the deadline. Undefined if the request is not repeated. */
export function decideRetry(failure: FailedAttempt, random: number): Retry | undefined {
  const { idempotent, delivery, status, code = "", retryAfterMs, remainingMs, attempt } = failure;
  const isHarmless = idempotent === true || delivery !== "maybe applied";
  const isTransient =
    status === undefined ? transientCodes.has(code) : transientStatuses.has(status);
  if (attempt >= maxAttempts || !isHarmless || !isTransient) return undefined;
  const backoffMs = status === 429 ? (0.5 + random / 2) * firstLimitedMs : random * firstBackoffMs;
  const waitMs = retryAfterMs ?? backoffMs * 2 ** (attempt - 1);
  return waitMs < remainingMs ? { waitMs, appliesToAll: retryAfterMs !== undefined } : undefined;
}

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3), which is seconds or a date; without it, the first of the platform's own
 * headers with a time to come, in Unix seconds. Times are compared with the response's own `Date`, not with the clock
 * of this machine, which may be wrong.
 *
 * @returns milliseconds from now, infinite for another `Retry-After`, undefined if there is none.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
  resetHeaders: readonly string[] = [],
): Failure["retryAfterMs"] {
  const { "retry-after": written, date } = headers;
  const sent = Date.parse(date ?? "");
  const from = Number.isNaN(sent) ? now : sent;
  if (written === undefined) {
    const waits = resetHeaders.map((name) => Number(headers[name]) * 1000 - from);
    return waits.find((waitMs) => waitMs > 0);
  }
  if (/^\d+$/.test(written.trim())) return Number(written) * 1000;
  // The parser reads "-5" as a year; a date contains a letter.
  const until = /[a-z]/i.test(written) ? Date.parse(written) : NaN;
  return Number.isNaN(until) ? Infinity : Math.max(0, until - from);
}
