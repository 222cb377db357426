import assert from "node:assert/strict";
import { type Properties, secret, unknown } from "../support/wire";
import { describeFaults, type Fault } from "./describeFaults";
import { fails, succeeds, succeedsWithProblems, unusable } from "./expected";
import { databaseBody } from "../support/platformBodies";
import { type Behaviour } from "../support/httpServer";

const idOf = (path: string): string => path.split("/")[path.includes("/flowControl/") ? 3 : 4] ?? "";

/** Responds with the ordinary record, with some fields changed. @param flowControl those of a flow-control key */
const sending =
  (database: Properties, flowControl: Properties = database): Behaviour =>
  ({ answer, path, method }) => {
    const id = idOf(path);
    const key = { flowControlKey: id, waitListSize: 2, ...flowControl };
    answer(200, {}, method === "GET" ? JSON.stringify(key) : databaseBody(id, database));
  };
/** The same with JSON that no JavaScript value can represent, at the end of the record. */
const sendingText =
  (database: string, flowControl = database): Behaviour =>
  ({ answer, body, method }) =>
    answer(200, {}, `${body.slice(0, -1)},${method === "GET" ? flowControl : database}}`);
const replacing =
  (from: string, to: string): Behaviour =>
  ({ answer, body }) =>
    answer(200, {}, body.replace(from, to));

const record = (outs: Properties): Properties => outs.record as Properties;
const credentialsOf = ({ password, restToken, readOnlyRestToken }: Properties) => {
  return { password, restToken, readOnlyRestToken };
};
const nested = (open: string, close: string, inner = ""): string => open.repeat(10_000) + inner + close.repeat(10_000);

function keepsCredentials(outs: Properties): void {
  for (const credential of Object.values(credentialsOf(outs))) assert.match(String(credential), /^(pw|rt|ro)-\d+$/);
}

const faults: readonly Fault[] = [
  {
    row: 30,
    fault: "extra fields",
    platform: sending({ later: { deep: [1, 2] }, note: "x" }),
    reset: succeeds({
      saved: (outs) => assert.deepEqual(JSON.parse(String(outs.otherFields)), { later: { deep: [1, 2] }, note: "x" }),
    }),
    read: succeeds({ saved: (outs) => assert.equal(outs.waitListSize, 2) }),
  },
  {
    row: 31,
    fault: "field null",
    platform: sending({ port: null, endpoint: null }, { rateCount: null }),
    reset: succeedsWithProblems([/^port: /m, /^endpoint: /m], keepsCredentials),
    read: fails(1, /rateCount/),
  },
  {
    row: 31,
    fault: "field mistyped",
    platform: sending({ port: "6379", tls: "yes", all_members: [1], securityAddons: [] }, { waitListSize: "2" }),
    reset: succeedsWithProblems([/^port: /m, /^tls: /m, /^allMembers: /m, /^securityAddons: /m], keepsCredentials),
    read: fails(1, /waitListSize/),
  },
  ...Object.entries({ missing: undefined, null: null, empty: "" }).map(([what, value]): Fault => ({
    row: 32,
    fault: `credentials ${what}`,
    platform: sending({ password: value, rest_token: value, read_only_rest_token: value }),
    reset: succeeds({
      saved: (outs) => assert.ok(Object.values(credentialsOf(outs)).every((one) => one === undefined)),
    }),
  })),
  {
    row: 32,
    fault: "one credential masked in part, one a number",
    platform: sending({ password: 12345678, rest_token: "rt-••••" }),
    reset: succeedsWithProblems([/^restToken: masked/m], ({ password, restToken }) =>
      assert.deepEqual({ password, restToken }, { password: "12345678", restToken: undefined }),
    ),
  },
  {
    row: 33,
    fault: "another database's id in the record",
    platform: sending({ database_id: "another" }, { flowControlKey: "another" }),
    ...unusable(/another database/, /another key/),
  },
  {
    row: 34,
    fault: "integer beyond 2^53",
    platform: sendingText('"db_request_limit":9223372036854775808', '"rateMax":9223372036854775808'),
    reset: succeeds({
      saved: (outs) => assert.equal((outs.exactIntegers as Properties).dbRequestLimit, "9223372036854775808"),
    }),
    read: fails(1, /rateMax/),
  },
  {
    row: 34,
    fault: "1e999",
    platform: (exchange) => replacing(exchange.method === "GET" ? ":2" : ":6379", ":1e999")(exchange),
    reset: succeedsWithProblems([/^port: /m], keepsCredentials),
    read: fails(1, /waitListSize/),
  },
  {
    row: 35,
    fault: "`__proto__` as a key",
    platform: sendingText('"__proto__":{"port":1,"polluted":true}'),
    reset: succeeds({
      saved: (outs) => {
        assert.equal(record(outs).port, 6379);
        assert.equal(({} as Properties).polluted, undefined);
      },
    }),
    read: succeeds({ saved: (outs) => assert.equal(outs.polluted, undefined) }),
  },
  {
    row: 35,
    fault: "lone surrogate in a credential",
    platform: sending({ password: "a\ud800b" }),
    reset: succeedsWithProblems([/^password: /m], (outs) => assert.equal(outs.password, undefined)),
  },
  {
    row: 35,
    fault: "Pulumi's secret signature as a key",
    platform: sending({ securityAddons: { ...secret("x"), vpcPeering: true }, ...secret("y") }),
    reset: succeeds({
      saved: (outs) => {
        assert.deepEqual(record(outs).securityAddons, { vpcPeering: true });
        keepsCredentials(outs);
      },
    }),
  },
  {
    row: 35,
    fault: "Pulumi's unknown value as a string",
    platform: sending({ endpoint: unknown, read_regions: ["x", unknown], password: unknown }),
    reset: succeedsWithProblems([/^endpoint: /m, /^readRegions: /m, /^password: /m], (outs) => {
      assert.ok(!JSON.stringify(outs).includes(unknown));
      assert.match(String(outs.restToken), /^rt-/);
    }),
  },
  {
    row: 35,
    fault: "10,000 levels in a known field",
    platform: replacing('"port":6379', `"port":${nested('{"a":', "}", "1")}`),
    reset: succeedsWithProblems([/^port: /], keepsCredentials),
  },
];

describeFaults(
  "faults: records",
  {},
  faults.map((fault) => ({ ...fault, counters: "not in the table" })),
);
