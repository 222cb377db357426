/** What a real request meets at the gate. Each happens once; what comes after it is good. */
export interface Fault {
  readonly verdict: "confirmed" | "unknown" | "refused" | "again";
  /** Whether the platform gets the request. */
  readonly forwarded: boolean;
  /** Replaces the platform's response; `cut` closes the connection without a response. */
  readonly response?: { readonly status: number; readonly body?: (databaseId: string) => string } | "cut";
}

const unknown = { verdict: "unknown", forwarded: true } as const;
const record = (fields: object) => () => JSON.stringify(fields);

export const faults = {
  "cut, done": { ...unknown, response: "cut" },
  "cut, not done": { ...unknown, forwarded: false, response: "cut" },
  "502, done": { ...unknown, response: { status: 502 } },
  "503, not done": { ...unknown, forwarded: false, response: { status: 503 } },
  "202": { ...unknown, response: { status: 202 } },
  "another database's record": {
    ...unknown,
    response: { status: 200, body: record({ database_id: "another", password: "not-yours" }) },
  },
  "422": { verdict: "refused", forwarded: false, response: { status: 422 } },
  "429": { verdict: "again", forwarded: false, response: { status: 429 } },
  "partly readable": {
    verdict: "confirmed",
    forwarded: true,
    response: { status: 200, body: (id) => JSON.stringify({ database_id: id, region: [1] }) },
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
