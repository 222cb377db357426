import { type Delivery, type Failure } from "./retry";
import { NotSentError, RejectedError, type RequestError, type RequestFacts, UnconfirmedError } from "./errors";
import { isObject } from "../records/fields";
import { readJson } from "../records/json";
import { redact } from "./redact";
import { type Service } from "./requester";

/** What was seen of an attempt that did not do what it was to do. */
export interface FailedAttempt extends Pick<Failure, "code" | "status" | "retryAfter"> {
  readonly delivery: Exclude<Delivery, "answered">;
  readonly body?: string;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
}

/** The error for a request that has failed for good: what happened, what may have changed, what to do. */
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
  const happened = withAttempts(answered(secrets, failed), failed.attempts);
  if (delivery === "rejected") {
    const inJson = tryReadObject(failed.body ?? "") !== undefined;
    return new RejectedError(facts, happened, adviceFor(service, failed), status ?? 0, inJson);
  }
  return new UnconfirmedError(facts, happened, adviceFor(service, failed), status, code);
}

/** What happened to a request that cannot have arrived, and what to do. */
export function whyNotSent(
  service: Pick<Service, "addressSetting">,
  { proxy, code, attempts }: Pick<FailedAttempt, "proxy" | "code"> & { attempts: number },
): { happened: string; advice: string } {
  const address = service.addressSetting;
  if (proxy === "unreachable") return { happened: "the proxy could not be reached", advice: "Check rekey:proxy." };
  if (proxy !== undefined) {
    const happened = `the proxy answered ${proxy} instead of opening a way`;
    return { happened, advice: "Check rekey:proxy and its credentials." };
  }
  const happened = withAttempts(connectionFailure(code), attempts);
  if (code === "ENOTFOUND") return { happened, advice: `Check the host in ${address}.` };
  if (isCertificateCode(code)) {
    return { happened, advice: `Check ${address}; set rekey:caFile if the platform has a certificate of its own.` };
  }
  return { happened, advice: `Check that the platform runs and that ${address} is right, then run again.` };
}

function connectionFailure(code: string | undefined): string {
  if (code === "deadline") return "there was no connection within the deadline";
  if (code === "ENOTFOUND") return "the host was not found";
  if (code === "ECONNREFUSED") return "the connection was refused (ECONNREFUSED)";
  if (isCertificateCode(code)) return `no secure connection could be made (${code})`;
  return `the connection failed (${code ?? "for an unknown reason"})`;
}

function isCertificateCode(code = ""): boolean {
  return /CERT|UNABLE_TO|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO$|HOSTNAME_MISMATCH/.test(code);
}

function answered(secrets: readonly string[], failed: FailedAttempt): string {
  const { status, code } = failed;
  if (status === undefined) {
    if (code === "deadline") return "no whole answer came within the deadline (rekey:deadlineSeconds)";
    if (code === "too large") return "the answer was too large to be read";
    return `the answer was cut off or could not be read (${code ?? "for an unknown reason"})`;
  }
  const words = redact(serverWords(failed), secrets);
  return `the platform answered ${status}${words && `: ${words}`}`;
}

/**
 * What the server itself says: `error`, then `message`, then the raw text. The raw text is left out where the request may
 * have been applied, because it may then hold the new credentials.
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

function adviceFor(service: Service, { status, retryAfter, delivery }: FailedAttempt): string {
  if (status === 401 || status === 403) return `Check ${service.credentialSettings}.`;
  if (status === 404) return `Check the id or key, ${service.addressSetting} and ${service.pathSetting}.`;
  if (status === 429) {
    return `Wait${typeof retryAfter === "number" ? ` ${Math.ceil(retryAfter / 1000)} s` : ""}, then run again; rekey:requestsPerSecond keeps requests below a limit.`;
  }
  if (status !== undefined && status < 400 && delivery === "rejected") {
    return `Redirects are not followed: set ${service.addressSetting} to the platform's own address.`;
  }
  if (delivery === "rejected") return "Mend what the platform names, then run again.";
  return "See whether the platform is well, then run again.";
}

function withAttempts(happened: string, attempts: number): string {
  return attempts > 1 ? `${happened}, ${attempts} times` : happened;
}
