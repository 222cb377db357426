import { hostInUrl, hostProblem, int64, isLoopback, type RecordOf, type RecordTable, text } from "./fields";

/**
 * The record of a vector or search index. Limits of its plan are in `otherFields`.
 *
 * @see docs/interface.md#other-secrets-of-the-account
 */
const indexFields = {
  /** Id of the index. */
  id: text,
  /** Name of the index. */
  name: text,
  /** Endpoint of its REST interface: a short slug, a full host name, or a URL. */
  endpoint: text,
  /** Region. */
  region: text,
  /** Payment plan. */
  type: text,
  /** Unix time (seconds) at which the index was created. */
  creationTime: int64,
  /** Owner: an email address, or one scoped to a marketplace. */
  customerId: text,
};

/** The record of a vector or search index, each value as the platform returned it. */
export interface IndexRecord extends RecordOf<typeof indexFields> {}

export const indexTable = {
  fields: indexFields,
  id: "id",
  listed: { id: indexFields.id, name: indexFields.name, creationTime: indexFields.creationTime },
  credentials: { token: "token", readOnlyToken: "readOnlyToken" },
} as const satisfies RecordTable;

/**
 * The URL of an index's REST interface; undefined if its endpoint is not known, is not a host or a plain URL, or if
 * clients would send the token in plain text.
 *
 * @param host of an endpoint that is a slug. Default: the endpoint itself
 */
export function indexUrl({ endpoint }: Readonly<Record<string, unknown>>, host = "{endpoint}"): string | undefined {
  if (typeof endpoint !== "string" || endpoint === "") return undefined;
  if (endpoint.includes("://")) return isSafe(endpoint) ? endpoint : undefined;
  const whole = /[.:]/.test(endpoint) ? endpoint : host.replace("{endpoint}", () => endpoint);
  return hostProblem(whole) === undefined ? `https://${hostInUrl(whole)}` : undefined;
}

/** Without a user, a query and a fragment: the token is sent to a path below it. */
function isSafe(url: string): boolean {
  if (/[\s@?#\\]/.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (hostProblem(hostname) !== undefined) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/**
 * The record of a user of the queue, one for each region. Further limits of its plan are in `otherFields`.
 *
 * @see docs/interface.md#other-secrets-of-the-account
 */
const queueUserFields = {
  /** Id of the user. */
  id: text,
  /** Region. */
  region: text,
  /** State of the user. */
  state: text,
  /** Unix time (seconds) at which the user was created. */
  creationTime: int64,
  /** Owner: an email address, or one scoped to a marketplace. */
  customerId: text,
  /** Messages that may run at the same time, for one flow-control key or queue. */
  maxParallelism: int64,
  /** Messages that may run at the same time, over all keys. */
  maxGlobalParallelism: int64,
  /** Requests per second. */
  maxRequestsPerSecond: int64,
};

/** The record of a user of the queue, each value as the platform returned it. */
export interface QueueUserRecord extends RecordOf<typeof queueUserFields> {}

export const queueUserTable = {
  fields: queueUserFields,
  id: "id",
  listed: { id: queueUserFields.id, region: queueUserFields.region, creationTime: queueUserFields.creationTime },
  credentials: { token: "token", readOnlyToken: "readOnlyToken" },
} as const satisfies RecordTable;

/** The response with the keys that sign messages: it has nothing else. */
export const signingKeyTable = {
  fields: {},
  credentials: { current: "currentKey", next: "nextKey" },
} as const satisfies RecordTable;
