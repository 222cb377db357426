import { type Delivery, type Failure } from "./retry";
import {
  NotSentError,
  RejectedError,
  type RequestError,
  type RequestFacts,
  UnconfirmedError,
  UnreadableError,
} from "./errors";
import { type KnownSecrets } from "./redact";
import { credentialsIn, tryReadJson, tryReadObject } from "../records/response";

export type ServiceName = "management" | "queue" | "database";

/** What requests are sent to: one of the platform's two services, or a database. */
export interface Service {
  readonly name: ServiceName;
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  /** The Authorization header. */
  readonly authorization: string;
}

/** What names a service's address, path and credentials: settings, or inputs of a verification. */
const namesOf: Readonly<Record<ServiceName, Readonly<Record<"address" | "path" | "credentials", string>>>> = {
  management: {
    address: "rekey:baseUrl",
    path: "rekey:resetPasswordPath",
    credentials: "rekey:username and rekey:password",
  },
  queue: {
    address: "rekey:queueUrl",
    path: "rekey:flowControlResetAction",
    credentials: "rekey:queueToken or rekey:queueUserId",
  },
  database: { address: "host", path: "port", credentials: "restToken" },
};

/** What is known of an attempt that failed. */
export interface FailedAttempt extends Pick<Failure, "code" | "status" | "retryAfterMs"> {
  readonly delivery: Exclude<Delivery, "responded">;
  /** Undefined if it is too large. */
  readonly body?: string | undefined;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
}

/** The error for a request that is not retried: what happened, what may have changed, what to do. */
export function errorOf(
  facts: RequestFacts,
  service: ServiceName,
  failed: FailedAttempt & { attempts: number },
  secrets: KnownSecrets,
): RequestError {
  const { delivery, status, code, attempts } = failed;
  if (delivery === "not sent") {
    return new NotSentError(facts, { ...whyNotSent(service, failed, attempts), networkCode: code });
  }
  const happened = withAttempts(whatHappened(failed, service, secrets), attempts);
  const problem = { happened, advice: adviceOn(failed, service, facts.method), status };
  if (delivery === "rejected") {
    const words = secrets.quote(serverWords(failed));
    return new RejectedError(facts, { ...problem, inJson: tryReadObject(failed.body ?? "") !== undefined, words });
  }
  return new UnconfirmedError(facts, { ...problem, networkCode: code });
}

interface Reason {
  readonly happened: string;
  readonly advice: string;
}

/** Why a request cannot have reached the service, and what to do. */
export function whyNotSent(
  service: ServiceName,
  { proxy, code }: Pick<FailedAttempt, "proxy" | "code">,
  attempts = 1,
): Reason {
  if (proxy === "unreachable") return { happened: "the proxy could not be reached", advice: "Check rekey:proxy." };
  if (proxy !== undefined) {
    const happened = `the proxy responded with ${proxy} instead of opening a tunnel`;
    return { happened, advice: "Check rekey:proxy and its credentials." };
  }
  const { address } = namesOf[service];
  if (isCertificateCode(code)) return certificateFailure(code, address);
  const { happened, advice } = connectionFailure(code, address);
  return { happened: withAttempts(happened, attempts), advice };
}

function connectionFailure(code: string | undefined, address: string): Reason {
  const advice = `Check that the platform is running and that ${address} is correct, then run again.`;
  if (code === "deadline" || code === "ETIMEDOUT") return { happened: "the connection timed out", advice };
  if (code === "ENOTFOUND") return { happened: "the host was not found", advice: `Check the host in ${address}.` };
  if (code === "ECONNREFUSED") return { happened: "the connection was refused (ECONNREFUSED)", advice };
  if (isTlsCode(code)) {
    return { happened: `the TLS connection failed (${code})`, advice: `Check that the port in ${address} uses TLS.` };
  }
  return { happened: `the connection failed (${code ?? "for an unknown reason"})`, advice };
}

function isTlsAlert(code = ""): boolean {
  return /^ERR_SSL_.*ALERT/.test(code);
}

function isTlsCode(code = ""): boolean {
  return /ERR_TLS|ERR_SSL|EPROTO$/.test(code);
}

/** Whether a server's certificate was not accepted. An alert of the server is about the client's certificate. */
function isCertificateCode(code: string | undefined): code is string {
  return !isTlsAlert(code) && /CERT|UNABLE_TO|HOSTNAME_MISMATCH/.test(code ?? "");
}

