import { type DatabaseState } from "./fakePlatform";
import { type Credential, credentialNames } from "./reads";

/** A reset that is applied after so many reads, at the latest at the end of this run (0) or the next one (1). */
export interface Late {
  readonly reads?: number;
  readonly runs: 0 | 1;
}

/** What happens to a reset. `verdict` is what its sender can know afterwards. */
export interface ResetOutcome {
  /** `again`: it was certainly not applied, and may be tried again. */
  readonly verdict: "confirmed" | "unknown" | "refused" | "again" | "killed";
  /** Whether the platform sees the request. Default: true. */
  readonly arrives?: false;
  /** Whether the platform resets the password. */
  readonly applies: boolean | Late;
  /** The credentials that the response holds, if the platform delivers them so. */
  readonly credentials?: readonly Credential[];
  /** Whether the response repeats the record from before the reset. */
  readonly repeats?: true;
  readonly status?: number;
  /** Body of the response. Default: an error's. */
  readonly body?: (database: DatabaseState) => string;
  /** Code of the failure if there is no response. */
  readonly code?: string;
  readonly retryAfterMs?: number;
  /** When the engine ends, whatever the response: before the state is written, or right after. */
  readonly engineEnds?: "unsaved" | "saved";
}

const responding =
  (change: (record: Record<string, unknown>) => Record<string, unknown>) => (database: DatabaseState) =>
    JSON.stringify(change(database.record));
const whole = responding((record) => record);
const without =
  (...fields: string[]) =>
  (record: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !fields.includes(name)));

const good = { verdict: "confirmed", applies: true, credentials: credentialNames, status: 200, body: whole } as const;
const unknown = { verdict: "unknown", applies: true } as const;
const refused = { verdict: "refused", applies: false } as const;
const notSent = { verdict: "refused", applies: false, arrives: false } as const;
const killed = { verdict: "killed", applies: false } as const;

/** Everything that may happen to a reset, by name. */
export const outcomes = {
  good,
  // The record is usable in part: the reset has happened.
  "a field missing": { ...good, body: responding(without("region")) },
  "a field mistyped": { ...good, body: responding((record) => ({ ...record, region: [1], tls: null })) },
  "more than is known": { ...good, body: responding((record) => ({ ...record, sort: { of: "new" }, type: "huge" })) },
  "no credentials": {
    ...good,
    credentials: [],
    body: responding(without("password", "rest_token", "read_only_rest_token")),
  },
  "the record from before": { ...good, repeats: true },
  "the credentials alone": {
    ...good,
    credentials: ["password", "restToken"],
    body: responding(({ database_id, port, password, rest_token }) => ({ database_id, port, password, rest_token })),
  },
  "the tokens alone": {
    ...good,
    credentials: ["restToken", "readOnlyRestToken"],
    body: responding((record) => ({ ...record, password: "abcd••••" })),
  },
  "confirmed, done after a read": { ...good, applies: { reads: 1, runs: 0 } },
  "confirmed, done after the run": { ...good, applies: { runs: 0 } },
  "confirmed, done after the next run": { ...good, applies: { runs: 1 } },
  // It is unknown whether it was applied: once if it was, once if it was not.
  "500, done": { ...unknown, status: 500 },
  "500, not done": { ...unknown, applies: false, status: 500 },
  "503 that asks to wait": { ...unknown, applies: false, status: 503, retryAfterMs: 1 },
  "303, done": { ...unknown, status: 303 },
  "408, not done": { ...unknown, applies: false, status: 408 },
  "cut, done": { ...unknown, code: "ECONNRESET" },
  "cut, done after a read": { ...unknown, applies: { reads: 1, runs: 0 }, code: "ECONNRESET" },
  "cut, done after the run": { ...unknown, applies: { runs: 0 }, code: "ECONNRESET" },
  "cut, done after the next run": { ...unknown, applies: { runs: 1 }, code: "ECONNRESET" },
  "cut, not done": { ...unknown, applies: false, code: "ECONNRESET" },
  "silence, done": { ...unknown, code: "deadline" },
  "silence, not done": { ...unknown, applies: false, code: "deadline" },
  "202 and the record": { ...unknown, applies: false, status: 202, body: whole },
  "a truncated response": { ...unknown, status: 200, body: (database) => whole(database).slice(0, -9) },
  "an empty response": { ...unknown, status: 200, body: () => "" },
  "a page": { ...unknown, applies: false, status: 200, body: () => "<html>welcome</html>" },
  "another database's record": {
    ...unknown,
    status: 200,
    body: responding((record) => ({ ...record, database_id: "someone-elses", password: "not-yours", port: 1 })),
  },
  // It was certainly not applied.
  "400": { ...refused, status: 400 },
  "401": { ...refused, status: 401 },
  "404": { ...refused, status: 404 },
  "307": { ...refused, status: 307 },
  "429 without a usable Retry-After": { ...refused, status: 429, retryAfterMs: Infinity },
  "429": { verdict: "again", applies: false, status: 429 },
  "no such host": { ...notSent, code: "ENOTFOUND" },
  "connection refused": { ...notSent, verdict: "again", code: "ECONNREFUSED" },
  "reset before it was sent": { ...notSent, verdict: "again", code: "ECONNRESET" },
  // The engine is killed: before the request, before it is applied, before the response, before the save, afterwards.
  "killed unsent": { ...killed, arrives: false },
  "killed on arrival": killed,
  "killed when done": { ...killed, applies: true },
  "killed after the response": { ...good, engineEnds: "unsaved" },
  "killed when refused": { ...refused, status: 422, engineEnds: "unsaved" },
  "killed when unconfirmed": { ...unknown, status: 502, engineEnds: "unsaved" },
  "killed when saved": { ...good, engineEnds: "saved" },
} as const satisfies Record<string, ResetOutcome>;

export type OutcomeName = keyof typeof outcomes;

export const outcomeNames = Object.keys(outcomes) as OutcomeName[];

/** Attempts that one call may make. */
export const attempts = 3;
