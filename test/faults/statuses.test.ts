import assert from "node:assert/strict";
import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, fails, lost, retriedThenFails, succeeds, unusable } from "./expected";
import { type Behaviour, RawServer } from "./rawServer";

const status =
  (code: number, body: unknown = { error: "no" }, headers: Record<string, string> = {}): Behaviour =>
  ({ answer }) =>
    answer(code, headers, typeof body === "string" ? body : JSON.stringify(body));

let target: RawServer;

const redirects = [301, 302, 307, 308].flatMap((code): Fault[] => [
  {
    row: 19,
    fault: `${code} to the same origin`,
    platform: ({ answer, path }) => answer(code, { location: path.replace(/k\d+/, "elsewhere") }, ""),
    reset: fails(1, new RegExp(`answered ${code}`), /Redirects are not followed: set rekey:baseUrl/),
    read: fails(1, /Redirects are not followed: set rekey:queueUrl/),
  },
  {
    row: 19,
    fault: `${code} to another origin`,
    platform: ({ answer, path }) => answer(code, { location: `http://127.0.0.1:${target.port}${path}` }, ""),
    reset: fails(1, new RegExp(`answered ${code}`), /Redirects are not followed/),
    read: fails(1, /Redirects are not followed/),
  },
]);

const refusals: readonly Fault[] = [
  {
    row: 20,
    fault: "303",
    platform: ({ answer, path }) => answer(303, { location: path.replace(/k\d+/, "elsewhere") }, ""),
    ...unusable(/answered 303/),
  },
  ...[400, 409, 422].map((code): Fault => ({
    row: 21,
    fault: `${code} that names a field`,
    platform: status(code, { error: "invalid id: must be a UUID" }),
    reset: fails(1, new RegExp(`answered ${code}: invalid id: must be a UUID`)),
    read: fails(1, /invalid id: must be a UUID/),
  })),
  {
    row: 21,
    fault: "400 that names a field in another shape",
    platform: status(400, { errors: [{ field: "database_id", reason: "unknown" }] }),
    ...everywhere(fails(1, /database_id/)),
  },
  ...[401, 403].map((code): Fault => ({
    row: 22,
    fault: String(code),
    platform: status(code, { error: "who are you" }),
    reset: fails(1, /rekey:username and rekey:password/),
    read: fails(1, /rekey:queueToken/),
  })),
  {
    row: 23,
    fault: "404 in JSON",
    platform: status(404, { error: "not found" }),
    reset: fails(1, /answered 404: not found/, /Check the id or key, rekey:baseUrl and rekey:resetPasswordPath/),
    read: succeeds({ saved: (outs) => assert.deepEqual([outs.exists, outs.waitListSize], [false, 0]) }),
    counters: fails(1, /rekey:queueUrl/),
  },
  {
    row: 23,
    fault: "404 in HTML",
    platform: status(404, "<html>nginx</html>", { "content-type": "text/html" }),
    ...everywhere(fails(1, /answered 404/)),
  },
  { row: 24, fault: "408", platform: status(408), ...lost(/answered 408/) },
  { row: 25, fault: "429 bare", platform: status(429), ...everywhere(retriedThenFails(3, /429.*3 times/s)) },
  ...[500, 502, 504].map((code): Fault => ({
    row: 28,
    fault: String(code),
    platform: status(code, "<html>busy</html>"),
    ...lost(new RegExp(`answered ${code}`)),
  })),
  { row: 29, fault: "503 without Retry-After", platform: status(503), ...lost(/answered 503/) },
];

describeFaults(
  "faults: redirects",
  async () => {
    target = await RawServer.start({ bodyOf: () => "{}" });
    return { close: () => target.close() };
  },
  redirects,
  [{ title: "19 · redirect · target · sees nothing", test: () => assert.equal(target.connections, 0) }],
);
describeFaults("faults: refusals", {}, refusals);