function certificateFailure(code: string, address: string): Reason {
  const failure = (problem: string, advice: string): Reason => {
    return { happened: `the server's certificate ${problem} (${code})`, advice: `${advice}, then run again.` };
  };
  if (/ALTNAME_INVALID|HOSTNAME_MISMATCH/.test(code)) {
    return failure("is for another host", `Set ${address} to the host that the certificate is for`);
  }
  if (/SELF_SIGNED|UNABLE_TO|UNTRUSTED/.test(code)) {
    const problem = "is self-signed or of an authority that is not trusted";
    return failure(problem, "Set rekey:caFile to the certificate of that authority");
  }
  const renew = "Renew the certificate, check the clock of this machine";
  if (code === "CERT_HAS_EXPIRED") return failure("has expired", renew);
  if (code === "CERT_NOT_YET_VALID") return failure("is not valid yet", renew);
  return failure("is not accepted", `Check ${address}`);
}

function whatHappened(failed: FailedAttempt, service: ServiceName, secrets: KnownSecrets): string {
  const { status, code } = failed;
  if (status === undefined) {
    if (code === "deadline") return "no complete response arrived within the deadline (rekey:deadlineSeconds)";
    if (code === "too large") return "the response was too large";
    return `the response was incomplete or malformed (${code ?? "for an unknown reason"})`;
  }
  // The body may show a credential that was not known.
  secrets.add(credentialsIn(tryReadJson(failed.body ?? "")?.value));
  const words = secrets.quote(serverWords(failed));
  const responder = service === "database" ? "database" : "platform";
  return `the ${responder} responded with ${status}${words && `: ${words}`}`;
}

/** The server's own words: `error`, else `message`. */
function serverWords({ body = "" }: FailedAttempt): string {
  const value = tryReadObject(body);
  return [value?.["error"], value?.["message"]].find((one) => typeof one === "string") ?? "";
}

/** What to do about a request that reached the service. */
function adviceOn({ status = 0, delivery, retryAfterMs }: FailedAttempt, service: ServiceName, method: string): string {
  const { address, credentials } = namesOf[service];
  const team = service === "management" ? ` ${otherTeam}` : "";
  if (delivery !== "rejected") {
    // Until a reset is confirmed, clients may be refused.
    const isReset = service === "management" && method === "POST";
    return isReset ? "Run `up` again at once." : "Check the status of the platform, then run again.";
  }
  if (status === 401 || status === 403) return `Check ${credentials}.${team}`;
  if (status === 404) return `Check the id or key, ${address} and ${pathOf(service, method)}.${team}`;
  if (status === 429) {
    const wait = typeof retryAfterMs === "number" ? `Wait ${Math.ceil(retryAfterMs / 1000)} s` : "Wait";
    return `${wait}, then run again; rekey:requestsPerSecond limits the rate.`;
  }
  if (status >= 400) return "Fix what the platform reports, then run again.";
  return `Redirects are not followed: set ${address} to the address that the platform itself uses.`;
}

/** What to do about a response with 2xx that cannot be used. */
export function adviceOnContent(service: ServiceName, method: string): string {
  const { address } = namesOf[service];
  return service === "queue" ? `Check ${address}.` : `Check ${address} and ${pathOf(service, method)}, then run again.`;
}

function pathOf(service: ServiceName, method: string): string {
  const isRead = service === "management" && method === "GET";
  return isRead ? "rekey:databasePath, which `none` switches off" : namesOf[service].path;
}

function withAttempts(happened: string, attempts: number): string {
  return attempts > 1 ? `${happened}, after ${attempts} attempts` : happened;
}

/** Why Upstash may respond to a management request with 401 or 404. */
export const otherTeam = "The API key may be of another team.";

/** Whether an error means that the platform does not have an operation, or what the operation is for. */
export function isNotFound(error: unknown): error is RejectedError {
  return error instanceof RejectedError && (error.status === 404 || error.status === 405);
}

/** The error for a response to a read that cannot be used. */
export function unreadable(
  { facts, status, advice }: { readonly facts: RequestFacts; readonly status: number; readonly advice: string },
  what: string,
): UnreadableError {
  return new UnreadableError(facts, { happened: `the platform's response ${what}`, advice, status });
}
