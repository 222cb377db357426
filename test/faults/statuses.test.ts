import assert from "node:assert/strict";
import { describeFaults, type Fault } from "./describeFaults";
import { A, B, F, passes } from "./expected";
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
    reset: F(1, new RegExp(`answered ${code}`), /Redirects are not followed: set rekey:baseUrl/),
    read: F(1, /Redirects are not followed: set rekey:queueUrl/),
  },
  {
    row: 19,
    fault: `${code} to another origin`,
    platform: ({ answer, path }) => answer(code, { location: `http://127.0.0.1:${target.port}${path}` }, ""),
    reset: F(1, new RegExp(`answered ${code}`), /Redirects are not followed/),
    read: F(1, /Redirects are not followed/),
  },
]);

const refusals: readonly Fault[] = [
  {
    row: 20,
    fault: "303",
    platform: ({ answer, path }) => answer(303, { location: path.replace(/k\d+/, "elsewhere") }, ""),
    reset: A(/answered 303/),
    read: F(1, /answered 303/),
  },
  ...[400, 409, 422].map((code): Fault => ({
    row: 21,
    fault: `${code} that names a field`,
    platform: status(code, { error: "invalid id: must be a UUID" }),
    reset: F(1, new RegExp(`answered ${code}: invalid id: must be a UUID`)),
    read: F(1, /invalid id: must be a UUID/),
  })),
  {
    row: 21,
    fault: "400 that names a field in another shape",
    platform: status(400, { errors: [{ field: "database_id", reason: "unknown" }] }),
    reset: F(1, /database_id/),
    read: F(1, /database_id/),
  },
  ...[401, 403].map((code): Fault => ({
    row: 22,
    fault: String(code),
    platform: status(code, { error: "who are you" }),
    reset: F(1, /rekey:username and rekey:password/),
    read: F(1, /rekey:queueToken/),
  })),
  {
    row: 23,
    fault: "404 in JSON",
    platform: status(404, { error: "not found" }),
    reset: F(1, /answered 404: not found/, /Check the id or key, rekey:baseUrl and rekey:resetPasswordPath/),
    read: passes((outs) => assert.deepEqual([outs.exists, outs.waitListSize], [false, 0])),
    counters: F(1, /rekey:queueUrl/),
  },
  {
    row: 23,
    fault: "404 in HTML",
    platform: status(404, "<html>nginx</html>", { "content-type": "text/html" }),
    reset: F(1, /answered 404/),
    read: F(1, /answered 404/),
  },
  { row: 24, fault: "408", platform: status(408), reset: A(/answered 408/), read: B(3, /3 times/) },
  { row: 25, fault: "429 bare", platform: status(429), reset: B(3, /429.*3 times/s), read: B(3, /3 times/) },
  ...[500, 502, 504].map((code): Fault => ({
    row: 28,
    fault: String(code),
    platform: status(code, "<html>busy</html>"),
    reset: A(new RegExp(`answered ${code}`)),
    read: B(3, /3 times/),
  })),
  { row: 29, fault: "503 without Retry-After", platform: status(503), reset: A(/answered 503/), read: B(3, /3 times/) },
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
