import { type Delivery, type Failure } from "./retry";
import { NotSentError, RejectedError, type RequestError, type RequestFacts, UnconfirmedError } from "./errors";
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

/** What went wrong, as far as the advice depends on it. */
export type FailureKind =
  | "proxy unreachable"
  | "proxy response"
  | "certificate of another host"
  | "certificate not trusted"
  | "certificate out of date"
  | "certificate not accepted"
  | "unknown host"
  | "no TLS"
  | "no connection"
  | "unauthorized"
  | "not found"
  | "too many requests"
  | "redirect"
  | "rejected"
  | "unconfirmed"
  | "unusable response";

/** What errors need from callers, who know the settings. */
export interface Wording {
  /** What errors never show, whichever service repeats it. */
  readonly secrets: KnownSecrets;
  /** The deadline, as a message names it. */
  readonly deadlineName: string;
  /** What to do about a failure. */
  readonly advise: (
    failure: { readonly service: ServiceName; readonly kind: FailureKind; readonly method?: string } & Pick<
      Failure,
      "retryAfterMs"
    >,
  ) => string;
}

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
  wording: Wording,
): RequestError {
  const { delivery, status, code, retryAfterMs } = failed;
  if (delivery === "not sent") {
    const { happened, kind } = whyNotSent(failed, failed.attempts);
    return new NotSentError(facts, { happened, advice: wording.advise({ service, kind }), networkCode: code });
  }
  const happened = withAttempts(whatHappened(failed, service, wording), failed.attempts);
  const problem = {
    happened,
    advice: wording.advise({ service, kind: kindOf(failed), method: facts.method, retryAfterMs }),
    status,
  };
  if (delivery === "rejected") {
    const words = wording.secrets.quote(serverWords(failed));
    return new RejectedError(facts, { ...problem, inJson: tryReadObject(failed.body ?? "") !== undefined, words });
  }
  return new UnconfirmedError(facts, { ...problem, networkCode: code });
}

interface Reason {
  readonly happened: string;
  readonly kind: FailureKind;
}

/** What happened to a request that cannot have reached the service. */
export function whyNotSent({ proxy, code }: Pick<FailedAttempt, "proxy" | "code">, attempts = 1): Reason {
  if (proxy === "unreachable") return { happened: "the proxy could not be reached", kind: "proxy unreachable" };
  if (proxy !== undefined) {
    return { happened: `the proxy responded with ${proxy} instead of opening a tunnel`, kind: "proxy response" };
  }
  const certificate = certificateFailure(code);
  if (certificate !== undefined) return certificate;
  const { happened, kind } = connectionFailure(code);
  return { happened: withAttempts(happened, attempts), kind };
}

function connectionFailure(code: string | undefined): Reason {
  const kind = "no connection";
  if (code === "deadline" || code === "ETIMEDOUT") return { happened: "the connection timed out", kind };
  if (code === "ENOTFOUND") return { happened: "the host was not found", kind: "unknown host" };
  if (code === "ECONNREFUSED") return { happened: "the connection was refused (ECONNREFUSED)", kind };
  if (isTlsCode(code)) return { happened: `the TLS connection failed (${code})`, kind: "no TLS" };
  return { happened: `the connection failed (${code ?? "for an unknown reason"})`, kind };
}

export function isTlsAlert(code = ""): boolean {
  return /^ERR_SSL_.*ALERT/.test(code);
}

function isTlsCode(code = ""): boolean {
  return /ERR_TLS|ERR_SSL|EPROTO$/.test(code);
}

/** What is wrong with the certificate of a server; undefined for the code of another failure. */
export function certificateFailure(code = ""): Reason | undefined {
  // An alert of the server (ERR_SSL_…_ALERT_…) is about the client's certificate.
  if (isTlsAlert(code) || !/CERT|UNABLE_TO|HOSTNAME_MISMATCH/.test(code)) return undefined;
  const failure = (problem: string, kind: FailureKind): Reason => {
    return { happened: `the server's certificate ${problem} (${code})`, kind };
  };
  if (/ALTNAME_INVALID|HOSTNAME_MISMATCH/.test(code)) {
    return failure("is for another host", "certificate of another host");
  }
  if (/SELF_SIGNED|UNABLE_TO|UNTRUSTED/.test(code)) {
    return failure("is self-signed or of an authority that is not trusted", "certificate not trusted");
  }
  if (code === "CERT_HAS_EXPIRED") return failure("has expired", "certificate out of date");
  if (code === "CERT_NOT_YET_VALID") return failure("is not valid yet", "certificate out of date");
  return failure("is not accepted", "certificate not accepted");
}

function whatHappened(failed: FailedAttempt, service: ServiceName, { deadlineName, secrets }: Wording): string {
  const { status, code } = failed;
  if (status === undefined) {
    if (code === "deadline") return `no complete response arrived within ${deadlineName}`;
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

function kindOf({ status = 0, delivery }: FailedAttempt): FailureKind {
  if (delivery !== "rejected") return "unconfirmed";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "not found";
  if (status === 429) return "too many requests";
  return status < 400 ? "redirect" : "rejected";
}

function withAttempts(happened: string, attempts: number): string {
  return attempts > 1 ? `${happened}, after ${attempts} attempts` : happened;
}

/** What may have changed by a request that only reads. */
export const nothingChanged: RequestFacts["consequences"] = {
  "not sent": "Nothing was changed.",
  rejected: "Nothing was changed.",
  "maybe applied": "Nothing was changed.",
};

/** Why Upstash may respond to a management request with 401 or 404. */
export const otherTeam = "The API key may be of another team.";

/** Whether an error means that the platform does not have an operation, or what the operation is for. */
export function isNotFound(error: unknown): error is RejectedError {
  return error instanceof RejectedError && (error.status === 404 || error.status === 405);
}

/** The same error, with what its caller knows of the reasons. */
export function explained(
  error: RejectedError,
  { purpose, consequences }: Pick<RequestFacts, "purpose" | "consequences">,
  problem: Pick<RejectedError, "happened" | "advice">,
): RejectedError {
  const { method, url, status, inJson, words } = error;
  return new RejectedError({ purpose, method, url, consequences }, { ...problem, status, inJson, words });
}
