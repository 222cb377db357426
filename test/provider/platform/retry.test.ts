import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decideRetry,
  type Delivery,
  deliveryOfResponse,
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
  ["429", limited, waits(525)],
  ["the second 429", { ...limited, attempt: 2 }, waits(1050)],
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
        assert.ok(decision.appliesToAll || decision.waitMs < 700 * 2 ** (given.attempt - 1));
      }),
    );
  });

  it("waits for more than a second in all after 429 without a time, because limits are those of a second", () => {
    for (const random of [0, 0.5, 0.999]) {
      const decisions = [1, 2].map((attempt) => decideRetry(failure({ ...limited, attempt }), random));
      const waited = decisions.reduce((sum, one) => sum + (one.kind === "wait" ? one.waitMs : 0), 0);
      assert.ok(waited > 1_000 && waited < 2_200, `${waited}`);
    }
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
      const headers = { ...(header !== undefined && { "retry-after": header }), ...(date && { date }) };
      assert.equal(readRetryAfter(headers, now), expected);
    });
  }

  const at = (seconds: number) => String(Date.parse(serverTime) / 1000 + seconds);
  const resetHeaders = ["burst-ratelimit-reset", "ratelimit-reset"];
  for (const { title, headers, expected } of [
    { title: "the end of the second", headers: { "burst-ratelimit-reset": at(1) }, expected: 1000 },
    { title: "the end of the day", headers: { "ratelimit-reset": at(7200) }, expected: 7_200_000 },
    { title: "both", headers: { "burst-ratelimit-reset": at(2), "ratelimit-reset": at(7200) }, expected: 2000 },
    { title: "Retry-After, too", headers: { "burst-ratelimit-reset": at(2), "retry-after": "3" }, expected: 3000 },
    { title: "a time that has passed", headers: { "burst-ratelimit-reset": at(0) }, expected: undefined },
    { title: "no number", headers: { "ratelimit-reset": "soon" }, expected: undefined },
  ]) {
    it(`with the platform's own headers, that have ${title}, is ${expected}`, () => {
      const response: Readonly<Record<string, string>> = { ...headers, date: serverTime };
      assert.equal(readRetryAfter(response, now, resetHeaders), expected);
      // Elsewhere, such a header may have another unit.
      const { "retry-after": elsewhere } = response;
      assert.equal(readRetryAfter(response, now), elsewhere && Number(elsewhere) * 1000);
    });
  }

  it("with the platform's own headers counts from this machine's clock if the response has no date", () => {
    assert.equal(readRetryAfter({ "ratelimit-reset": String(now / 1000 + 4) }, now, resetHeaders), 4000);
  });
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
});
