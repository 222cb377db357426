import { credentialsIn, tryReadJson, tryReadObject } from "../records/response";
import { RequestError, type RequestFacts } from "./errors";
import { type KnownSecrets } from "./redact";
import { quote } from "./serverWords";
import { type Failure } from "./retry";

export type ServiceName = "management" | "queue" | "database";

/** What a service's address and credentials are called: settings, or inputs of a verification. */
const namesOf: Readonly<Record<ServiceName, Readonly<Record<"address" | "credentials", string>>>> = {
  management: { address: "rekey:baseUrl", credentials: "rekey:username and rekey:password" },
  queue: { address: "rekey:queueUrl", credentials: "rekey:queueToken or rekey:queueUserId" },
  database: { address: "host and port", credentials: "restToken" },
};

/** An attempt that failed. */
export interface FailedAttempt extends Pick<Failure, "delivery" | "code" | "status" | "retryAfterMs"> {
  readonly body?: string | undefined;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
}

/** The error for a request that is not retried: what happened, what may have changed, what to do. */
export function errorOf(
  facts: RequestFacts,
  service: ServiceName,
  failed: FailedAttempt & Pick<Failure, "attempt">,
  secrets: KnownSecrets,
): RequestError {
  const { delivery, status, code, body = "", attempt } = failed;
  const attempts = attempt > 1 ? `, after ${attempt} attempts` : "";
  if (delivery === "not sent") {
    const { happened, advice } = whyNotSent(service, failed);
    return new RequestError(delivery, facts, { happened: `${happened}${attempts}`, advice, networkCode: code });
  }
  const advice = adviceOn(failed, service, facts);
  if (status === undefined) {
    return new RequestError(delivery, facts, { happened: `${whyLost(code)}${attempts}`, advice, networkCode: code });
  }
  // The body may show a credential that was not known.
  secrets.add(credentialsIn(tryReadJson(body)?.value));
  const json = tryReadObject(body);
  const sent = [json?.["error"], json?.["message"]].find((one) => typeof one === "string");
  const words = quote(sent ?? "", secrets);
  const responder = service === "database" ? "database" : "platform";
  const happened = `the ${responder} responded with ${status}${words && `: ${words}`}${attempts}`;
  return new RequestError(delivery, facts, { happened, advice, status, words, isJson: json !== undefined });
}

interface Reason {
  readonly happened: string;
  readonly advice: string;
}

/** Why a request cannot have reached the service, and what to do. */
export function whyNotSent(service: ServiceName, { proxy, code = "" }: Pick<FailedAttempt, "proxy" | "code">): Reason {
  const { address } = namesOf[service];
  if (proxy === "unreachable") return { happened: "the proxy could not be reached", advice: "Check rekey:proxy." };
  if (proxy !== undefined) {
    const happened = `the proxy responded with ${proxy} instead of opening a tunnel`;
    return { happened, advice: "Check rekey:proxy and its credentials." };
  }
  if (isCertificateCode(code)) {
    const happened = `the server's certificate is not accepted (${code})`;
    const advice = `Check that the certificate is for the host in ${address}, that its dates and the clock of this machine are right, and that rekey:caFile has the certificate of its authority if that is not a public one.`;
    return { happened, advice };
  }
  if (/ERR_TLS|ERR_SSL|EPROTO$/.test(code)) {
    return { happened: `the TLS connection failed (${code})`, advice: `Check that the port in ${address} uses TLS.` };
  }
  const happened =
    code === "ETIMEDOUT"
      ? "the connection timed out"
      : code === "ENOTFOUND"
        ? "the host was not found"
        : `the connection failed (${code || "for an unknown reason"})`;
  return { happened, advice: `Check that the platform is running and that ${address} is correct, then run again.` };
}

function isTlsAlert(code = ""): boolean {
  return /^ERR_SSL_.*ALERT/.test(code);
}

/** Whether a server's certificate was not accepted. An alert of the server is about the client's certificate. */
function isCertificateCode(code = ""): boolean {
  return !isTlsAlert(code) && /CERT|UNABLE_TO|HOSTNAME_MISMATCH/.test(code);
}

/** Why there is no response to a request that may have arrived. */
function whyLost(code: string | undefined): string {
  if (code === "deadline") return "no complete response arrived within the deadline (rekey:deadlineSeconds)";
  if (code === "too large") return "the response was too large";
  return `the response was incomplete or malformed (${code ?? "for an unknown reason"})`;
}

/** What to do about a request that reached the service. */
function adviceOn(
  { status = 0, delivery, retryAfterMs = Infinity }: FailedAttempt,
  service: ServiceName,
  facts: RequestFacts,
): string {
  const { address, credentials } = namesOf[service];
  // Upstash responds to a management request with one of these.
  const team = service === "management" ? " The API key may be of another team." : "";
  if (delivery !== "rejected") {
    // Until a reset is confirmed, clients may be refused.
    const isReset = service === "management" && facts.method === "POST";
    return isReset ? "Run `up` again at once." : "Check the status of the platform, then run again.";
  }
  if (status === 401 || status === 403) return `Check ${credentials}.${team}`;
  if (isMissing(status)) return `${adviceOnContent(service, facts)}${team}`;
  if (status === 429) {
    const wait = Number.isFinite(retryAfterMs) ? `Wait ${Math.ceil(retryAfterMs / 1000)} s` : "Wait";
    return `${wait}, then run again; rekey:requestsPerSecond limits the rate.`;
  }
  if (status >= 400) return "Fix what the platform reports, then run again.";
  return `Redirects are not followed: set ${address} to the address that the platform itself uses.`;
}

/** What to do if what responds does not know what was requested. */
function adviceOnContent(service: ServiceName, { toCheck = [] }: RequestFacts): string {
  const { address } = namesOf[service];
  return `Check ${[toCheck.join(", "), address].filter((name) => name !== "").join(" and ")}.`;
}

function isMissing(status: number | undefined): boolean {
  return status === 404 || status === 405;
}

/** Whether an error means that the platform does not have an operation, or what the operation is for. */
export function isNotFound(error: unknown): error is RequestError {
  return isRejected(error) && isMissing(error.status);
}

export function isRejected(error: unknown): error is RequestError {
  return error instanceof RequestError && error.delivery === "rejected";
}

/**
 * The error for a response with 2xx that cannot be used.
 *
 * @param what is wrong with it: `is not JSON`
 * @param delivery `maybe applied` for that to a reset
 */
export function unusable(
  { facts, status, service }: { readonly facts: RequestFacts; readonly status: number; readonly service: ServiceName },
  what: string,
  delivery: "responded" | "maybe applied" = "responded",
): RequestError {
  const happened = `the platform responded with ${status}, but the response ${what}`;
  return new RequestError(delivery, facts, { happened, advice: adviceOnContent(service, facts), status });
}
