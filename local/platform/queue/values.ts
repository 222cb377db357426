import { longestPeriodSeconds } from "../flowControl";
import { Refused } from "../refused";
import { type Limits } from "./flowControlKey";

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Seconds of a duration such as `10s`, `1h30m` or `7d`. A number without a unit is in seconds. */
export function seconds(field: string, text: string): number {
  const parts = text.match(/\d+(?:\.\d+)?[smhdw]/g);
  const total = /^\d+$/.test(text)
    ? Number(text)
    : parts?.reduce((sum, part) => sum + Number(part.slice(0, -1)) * unitSeconds[part.slice(-1)]!, 0);
  if (total === undefined || (parts !== null && parts.join("") !== text) || total > 1e10) {
    throw new Refused(field, `${JSON.stringify(text)} is not a duration such as "30s", "1h30m" or "7d"`);
  }
  return total;
}

/** An integer of at least `least`. */
export function whole(field: string, text: string, least = 0): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || !Number.isSafeInteger(number)) {
    throw new Refused(field, `${JSON.stringify(text)} is not an integer of at least ${least}`);
  }
  return number;
}

/** A rate period in whole seconds, from 1 second to a week. @see docs/interface.md#limits */
export function period(field: string, text: string): number {
  const length = seconds(field, text);
  if (!Number.isInteger(length) || length < 1 || length > longestPeriodSeconds) {
    throw new Refused(
      field,
      `the rate period must be an integer of seconds from 1 to ${longestPeriodSeconds} (a week)`,
    );
  }
  return length;
}

/** Limits such as `parallelism=10, rate=5, period=1m`. A rate may include its period: `rate=3 per 1d`. */
export function limits(field: string, text: string): Limits {
  const given: { -readonly [K in keyof Limits]: Limits[K] } = {};
  for (const part of text.split(",")) {
    const [, name, value = ""] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    if (name === "parallelism") {
      given.parallelism = whole(field, value, 1);
    } else if (name === "rate") {
      const [count = "", per, ...more] = value.split(/\s+per\s+/);
      given.rate = whole(field, count, 1);
      if (per !== undefined && more.length === 0) {
        given.period = period(field, per);
      }
    } else if (name === "period") {
      given.period = period(field, value);
    } else {
      throw new Refused(field, `${JSON.stringify(part.trim())} is not one of "parallelism=", "rate=" and "period="`);
    }
  }
  if (given.period !== undefined && given.rate === undefined) {
    throw new Refused(field, "a period requires a rate");
  }
  return given;
}

/** The name of a queue or a schedule. @see docs/interface.md#limits */
export function entityName(field: string, text: unknown): string {
  if (typeof text !== "string" || !/^[\w.-]+$/.test(text)) {
    throw new Refused(field, "must consist of letters, digits, hyphens, underscores and periods");
  }
  return text;
}

/** A URL on this machine. Messages are sent to no other. */
export function destination(field: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Refused(field, `${JSON.stringify(text)} is not an http or https URL`);
  }
  if (!isLoopback(url.hostname)) {
    throw new Refused(field, `${url.host} is not on this machine: the local platform sends messages nowhere else`);
  }
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    throw new Refused(field, "has a malformed percent-encoding in its user name or password");
  }
  return url.href;
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Node decodes the user name and password when it sends a request. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
