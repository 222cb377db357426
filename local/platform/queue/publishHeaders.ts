import { validateHeaderName, validateHeaderValue } from "node:http";
import { Refused } from "../refused";
import { type Limits } from "./flowControlKey";
import { destination, type Destinations, limits, seconds, whole } from "./values";

/** Headers by their names in lower case. */
export type SentHeaders = Readonly<Record<string, string | undefined>>;

/** What the headers of a publish ask for. */
export interface PublishSettings {
  /** Method of the request to the destination. */
  readonly method: string;
  /** Headers of the request to the destination. */
  readonly headers: Readonly<Record<string, string>>;
  /** How often a delivery that fails is tried again. */
  readonly retries: number;
  /** How long the destination may take, in seconds. */
  readonly timeout: number;
  /** Seconds to wait before the first try. */
  readonly delay?: number | undefined;
  /** Unix time in seconds before which it must not be tried. */
  readonly notBefore?: number | undefined;
  readonly flowControl?: (Limits & { readonly key: string }) | undefined;
  readonly label?: string | undefined;
  /** Where the destination's answer is sent, once it was delivered. */
  readonly callback?: Callback | undefined;
  /** Where the last failure is sent, after the last retry. */
  readonly failureCallback?: Callback | undefined;
}

export interface Callback extends PublishSettings {
  readonly destination: string;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const unsupported = ["Deduplication-Id", "Content-Based-Deduplication", "Retry-Delay"];
/** Headers of the connection to the platform, which say nothing of the one to the destination. */
const ofTheConnection = /^(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade|expect)$/;

/**
 * Reads `Upstash-…` headers.
 *
 * @throws Refused that names the header
 */
export function publishSettings(headers: SentHeaders, allowed: Destinations): PublishSettings {
  const callback = callbackSettings(headers, "Upstash-Callback", allowed);
  const failureCallback = callbackSettings(headers, "Upstash-Failure-Callback", allowed);
  return { ...settings(headers, "Upstash-"), callback, failureCallback };
}

function settings(headers: SentHeaders, prefix: string): PublishSettings {
  const read = <T>(name: string, parse: (field: string, text: string) => T): T | undefined => {
    const text = headers[(prefix + name).toLowerCase()];
    return text === undefined ? undefined : parse(prefix + name, text);
  };
  for (const name of unsupported) {
    read(name, (field) => {
      throw new Refused(field, "the local platform does not support it");
    });
  }
  return {
    method: read("Method", method) ?? "POST",
    headers: forwarded(headers, `${prefix}Forward-`),
    retries: read("Retries", whole) ?? 3,
    timeout: read("Timeout", seconds) ?? 900,
    delay: read("Delay", seconds),
    notBefore: read("Not-Before", whole),
    flowControl: flowControl(headers, prefix),
    label: read("Label", (_field, text) => text),
  };
}

function callbackSettings(headers: SentHeaders, name: string, allowed: Destinations): Callback | undefined {
  const url = headers[name.toLowerCase()];
  // Whoever sets how a callback is delayed wants one, so it is refused in any case (interface, section 7).
  for (const delay of [`${name}-Delay`, `${name}-Not-Before`]) {
    if (headers[delay.toLowerCase()] !== undefined) {
      throw new Refused(delay, "a message with a delayed callback is not accepted");
    }
  }
  return url === undefined
    ? undefined
    : { ...settings(headers, `${name}-`), destination: destination(name, url, allowed) };
}

function method(field: string, text: string): string {
  if (!methods.includes(text.toUpperCase())) {
    throw new Refused(field, `${JSON.stringify(text)} is none of ${methods.join(", ")}`);
  }
  return text.toUpperCase();
}

function flowControl(headers: SentHeaders, prefix: string): PublishSettings["flowControl"] {
  const [keyField, valueField] = [`${prefix}Flow-Control-Key`, `${prefix}Flow-Control-Value`];
  const key = headers[keyField.toLowerCase()];
  const value = headers[valueField.toLowerCase()];
  if (key === undefined && value === undefined) {
    return undefined;
  }
  if (!key) {
    throw new Refused(keyField, key === undefined ? "is missing; limits need a key" : "must not be empty");
  }
  if (value === undefined) {
    throw new Refused(valueField, 'is missing; it says the limits, such as "parallelism=10, rate=5, period=1m"');
  }
  return { key, ...limits(valueField, value) };
}

/** The headers to forward, and the content type of the message itself. */
function forwarded(headers: SentHeaders, prefix: string): Record<string, string> {
  const result: Record<string, string> = {};
  const forward = (field: string, name: string, value: string) => {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new Refused(field, "is no header that can be sent");
    }
    result[name] = value;
  };
  const contentType = headers["content-type"];
  if (prefix === "Upstash-Forward-" && contentType !== undefined) {
    forward("Content-Type", "content-type", contentType);
  }
  for (const [field, value] of Object.entries(headers)) {
    const name = field.slice(prefix.length);
    if (field.startsWith(prefix.toLowerCase()) && value !== undefined && !ofTheConnection.test(name)) {
      forward(prefix + name, name, value);
    }
  }
  return result;
}
