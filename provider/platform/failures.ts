import { type Fields, isObject, type RecordOf } from "../records/fields";
import { readRecord, nestedCredentials, tryReadJson, tryReadObject } from "../records/response";
import { RequestError, type RequestFacts, type RequestProblem } from "../domain/errors";
import { quote } from "./quote";
import { type KnownSecrets } from "./redact";
import { type FailedAttempt, type Failure } from "./retry";

export type ServiceName = "management" | "queue" | "database" | "vendor";

/** Names of a service's address and credentials: settings, or inputs of a verification. */
const namesOf: Readonly<Record<ServiceName, Readonly<Record<"address" | "credentials", string>>>> =
  {
    management: { address: "rekey:baseUrl", credentials: "rekey:username and rekey:password" },
    queue: { address: "rekey:queueUrl", credentials: "rekey:queueToken or rekey:queueUserId" },
    database: { address: "its address", credentials: "restToken" },
    vendor: { address: "http.url", credentials: "credential" },
  };

/** The error for a request that is not retried: what happened, what may have changed, what to do. */
export function errorOf(
  facts: RequestFacts,
  service: ServiceName,
  failed: FailedAttempt,
  secrets: KnownSecrets,
): RequestError {
  const { happened, ...rest } = requestProblem(facts, service, failed, secrets);
  const { delivery, attempt } = failed;
  const attempts = attempt > 1 ? `, after ${attempt} attempts` : "";
  return new RequestError(delivery, facts, { ...rest, happened: `${happened}${attempts}` });
}

function requestProblem(
  facts: RequestFacts,
  service: ServiceName,
  failure: Failure,
  secrets: KnownSecrets,
): RequestProblem {
  const { delivery, status, code, body = "" } = failure;
  if (delivery === "not sent") return whyNotSent(service, failure);
  const advice = adviceOn(failure, service, facts);
  if (status === undefined) {
    const other = `the response was incomplete or malformed (${code ?? "for an unknown reason"})`;
    return { happened: losses[code ?? ""] ?? other, advice };
  }
  // The body may show a credential that was not known.
  secrets.add(nestedCredentials(tryReadJson(body)));
  const json = tryReadObject(body);
  const sent = [json?.["error"], json?.["message"]].find((one) => typeof one === "string");
  const words = json && quote(sent ?? "", secrets);
  return {
    happened: `the ${responderOf(service)} responded with ${status}${words ? `: ${words}` : ""}`,
    advice,
    status,
    words,
  };
}

/** The server that responds to a request, in messages. */
function responderOf(service: ServiceName): string {
  return service === "database" || service === "vendor" ? service : "platform";
}

/** Why a request cannot have reached the service, and what to do. */
export function whyNotSent(
  service: ServiceName,
  { proxy, code = "" }: Pick<Failure, "proxy" | "code">,
): RequestProblem {
  const { address } = namesOf[service];
  if (proxy === "unreachable") {
    return { happened: "the proxy could not be reached", advice: "Check rekey:proxy." };
  }
  if (proxy !== undefined) {
    const happened = `the proxy responded with ${proxy} instead of opening a tunnel`;
    return { happened, advice: "Check rekey:proxy and its credentials." };
  }
  if (isClientCertificate(code)) return clientCertificate;
  if (/CERT|UNABLE_TO|HOSTNAME_MISMATCH/.test(code) && !/^ERR_SSL_.*ALERT/.test(code)) {
    const happened = `the server's certificate was not accepted (${code})`;
    const advice = `Check that the certificate is for the host in ${address} and has not expired, that this machine's clock is right, and that rekey:caFile contains the certificate of the authority if that is not a public one.`;
    return { happened, advice };
  }
  if (/ERR_TLS|ERR_SSL|EPROTO$/.test(code)) {
    // A server without TLS may wait for the rest of what it takes for a command.
    const happened =
      code === "ERR_TLS_HANDSHAKE_TIMEOUT"
        ? "the server accepted the connection, but does not seem to speak TLS"
        : `the TLS connection failed (${code})`;
    const advice = `Check that the port in ${address} uses TLS and demands no client certificate.`;
    return { happened, advice: service === "database" ? `${advice} ${withoutTls}` : advice };
  }
  const happened =
    code === "ETIMEDOUT"
      ? "the connection timed out"
      : code === "ENOTFOUND"
        ? "the host was not found"
        : `the connection failed (${code || "for an unknown reason"})`;
  const advice = `Check that the ${responderOf(service)} is running and that ${address} is correct, then run again.`;
  return { happened, advice: [advice, ...ignoredProxy()].join(" ") };
}

const withoutTls =
  "If it is a server on this machine without TLS, set tls: false. Elsewhere, a password is never sent without TLS.";

