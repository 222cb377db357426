import { type Delivery, type Failure } from "./retry";
import { NotSentError, RejectedError, type RequestError, type RequestFacts, UnconfirmedError } from "./errors";
import { redact } from "./redact";
import { isObject } from "../records/values";
import { readJson } from "../records/response";

/** One of the platform's two services: its address and credentials. */
export interface Service {
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  /** The Authorization header. */
  readonly authorization: string;
  /** The setting that names the address, for advice. */
  readonly addressSetting: string;
  /** The setting for the path of a reset, for advice. */
  readonly pathSetting: string;
  /** The settings for the credentials, for advice. */
  readonly credentialSettings: string;
}

/** What is known of an attempt that failed. */
export interface FailedAttempt extends Pick<Failure, "code" | "status" | "retryAfterMs"> {
  readonly delivery: Exclude<Delivery, "responded">;
  readonly body?: string;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
}

/** The error for a request that is not retried: what happened, what may have changed, what to do. */
export function errorOf(
  facts: RequestFacts,
  service: Service,
  secrets: readonly string[],
  failed: FailedAttempt & { attempts: number },
): RequestError {
  const { delivery, status, code } = failed;
  if (delivery === "not sent") {
    const { happened, advice } = whyNotSent(service, failed);
    return new NotSentError(facts, happened, advice, code);
  }
  const happened = withAttempts(whatHappened(secrets, failed), failed.attempts);
  if (delivery === "rejected") {
    const inJson = tryReadObject(failed.body ?? "") !== undefined;
    return new RejectedError(facts, happened, adviceFor(service, failed), status ?? 0, inJson);
  }
  return new UnconfirmedError(facts, happened, adviceFor(service, failed), status, code);
}

/** What happened to a request that cannot have reached the platform, and what to do. */
export function whyNotSent(
  service: Pick<Service, "addressSetting">,
  { proxy, code, attempts }: Pick<FailedAttempt, "proxy" | "code"> & { attempts: number },
): { happened: string; advice: string } {
  const address = service.addressSetting;
  if (proxy === "unreachable") return { happened: "the proxy could not be reached", advice: "Check rekey:proxy." };
  if (proxy !== undefined) {
    const happened = `the proxy responded with ${proxy} instead of opening a tunnel`;
    return { happened, advice: "Check rekey:proxy and its credentials." };
  }
  const certificate = certificateFailure(code, address);
  if (certificate !== undefined) return certificate;
  const happened = withAttempts(connectionFailure(code), attempts);
  if (code === "ENOTFOUND") return { happened, advice: `Check the host in ${address}.` };
  if (isTlsCode(code)) return { happened, advice: `Check that the port in ${address} uses TLS.` };
  return { happened, advice: `Check that the platform is running and that ${address} is correct, then run again.` };
}

function connectionFailure(code: string | undefined): string {
  if (code === "deadline" || code === "ETIMEDOUT") return "the connection timed out";
  if (code === "ENOTFOUND") return "the host was not found";
  if (code === "ECONNREFUSED") return "the connection was refused (ECONNREFUSED)";
  if (isTlsCode(code)) return `the TLS connection failed (${code})`;
  return `the connection failed (${code ?? "for an unknown reason"})`;
}

export function isTlsAlert(code = ""): boolean {
  return /^ERR_SSL_.*ALERT/.test(code);
}

function isTlsCode(code = ""): boolean {
  return /ERR_TLS|ERR_SSL|EPROTO$/.test(code);
}

/**
 * What is wrong with the certificate of a server, and what to do; undefined for the code of another failure.
 *
 * @param address the setting or input that names the server
 */
export function certificateFailure(
  code: string | undefined,
  address: string,
): { happened: string; advice: string } | undefined {
  // An alert of the server (ERR_SSL_…_ALERT_…) is about the client's certificate.
  if (code === undefined || isTlsAlert(code) || !/CERT|UNABLE_TO|HOSTNAME_MISMATCH/.test(code)) return undefined;
  if (/ALTNAME_INVALID|HOSTNAME_MISMATCH/.test(code)) {
    const advice = `Set ${address} to the host that the certificate is for, then run again.`;
    return { happened: `the server's certificate is for another host (${code})`, advice };
  }
  if (/SELF_SIGNED|UNABLE_TO|UNTRUSTED/.test(code)) {
    const happened = `the server's certificate is self-signed or of an authority that is not trusted (${code})`;
    return { happened, advice: "Set rekey:caFile to the certificate of that authority, then run again." };
  }
  const advice = "Renew the certificate, check the clock of this machine, then run again.";
  if (code === "CERT_HAS_EXPIRED") return { happened: `the server's certificate has expired (${code})`, advice };
  if (code === "CERT_NOT_YET_VALID") return { happened: `the server's certificate is not valid yet (${code})`, advice };
  return {
    happened: `the server's certificate is not accepted (${code})`,
    advice: `Check ${address}, then run again.`,
  };
}

function whatHappened(secrets: readonly string[], failed: FailedAttempt): string {
  const { status, code } = failed;
  if (status === undefined) {
    if (code === "deadline") return "no complete response arrived within the deadline (rekey:deadlineSeconds)";
    if (code === "too large") return "the response was too large";
    return `the response was incomplete or malformed (${code ?? "for an unknown reason"})`;
  }
  const words = redact(serverWords(failed), secrets);
  return `the platform responded with ${status}${words && `: ${words}`}`;
}

/**
 * The server's own words: `error`, else `message`, else the raw text. The raw text is left out if the request may have
 * been applied, because it may then contain the new credentials.
 */
function serverWords({ body = "", delivery }: FailedAttempt): string {
  const value = tryReadObject(body);
  const words = [value?.["error"], value?.["message"]].find((one) => typeof one === "string");
  if (words !== undefined) return words;
  return delivery === "rejected" && !body.includes("<") ? body : "";
}

function tryReadObject(body: string): Record<string, unknown> | undefined {
  try {
    const { value } = readJson(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function adviceFor(service: Service, { status, retryAfterMs, delivery }: FailedAttempt): string {
  if (status === 401 || status === 403) return `Check ${service.credentialSettings}.`;
  if (status === 404) return `Check the id or key, ${service.addressSetting} and ${service.pathSetting}.`;
  if (status === 429) {
    return `Wait${typeof retryAfterMs === "number" ? ` ${Math.ceil(retryAfterMs / 1000)} s` : ""}, then run again; rekey:requestsPerSecond limits the rate.`;
  }
  if (status !== undefined && status < 400 && delivery === "rejected") {
    return `Redirects are not followed: set ${service.addressSetting} to the address that the platform itself uses.`;
  }
  if (delivery === "rejected") return "Fix what the platform reports, then run again.";
  return "Check the status of the platform, then run again.";
}

function withAttempts(happened: string, attempts: number): string {
  return attempts > 1 ? `${happened}, after ${attempts} attempts` : happened;
}
