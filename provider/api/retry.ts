import { type Delivery } from "./delivery";

/** What is known when an attempt has failed. */
export interface Failure {
  /** Whether a second delivery could destroy what the first one made. */
  readonly once: boolean;
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

function mayRepeat({ once, delivery, status, code = "" }: Failure): boolean {
  if (once && delivery === "maybe applied") return false;
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