/** The problem with a server that refuses connections without a client certificate. */
export const clientCertificate: RequestProblem = {
  happened: "the server demands a client certificate",
  advice:
    "Rekey does not support client certificates: let the server accept clients without one (of a Redis, `tls-auth-clients optional`).",
};

/** True if a server has closed a connection because it demands a client certificate. */
export function isClientCertificate(code = ""): boolean {
  return /^ERR_SSL_.*ALERT_.*CERTIFICATE/.test(code);
}

/** A note on a proxy in the environment, if there is one: Rekey does not use it, as many programs do. */
export function ignoredProxy(environment = process.env): string[] {
  const variables = ["HTTPS_PROXY", "https_proxy"].filter((name) => environment[name]);
  return variables
    .slice(0, 1)
    .map((name) => `${name} has no effect: if a proxy is needed, set rekey:proxy.`);
}

/** Why there is no response to a request that may have arrived, by the codes of our own. */
const losses: Readonly<Record<string, string>> = {
  deadline: "no complete response arrived within the deadline (rekey:deadlineSeconds)",
  "too large": "the response was too large",
};

/** Advice on a request that reached the service. */
function adviceOn(
  { status = 0, delivery, retryAfterMs = Infinity }: Failure,
  service: ServiceName,
  facts: RequestFacts,
): string {
  const { address, credentials } = namesOf[service];
  if (delivery !== "rejected") {
    // Until a reset is confirmed, clients may be refused.
    const isReset = service === "management" && facts.method === "POST";
    return isReset
      ? "Run `up` again right away."
      : `Check the ${responderOf(service)}'s status, then run again.`;
  }
  const isWriteRefused = facts.method === "POST" && status === 403;
  const key = ` The API key may ${isWriteRefused ? "be read-only, or " : ""}belong to another team.`;
  const aboutKey = service === "management" ? key : "";
  if (status === 401 || status === 403) return `Check ${credentials}.${aboutKey}`;
  if (status === 404 || status === 405) return `${adviceOnContent(service, facts)}${aboutKey}`;
  if (status === 429) {
    const wait = Number.isFinite(retryAfterMs)
      ? `Wait ${Math.ceil(retryAfterMs / 1000)} s`
      : "Wait";
    return `${wait}, then run again; rekey:requestsPerSecond limits the rate.`;
  }
  if (status >= 400) return "Fix what the platform reports, then run again.";
  return `Redirects are not followed: set ${address} to the address that the platform redirects to.`;
}

/** Advice if the responding server does not know what was requested. */
function adviceOnContent(service: ServiceName, { toCheck = [] }: RequestFacts): string {
  const { address } = namesOf[service];
  return `Check ${[toCheck.join(", "), address].filter((name) => name !== "").join(" and ")}.`;
}

/** Facts about a response with 2xx. */
interface Responded {
  readonly facts: RequestFacts;
  readonly status: number;
  readonly service: ServiceName;
}

/**
 * The error for a response with 2xx that cannot be used.
 *
 * @param what what is wrong with it: `is not JSON`
 * @param delivery `maybe applied` for that to a reset
 */
export function unusable(
  response: Responded,
  what: string,
  delivery: "responded" | "maybe applied" = "responded",
): RequestError {
  const { facts, status } = response;
  const happened = `the platform responded with ${status}, but the response ${what}`;
  const advice = adviceOnContent(response.service, facts);
  return new RequestError(delivery, facts, { happened, advice, status });
}

/** The JSON of a response to a read. @throws RequestError */
export function jsonIn(response: Responded & { readonly body: string }): unknown {
  if (response.status !== 200) throw unusable(response, "does not have status 200");
  const json = tryReadJson(response.body);
  if (json === undefined) throw unusable(response, "is not JSON");
  return json;
}

/** The entries of a list, which is not shown in part. Servers in Go send null for an empty one. @throws RequestError */
export function jsonEntries(response: Responded, sent: unknown, what: string): unknown[] {
  if (sent === null) return [];
  if (!Array.isArray(sent)) throw unusable(response, `is not a list of ${what}`);
  return sent;
}

/**
 * Reads a record strictly: what could be read in part must not be taken for the whole.
 *
 * @param at where it is in the response: `entry 2: `
 */
export function recordIn<F extends Fields>(
  response: Responded,
  fields: F,
  sent: unknown,
  at = "",
): RecordOf<F> {
  if (!isObject(sent)) throw unusable(response, `cannot be read (${at}it is not an object)`);
  const { record, problems, exactIntegers } = readRecord(fields, sent);
  const inexact = Object.keys(exactIntegers).map(
    (name) => `${name}: larger than a number can represent`,
  );
  const all = [...problems, ...inexact].join("; ");
  if (all !== "") throw unusable(response, `cannot be read (${at}${all})`);
  return record;
}
