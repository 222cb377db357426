import { validateHeaderName, validateHeaderValue } from "node:http";
import { keyPattern, keyProblem } from "../flowControl";
import { Refused } from "../refused";
import { type Limits } from "./flowControlKey";
import { destination, limits, seconds, whole } from "./values";

/** Headers by lower-case name. */
export type SentHeaders = Readonly<Record<string, string | undefined>>;

/** The settings in the headers of a publish request. */
export interface PublishSettings {
  /** Method of the request to the destination. */
  readonly method: string;
  /** Headers of the request to the destination. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum number of retries. */
  readonly retries: number;
  /** Timeout of a delivery. */
  readonly timeoutSeconds: number;
  /** Delay before the first attempt. */
  readonly delaySeconds?: number | undefined;
  /** Time before which it must not be delivered: Unix time in seconds. */
  readonly notBefore?: number | undefined;
  readonly flowControl?: (Limits & { readonly key: string }) | undefined;
  readonly label?: string | undefined;
  /** Receives the destination's response after the delivery. */
  readonly callback?: Callback | undefined;
  /** Receives the error after the last retry. */
  readonly failureCallback?: Callback | undefined;
}

export interface Callback extends PublishSettings {
  readonly destination: string;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const unsupported = ["Deduplication-Id", "Content-Based-Deduplication", "Retry-Delay"];
/** Headers of the connection to the platform, which are not forwarded. */
const ofTheConnection = /^(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade|expect)$/;

/**
 * Reads `Upstash-…` headers.
 *
 * @throws Refused that names the header
 */
export function publishSettings(headers: SentHeaders): PublishSettings {
  const callback = callbackSettings(headers, "Upstash-Callback");
  const failureCallback = callbackSettings(headers, "Upstash-Failure-Callback");
  return { ...settings(headers, "Upstash-"), callback, failureCallback };
}

function settings(headers: SentHeaders, prefix: string): PublishSettings {
  const read = <T>(name: string, parse: (field: string, text: string) => T): T | undefined => {
    const text = headers[(prefix + name).toLowerCase()];
    return text === undefined ? undefined : parse(prefix + name, text);
  };
  for (const name of unsupported) {
    read(name, (field) => {
      throw new Refused(field, "is not supported by the local platform");
    });
  }
  return {
    method: read("Method", method) ?? "POST",
    headers: forwarded(headers, `${prefix}Forward-`),
    retries: read("Retries", whole) ?? 3,
    timeoutSeconds: read("Timeout", seconds) ?? 900,
    delaySeconds: read("Delay", seconds),
    notBefore: read("Not-Before", whole),
    flowControl: flowControl(headers, prefix),
    label: read("Label", (_field, text) => text),
  };
}

function callbackSettings(headers: SentHeaders, name: string): Callback | undefined {
  const url = headers[name.toLowerCase()];
  // The delay headers imply a callback, so they are rejected even without one.
  for (const delay of [`${name}-Delay`, `${name}-Not-Before`]) {
    if (headers[delay.toLowerCase()] !== undefined) {
      throw new Refused(delay, "delayed callbacks are not supported");
    }
  }
  return url === undefined ? undefined : { ...settings(headers, `${name}-`), destination: destination(name, url) };
}

function method(field: string, text: string): string {
  if (!methods.includes(text.toUpperCase())) {
    throw new Refused(field, `${JSON.stringify(text)} is not one of ${methods.join(", ")}`);
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
    throw new Refused(keyField, key === undefined ? "is missing; limits require a key" : "must not be empty");
  }
  if (!keyPattern.test(key)) throw new Refused(keyField, keyProblem);
  if (value === undefined) {
    throw new Refused(valueField, 'is missing; set the limits, such as "parallelism=10, rate=5, period=1m"');
  }
  return { key, ...limits(valueField, value) };
}

/** The headers to forward, and the content type of the message. */
function forwarded(headers: SentHeaders, prefix: string): Record<string, string> {
  const result: Record<string, string> = {};
  const forward = (field: string, name: string, value: string) => {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new Refused(field, "is not a valid header");
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
