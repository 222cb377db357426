import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decideRetry,
  type Delivery,
  deliveryOfResponse,
  deliveryOfSilence,
  type Failure,
  readRetryAfter,
  type RetryDecision,
} from "../../../provider/platform/retry";

const failure = (given: Partial<Failure>): Failure => ({
  idempotent: false,
  delivery: "not sent",
  attempt: 1,
  remainingMs: 60_000,
  ...given,
});
const waits = (waitMs: number, appliesToAll = false): RetryDecision => ({ kind: "wait", waitMs, appliesToAll });
const stop: RetryDecision = { kind: "stop" };

const transientCodes = "ECONNREFUSED ECONNRESET ECONNABORTED EAI_AGAIN ETIMEDOUT EPIPE EHOSTUNREACH ENETUNREACH".split(
  " ",
);
const lasting = ["ENOTFOUND", "CERT_HAS_EXPIRED", "ERR_BAD_RESPONSE", "HPE_INVALID_CONSTANT", "deadline", undefined];
const limited: Partial<Failure> = { delivery: "rejected", status: 429 };
const lost: Partial<Failure> = { delivery: "maybe applied" };
const busy: Partial<Failure> = { idempotent: true, delivery: "maybe applied", status: 503 };

const rows: readonly (readonly [string, Partial<Failure>, RetryDecision])[] = [
  // A second delivery could destroy the result of the first one.
  ...transientCodes.map((code) => [`not sent, ${code}`, { code }, waits(250)] as const),
  ...lasting.map((code) => [`not sent, ${code}`, { code }, stop] as const),
  ...transientCodes.map((code) => [`maybe applied, not idempotent, ${code}`, { ...lost, code }, stop] as const),
  ...[303, 408, 500, 502, 503, 504].map(
    (status) => [`maybe applied, not idempotent, ${status}`, { ...lost, status }, stop] as const,
  ),
  ["not idempotent, 503 with Retry-After", { ...lost, status: 503, retryAfterMs: 10 }, stop],
  ["429", limited, waits(250)],
  ...[301, 400, 401, 403, 404, 409, 422].map(
    (status) => [`rejected, ${status}`, { ...limited, status }, stop] as const,
  ),

  // Idempotent requests.
  ...transientCodes.map(
    (code) => [`maybe applied, ${code}`, { ...busy, status: undefined, code }, waits(250)] as const,
  ),
  ...lasting.map((code) => [`maybe applied, ${code}`, { ...busy, status: undefined, code }, stop] as const),
  ...[408, 500, 502, 503, 504].map((status) => [`${status}`, { ...busy, status }, waits(250)] as const),
  ...[303, 501, 599].map((status) => [`${status}`, { ...busy, status }, stop] as const),
  ["404", { ...limited, idempotent: true, status: 404 }, stop],

  // Retry-After makes every request wait.
  ["429 with a time", { ...limited, retryAfterMs: 2000 }, waits(2000, true)],
  ["429 with Retry-After: 0", { ...limited, retryAfterMs: 0 }, waits(0, true)],
  ["429 with an unusable Retry-After", { ...limited, retryAfterMs: "unusable" }, stop],
  ["503 with a time", { ...busy, retryAfterMs: 2000 }, waits(2000, true)],
  ["404 with a time", { ...limited, status: 404, retryAfterMs: 1 }, stop],
  ["429 with a time at the deadline", { ...limited, retryAfterMs: 60_000 }, stop],
  ["429 with a time just before the deadline", { ...limited, retryAfterMs: 59_999 }, waits(59_999, true)],
  ["429 with an infinite time", { ...limited, retryAfterMs: Infinity }, stop],

  // At most three attempts, each later than the one before, within the deadline.
  ["the second attempt", { code: "EPIPE", attempt: 2 }, waits(500)],
  ["the third attempt", { code: "EPIPE", attempt: 3 }, stop],
  ["the third 429", { ...limited, attempt: 3, retryAfterMs: 1 }, stop],
  ["no time left", { code: "EPIPE", remainingMs: 250 }, stop],
  ["a little time left", { code: "EPIPE", remainingMs: 251 }, waits(250)],
  ["the deadline passed", { code: "EPIPE", remainingMs: -1 }, stop],
];

describe("platform: retry", () => {
  for (const [what, given, decision] of rows) {
    it(`${decision.kind}s after ${what}`, () => assert.deepEqual(decideRetry(failure(given), 0.5), decision));
  }

  it("never repeats a request that is not idempotent, unless it was not sent or was rejected with 429", () => {
    const any = fc.record({
      delivery: fc.constantFrom<Delivery>("not sent", "rejected", "maybe applied"),
      code: fc.option(fc.constantFrom(...transientCodes, "ENOTFOUND"), { nil: undefined }),
      status: fc.option(fc.integer({ min: 300, max: 599 }), { nil: undefined }),
      retryAfterMs: fc.option(fc.oneof(fc.nat(), fc.constant("unusable" as const)), { nil: undefined }),
      attempt: fc.integer({ min: 1, max: 4 }),
      remainingMs: fc.integer(),
    });
    fc.assert(
      fc.property(any, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (given, random) => {
        const decision = decideRetry({ ...given, idempotent: false }, random);
        if (decision.kind === "stop") return;
        assert.notEqual(given.delivery, "maybe applied");
        assert.ok(given.attempt < 3 && decision.waitMs < given.remainingMs);
        assert.ok(decision.appliesToAll || decision.waitMs < 500 * 2 ** (given.attempt - 1));
      }),
    );
  });
});

describe("platform: Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const serverTime = "Sat, 21 Nov 2026 18:00:00 GMT";
  /** The header and the Date header of the same response. */
  const forms: readonly (readonly [header: string | undefined, date: string | undefined, Failure["retryAfterMs"]])[] = [
    [undefined, serverTime, undefined],
    ["0", undefined, 0],
    ["7", serverTime, 7000],
    [" 7 ", undefined, 7000],
    ["99999999999999999999", undefined, 99999999999999999999 * 1000],
    // A date is compared with the response's own date, so that a wrong local clock does not matter.
    ["Sat, 21 Nov 2026 18:00:30 GMT", serverTime, 30_000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", undefined, 30_000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", "nonsense", 30_000],
    ["Saturday, 21-Nov-26 18:00:30 GMT", serverTime, 30_000],
    ["Sat, 21 Nov 2026 17:00:00 GMT", serverTime, 0],
  ];
  const unusable = ["-5", "1.5", "1e3", "0x10", "soon", "", "7, 8"];
  for (const [header, date, expected] of [...forms, ...unusable.map((one) => [one, serverTime, "unusable"] as const)]) {
    it(`${JSON.stringify(header)}, date ${date}, is ${expected}`, () => {
      assert.equal(readRetryAfter(header, date, now), expected);
    });
  }
});

describe("platform: delivery", () => {
  const statuses = {
    responded: [200, 201, 202, 204, 299],
    rejected: [300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 407, 409, 418, 422, 429, 499],
    "maybe applied": [100, 199, 303, 408, 500, 502, 503, 504, 599, 999],
  };
  for (const [delivery, all] of Object.entries(statuses)) {
    it(`is ${delivery} for ${all.join()}`, () => {
      for (const status of all) assert.equal(deliveryOfResponse(status), delivery, `${status}`);
    });
  }

  it("without a response depends on whether the connection was ready", () => {
    assert.deepEqual([false, true].map(deliveryOfSilence), ["not sent", "maybe applied"]);
  });
});
