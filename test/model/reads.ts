import { type DatabaseState } from "./fakePlatform";

/** A record is judged by the first one that it shows. */
export const credentialNames = ["password", "restToken", "readOnlyRestToken"] as const;
export type Credential = (typeof credentialNames)[number];
export type Credentials = Readonly<Partial<Record<Credential, string>>>;

/** Which responses of the platform contain credentials. */
export type Delivery = "always" | "read" | "once" | "never";
export const deliveries: readonly Delivery[] = ["always", "read", "once", "never"];

/** What happens to the reads of a database. */
export interface ReadOutcome {
  /** The credentials that its sender knows afterwards, if the platform shows any. Undefined: the read fails. */
  readonly shows?: readonly Credential[];
  readonly status?: number;
  /** Body of the response. Default: an error's. */
  readonly body?: (database: DatabaseState) => string;
  /** Code of the failure if there is no response. */
  readonly code?: string;
  /** Whether the platform sees the request. Default: true. */
  readonly arrives?: false;
  readonly retryAfterMs?: number;
  /** How many requests fail with 500 before. */
  readonly failsFirst?: number;
  /** Whether the engine is killed while the request is under way. */
  readonly kills?: true;
}

const showing = (change: (record: Record<string, unknown>) => Record<string, unknown>) => {
  return (database: DatabaseState) => JSON.stringify(change(database.record));
};
const good = { shows: credentialNames, status: 200, body: showing((record) => record) } as const;
const hidden = { password: "****", rest_token: "", read_only_rest_token: null };

/** Everything that may happen to a read, by name. */
export const readOutcomes = {
  good,
  "the third try": { ...good, failsFirst: 2 },
  "the password masked": {
    ...good,
    shows: ["restToken", "readOnlyRestToken"],
    body: showing((it) => ({ ...it, password: "***" })),
  },
  "only the password": {
    ...good,
    shows: ["password"],
    body: showing((it) => ({ ...it, rest_token: "…", read_only_rest_token: "abcd****" })),
  },
  "all masked": { ...good, shows: [], body: showing((record) => ({ ...record, ...hidden })) },
  "500": { status: 500 },
  "401": { status: 401 },
  "404": { status: 404 },
  "307": { status: 307 },
  "429 without a usable Retry-After": { status: 429, retryAfterMs: Infinity },
  "204": { status: 204, body: () => "" },
  cut: { code: "ECONNRESET" },
  silence: { code: "deadline" },
  "no such host": { code: "ENOTFOUND", arrives: false },
  "a page": { status: 200, body: () => "<html>welcome</html>" },
  "a truncated response": { status: 200, body: (database) => good.body(database).slice(0, -9) },
  "another database's record": {
    status: 200,
    body: showing((record) => ({ ...record, database_id: "someone-elses", password: "not-yours" })),
  },
  killed: { kills: true },
} as const satisfies Record<string, ReadOutcome>;

export type ReadName = keyof typeof readOutcomes;

export const readNames = Object.keys(readOutcomes) as ReadName[];

/** What happens to the reads of a database before a reset of it arrives, and after that. */
export interface Reads {
  readonly before: ReadName;
  readonly after: ReadName;
}

export const goodReads: Reads = { before: "good", after: "good" };
