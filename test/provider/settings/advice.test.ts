import assert from "node:assert/strict";
import { type FailureKind, type ServiceName } from "../../../provider/platform/failures";
import { advise } from "../../../provider/settings/advice";

const kinds: Readonly<Record<FailureKind, true>> = {
  "proxy unreachable": true,
  "proxy response": true,
  "certificate of another host": true,
  "certificate not trusted": true,
  "certificate out of date": true,
  "certificate not accepted": true,
  "unknown host": true,
  "no TLS": true,
  "no connection": true,
  unauthorized: true,
  "not found": true,
  "too many requests": true,
  redirect: true,
  rejected: true,
  unconfirmed: true,
  "unusable response": true,
};
/** What only the advice on one service may name. */
const names: Readonly<Record<ServiceName, RegExp>> = {
  management: /rekey:(baseUrl|username|password|resetPasswordPath|databasePath)/,
  queue: /rekey:(queueUrl|queueToken|queueUserId|flowControlResetAction)/,
  database: /\b(host and port|restToken|in host|set host)\b/i,
};
const services = Object.keys(names) as ServiceName[];

describe("settings: the advice of a failed request", () => {
  for (const kind of Object.keys(kinds) as FailureKind[]) {
    it(`is a sentence that names no setting of another service: ${kind}`, () => {
      for (const service of services) {
        for (const method of ["GET", "POST"]) {
          const advice = advise({ service, kind, method });
          assert.match(advice, /^[A-Z].*\.$/);
          const others = services.filter((other) => other !== service && names[other].test(advice));
          assert.deepEqual(others, [], advice);
        }
      }
    });
  }

  const rows: readonly (readonly [given: Parameters<typeof advise>[0], advice: string])[] = [
    [
      { service: "management", kind: "not found", method: "POST" },
      "Check the id or key, rekey:baseUrl and rekey:resetPasswordPath. The API key may be of another team.",
    ],
    [
      { service: "management", kind: "not found", method: "GET" },
      "Check the id or key, rekey:baseUrl and rekey:databasePath, which `none` switches off. The API key may be of another team.",
    ],
    [{ service: "queue", kind: "unauthorized" }, "Check rekey:queueToken or rekey:queueUserId."],
    [{ service: "queue", kind: "unusable response" }, "Check rekey:queueUrl."],
    // Clients may be refused until a reset is confirmed.
    [{ service: "management", kind: "unconfirmed", method: "POST" }, "Run `up` again at once."],
    [
      { service: "management", kind: "unconfirmed", method: "GET" },
      "Check the status of the platform, then run again.",
    ],
    [
      { service: "queue", kind: "too many requests", retryAfterMs: 1_001 },
      "Wait 2 s, then run again; rekey:requestsPerSecond limits the rate.",
    ],
    [
      { service: "queue", kind: "too many requests", retryAfterMs: "unusable" },
      "Wait, then run again; rekey:requestsPerSecond limits the rate.",
    ],
  ];
  for (const [given, advice] of rows) it(JSON.stringify(given), () => assert.equal(advise(given), advice));
});
