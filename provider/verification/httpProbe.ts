import { isLoopback } from "../domain/endpoint";
import { type ProgramRequest, type ProgramResult } from "../clients/probe";
import { isObject, isSet, orUndefined } from "../records/fields";
import { type InputProblem, type Schemas } from "../resource/resource";

/** How a credential is tried over HTTP, as a program gives it. */
export interface HttpProbeInput {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  readonly method?: "GET" | "POST" | null | undefined;
  /** Of HTTP's Basic scheme. */
  readonly username?: string | null | undefined;
  /** Default: 2xx. */
  readonly acceptedStatuses?: readonly number[] | null | undefined;
  readonly refusedStatuses?: readonly number[] | null | undefined;
}

const place = "{credential}";

export function httpProbeInput({ z, text, expected, refuseIf, refuseWrong }: Schemas) {
  const status = "must be a list of statuses from 200 to 499, without 429, which proves nothing";
  const statuses = z.array(z.int(status).min(200, status).max(499, status), status);
  const proving = statuses.refine((given) => !given.includes(429), status);
  const schemas = {
    url: text.superRefine(refuseIf(urlProblem)),
    headers: z
      .custom<object>(isObject, expected("a map of names to values"))
      .superRefine(refuseIf(headersProblem)),
    method: z.enum(["GET", "POST"], "must be GET or POST"),
    username: text.regex(/^[^:\p{Cc}]+$/u, "must not be empty, or contain a colon"),
    acceptedStatuses: proving.min(1, status),
    refusedStatuses: proving,
  };
  const table = { required: ["url"], schemas };
  return z.custom<object>(isObject, expected("an object")).superRefine(refuseWrong(table));
}

/** What is shown in messages must not have the credential: only the query is not. */
function urlProblem(given: string): string | undefined {
  const url = orUndefined(() => new URL(given));
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!url || !isSafe) return "must be a URL with https, or with http on a loopback address";
  if (/[@#]|\{credential\}/.test(given.split("?")[0] ?? "") || url.hash !== "") {
    return `must not contain a user, a password or a fragment, and ${place} in its query only`;
  }
  return undefined;
}

function headersProblem(headers: object): string | undefined {
  for (const [name, value] of Object.entries<unknown>({ ...headers })) {
    const ofConnection = /^(host|content-length|transfer-encoding|connection)$/i.test(name);
    if (ofConnection || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      return `must not have the name ${JSON.stringify(name)}`;
    }
    if (!isHeaderValue(value)) return `must have a line of printable ASCII as ${name}`;
  }
  return undefined;
}

function isHeaderValue(value: unknown): boolean {
  return typeof value === "string" && /^[!-~]([ -~]*[!-~])?$/.test(value);
}

/** What is wrong with a credential and its probe together. Nothing of the credential is shown. */
export function httpProblems(credential: string, http: HttpProbeInput): InputProblem[] {
  const { headers, username, acceptedStatuses, refusedStatuses } = http;
  const names = Object.keys(headers ?? {});
  if (isSet(username) && names.some((name) => /^authorization$/i.test(name))) {
    return [{ property: "http.username", problem: "cannot be used with the header Authorization" }];
  }
  if (acceptedStatuses?.some((status) => refusedStatuses?.includes(status))) {
    const problem = "must not have a status of acceptedStatuses";
    return [{ property: "http.refusedStatuses", problem }];
  }
  if (!Object.values(requestWith(credential, http).headers).every(isHeaderValue)) {
    const problem = "must be printable ASCII without a space at its ends, to be sent in a header";
    return [{ property: "credential", problem }];
  }
  if (wrongOf(credential) === credential) {
    const problem = "must have a letter or a digit in its second half";
    return [{ property: "credential", problem }];
  }
  return [];
}

/** The request that tries a credential. */
export function requestWith(
  credential: string,
  { url, headers, method, username }: HttpProbeInput,
): ProgramRequest {
  const { origin, pathname, search } = new URL(url);
  const given = Object.entries(headers ?? {});
  const isPlaced = search.includes(place) || given.some(([, value]) => value.includes(place));
  const basic =
    isSet(username) && `Basic ${Buffer.from(`${username}:${credential}`).toString("base64")}`;
  const authorization = basic || (!isPlaced && `Bearer ${credential}`);
  const filled = given.map(([name, value]) => {
    return [name, value.replaceAll(place, () => credential)] as const;
  });
  return {
    baseUrl: origin,
    path: pathname,
    search: search.replaceAll(place, () => encodeURIComponent(credential)),
    method: method ?? "GET",
    headers: {
      ...(authorization && { Authorization: authorization }),
      ...Object.fromEntries(filled),
    },
  };
}

/** A credential of the same form that is certainly another one. */
export function wrongOf(credential: string): string {
  const half = Math.floor(credential.length / 2);
  const otherFor = (character: string) => {
    const pair = /\d/.test(character) ? "23" : /\p{Lu}/u.test(character) ? "AB" : "ab";
    return pair.charAt(character === pair.charAt(0) ? 1 : 0);
  };
  const second = credential.slice(half).replace(/[\p{L}\d]/gu, otherFor);
  return `${credential.slice(0, half)}${second}`.toWellFormed();
}

/** What the response to a credential means. */
export interface Verdict {
  readonly kind: "accepted" | "refused" | "unknown";
  /** `responded with 401` */
  readonly what: string;
  /** Whether another attempt may have another result. */
  readonly mayChange: boolean;
}

export function verdictOf(result: ProgramResult, http: HttpProbeInput): Verdict {
  if ("why" in result) {
    return { kind: "unknown", what: `gave no status: ${result.why}`, mayChange: true };
  }
  const { status } = result;
  const what = `responded with ${status}`;
  const accepted = http.acceptedStatuses?.includes(status) ?? (status >= 200 && status < 300);
  const kind = refusedStatusesOf(http).includes(status)
    ? "refused"
    : accepted
      ? "accepted"
      : "unknown";
  return { kind, what, mayChange: status === 429 || status >= 500 };
}

/** Empty if no response means that a credential is refused. */
export function refusedStatusesOf({ refusedStatuses }: HttpProbeInput): readonly number[] {
  return refusedStatuses ?? [401, 403];
}
