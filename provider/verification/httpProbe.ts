import { type z } from "zod";
import { isSafeUrl } from "../domain/endpoint";
import { type ProgramRequest, type StatusResult } from "../clients/probe";
import { isSet } from "../records/fields";
import { type Schemas } from "../resource/resource";

/** How a credential is tried over HTTP, as a program gives it. */
export type HttpProbeInput = z.infer<ReturnType<typeof httpInputs>["http"]>;

/** In the query and in headers, the credential takes its place. */
const placeholder = "{credential}";

/** A line that a header can have, and so a credential in it. */
const headerValue = /^[!-~]([ -~]*[!-~])?$/;

/** The inputs of a verification over HTTP. */
export function httpInputs({ z, text, flag, refuseIf }: Schemas) {
  const status = "must be a list of statuses from 200 to 499, without 429, which proves nothing";
  const isProof = (given: number) => given >= 200 && given < 500 && given !== 429;
  const statuses = z.array(z.int(status).refine(isProof, status), status);
  const header =
    "is not allowed: headers are a map of names, except Host and Content-Length, to lines of printable ASCII";
  const headers = z.record(
    z.string().regex(/^(?!(host|content-length)$)[\w!#$%&'*+.^`|~-]+$/i),
    z.string(header).regex(headerValue, header),
    header,
  );
  const all = {
    url: text.superRefine(refuseIf(urlProblem)),
    headers: headers.nullish(),
    method: z.enum(["GET", "POST"], "must be GET or POST").nullish(),
    username: text.regex(/^[^:]+$/, "must not be empty, or contain a colon").nullish(),
    acceptedStatuses: statuses.min(1, "must not be empty: it would accept nothing").nullish(),
    refusedStatuses: statuses.nullish(),
  };
  return {
    credential: text.regex(
      headerValue,
      "must be printable ASCII, not empty, and without a space at its ends. One that no header can have, such as JSON, cannot be proven: remove the verification, without which a trigger works, too, or verify something else",
    ),
    http: z
      .strictObject(
        all,
        `must be an object that has no other parts than ${Object.keys(all).join(", ")}`,
      )
      .refine(
        (http) =>
          !/"authorization":/i.test(JSON.stringify(http.headers)) ||
          (!isSet(http.username) && isPlaced(http)),
        `must not have a header Authorization in addition to the one that Rekey sends: remove it or username, or put ${placeholder} into it`,
      )
      .refine(
        ({ acceptedStatuses, refusedStatuses }) =>
          !acceptedStatuses?.some((status) => refusedStatuses?.includes(status)),
        "must not have a status in both acceptedStatuses and refusedStatuses",
      ),
    saveCredentials: flag,
    triggerValue: text,
  };
}

/** Messages show all of it but the query. */
function urlProblem(url: string): string | undefined {
  const [shown = ""] = url.split("?");
  return isSafeUrl(shown) && !url.includes("#") && !shown.includes(placeholder)
    ? undefined
    : `must be a URL with https, or with http on a loopback address, without a user, a password and a fragment, and with ${placeholder} in its query only`;
}

/** True if the program says where the credential is sent. */
function isPlaced(http: object): boolean {
  return JSON.stringify(http).includes(placeholder);
}

/** The request that tries a credential. */
export function requestWith(credential: string, http: HttpProbeInput): ProgramRequest {
  const { url, headers, method, username } = http;
  const { origin, pathname, searchParams } = new URL(url);
  const fill = (values: Iterable<[string, string]>) =>
    Array.from(values, ([name, value]): [string, string] => {
      return [name, value.replaceAll(placeholder, () => credential)];
    });
  const authorization = isSet(username)
    ? `Basic ${Buffer.from(`${username}:${credential}`).toString("base64")}`
    : isPlaced(http)
      ? undefined
      : `Bearer ${credential}`;
  return {
    baseUrl: origin,
    path: pathname,
    query: new URLSearchParams(fill(searchParams)),
    method: method ?? "GET",
    headers: Object.fromEntries(fill(Object.entries(headers ?? {}))),
    authorization,
  };
}

/**
 * A wrong credential of the same form: each letter and digit in the second half is replaced by another one. If it has
 * none, one is added.
 */
export function wrongOf(credential: string): string {
  const half = Math.floor(credential.length / 2);
  const otherFor = (character: string) => {
    const [one, other] = /\d/.test(character) ? "23" : /[A-Z]/.test(character) ? "AB" : "ab";
    return (character === one ? other : one) ?? "";
  };
  const wrong = credential.slice(0, half) + credential.slice(half).replace(/[a-z\d]/gi, otherFor);
  return wrong === credential ? `${credential}a` : wrong;
}

/** The meaning of the response to a credential. */
export interface Verdict {
  readonly kind: "accepted" | "refused" | "unknown";
  /** `GET https://api.example.com/validate responded with 401` */
  readonly what: string;
  /** Advice if there is no response. */
  readonly advice: string | undefined;
  /** Another attempt may have another result. */
  readonly mayChange: boolean;
}

export function verdictOf(
  { method, baseUrl, path }: ProgramRequest,
  { status = 0, happened, advice }: StatusResult,
  http: HttpProbeInput,
): Verdict {
  const isAccepted = http.acceptedStatuses?.includes(status) ?? (status >= 200 && status < 300);
  const kind = isAccepted ? "accepted" : "unknown";
  const result = status === 0 ? `failed: ${happened}` : `responded with ${status}`;
  return {
    kind: refusedStatusesOf(http).includes(status) ? "refused" : kind,
    what: `${method} ${baseUrl}${path} ${result}`,
    advice: status === 0 ? advice : undefined,
    mayChange: status === 0 || status === 429 || status >= 500,
  };
}

/** Empty if no response means that a credential is refused. */
export function refusedStatusesOf({
  acceptedStatuses,
  refusedStatuses,
}: HttpProbeInput): readonly number[] {
  return refusedStatuses ?? [401, 403].filter((status) => !acceptedStatuses?.includes(status));
}
