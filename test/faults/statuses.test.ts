import assert from "node:assert/strict";
import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, fails, lost, retriedThenFails, succeeds, unusable } from "./expected";
import { type Behaviour, failing, limitedByDate, once, HttpServer, responding } from "../support/httpServer";

const targets: HttpServer[] = [];
const sameOrigin =
  (status: number): Behaviour =>
  ({ answer, path }) =>
    answer(status, { location: path.replace(/k\d+/, "elsewhere") }, "");
const anotherOrigin =
  (status: number): Behaviour =>
  ({ answer, path }) =>
    answer(status, { location: `http://127.0.0.1:${targets[0]?.port}${path}` }, "");

const redirects = [301, 302, 307, 308].flatMap((status): Fault[] => {
  const expected = { reset: fails(1, new RegExp(`${status}`), /rekey:baseUrl/), read: fails(1, /rekey:queueUrl/) };
  return [
    { row: 19, fault: `${status} to the same origin`, platform: sameOrigin(status), ...expected },
    { row: 19, fault: `${status} to another origin`, platform: anotherOrigin(status), ...expected },
  ];
});

const refusals: readonly Fault[] = [
  { row: 20, fault: "303", platform: sameOrigin(303), ...unusable(/303/) },
  ...[400, 409, 422].map((status): Fault => ({
    row: 21,
    fault: `${status} that names a field`,
    platform: failing(status, "invalid id: must be a UUID"),
    reset: fails(1, new RegExp(`${status}.*invalid id: must be a UUID`)),
    read: fails(1, /invalid id: must be a UUID/),
  })),
  {
    row: 21,
    fault: "400 that names a field in another shape",
    platform: responding(400, JSON.stringify({ errors: [{ field: "database_id", reason: "unknown" }] })),
    ...everywhere(fails(1, /the platform responded with 400 \(/)),
  },
  ...[401, 403].map((status): Fault => ({
    row: 22,
    fault: String(status),
    platform: failing(status),
    reset: fails(1, /rekey:username and rekey:password/),
    read: fails(1, /rekey:queueToken/),
  })),
  {
    row: 23,
    fault: "404 in JSON",
    platform: failing(404, "not found"),
    reset: fails(1, /404: not found/, /rekey:resetPasswordPath and rekey:baseUrl/),
    read: succeeds({
      saved: ({ exists, waitListSize }) =>
        assert.deepEqual({ exists, waitListSize }, { exists: false, waitListSize: 0 }),
    }),
    counters: fails(1, /rekey:queueUrl/),
  },
  { row: 23, fault: "404 in HTML", platform: responding(404, "<html>"), ...everywhere(fails(1, /404/)) },
  { row: 24, fault: "408", platform: failing(408), ...lost(/408/) },
  { row: 25, fault: "429 bare", platform: failing(429), ...everywhere(retriedThenFails(3, /429.*3 attempts/s)) },
  ...[500, 502, 504].map((status): Fault => ({
    row: 28,
    fault: String(status),
    platform: responding(status, "<html>busy</html>"),
    ...lost(new RegExp(`${status}`)),
  })),
  { row: 29, fault: "503 without Retry-After", platform: failing(503), ...lost(/503/) },
];

describeFaults(
  "faults: redirects",
  {
    settings: async (_server, fixture) => {
      targets.push(fixture.closes(await HttpServer.start({ bodyOf: () => "{}" })));
      return {};
    },
  },
  redirects,
  [
    {
      title: [19, "redirect", "target", "sees nothing"],
      test: () => assert.ok(targets.every(({ connections }) => connections === 0)),
    },
  ],
);
describeFaults("faults: refusals", {}, refusals);

const limited = (retryAfter: string, status = 429): Behaviour =>
  failing(status, "slow down", { "retry-after": retryAfter });
/** The platform's clock is a day off: `Retry-After` counts from its own `Date`. */
const dayAhead = limitedByDate(86_400_000);
const gone = everywhere(retriedThenFails(3, /3 attempts/));
const back = everywhere(succeeds({ sent: 2 }));

const waits: readonly Fault[] = [
  { row: 25, fault: "429 with 1 second, always", platform: limited("1"), ...gone },
  { row: 25, fault: "429 with 1 second, once", platform: once(limited("1")), ...back },
  { row: 26, fault: "429 with a date, always", platform: dayAhead, ...gone },
  { row: 26, fault: "429 with a date, once", platform: once(dayAhead), ...back },
  { row: 29, fault: "503 with Retry-After", platform: limited("1", 503), ...lost(/503/) },
  { row: 29, fault: "503 with Retry-After, once", platform: once(limited("1", 503)), read: back.read },
];
// Each has its own host: a platform's wait holds for all requests.
for (const fault of waits) describeFaults(`faults: ${fault.fault}`, {}, [fault]);

const unusableWaits = {
  huge: "99999999999999999999",
  "beyond the deadline": "3600",
  negative: "-5",
  "not a number": "soon",
  "a fraction": "1.5",
  empty: "",
};
describeFaults(
  "faults: unusable Retry-After",
  {},
  Object.entries(unusableWaits).map(([what, value]) => ({
    row: 27,
    fault: `429 with a Retry-After that is ${what}`,
    platform: limited(value),
    reset: fails(1, /429: slow down/, /Wait/),
    read: fails(1, /429/),
  })),
);
