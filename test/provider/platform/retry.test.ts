import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decideRetry,
  type FailedAttempt,
  readRetryAfter,
  type Retry,
  deliveryOfFailure,
} from "../../../provider/platform/retry";

const failure = (given: Partial<FailedAttempt>): FailedAttempt => ({
  idempotent: false,
  delivery: "not sent",
  attempt: 1,
  remainingMs: 60_000,
  ...given,
});
const waits = (waitMs: number, appliesToAll = false): Retry => ({ waitMs, appliesToAll });

const transient =
  "ECONNREFUSED ECONNRESET ECONNABORTED EAI_AGAIN ETIMEDOUT EPIPE EHOSTUNREACH ENETUNREACH ERR_TLS_HANDSHAKE_TIMEOUT".split(
    " ",
  );
const lasting = ["ENOTFOUND", "CERT_HAS_EXPIRED", "HPE_INVALID_CONSTANT", "deadline", "too large", undefined];
const limited: Partial<FailedAttempt> = { delivery: "rejected", status: 429 };
const lost: Partial<FailedAttempt> = { delivery: "maybe applied" };
const busy: Partial<FailedAttempt> = { idempotent: true, delivery: "maybe applied", status: 503 };

const rows: readonly (readonly [string, readonly Partial<FailedAttempt>[], Retry | undefined])[] = [
  ["not sent, and perhaps temporary", transient.map((code) => ({ code })), waits(250)],
  ["not sent, and lasting", lasting.map((code) => ({ code })), undefined],
  // A second delivery could destroy the result of the first one.
  ["maybe applied, not idempotent", transient.map((code) => ({ ...lost, code })), undefined],
  ["maybe applied, not idempotent", [303, 408, 500, 502, 503, 504].map((status) => ({ ...lost, status })), undefined],
  ["not idempotent, 503 with Retry-After", [{ ...lost, status: 503, retryAfterMs: 10 }], undefined],
  ["429", [limited], waits(525)],
  ["the second 429", [{ ...limited, attempt: 2 }], waits(1050)],
  ["rejected", [301, 400, 401, 403, 404, 409, 422].map((status) => ({ ...limited, status })), undefined],
  [
    "maybe applied",
    [...transient, "ERR_BAD_RESPONSE"].map((code) => ({ ...lost, idempotent: true, code })),
    waits(250),
  ],
  ["maybe applied, lasting", lasting.map((code) => ({ ...lost, idempotent: true, code })), undefined],
  ["busy", [408, 500, 502, 503, 504].map((status) => ({ ...busy, status })), waits(250)],
  ["other statuses", [303, 404, 501, 599].map((status) => ({ ...busy, status })), undefined],
  ["429 with a time", [{ ...limited, retryAfterMs: 2000 }], waits(2000, true)],
  ["429 with Retry-After: 0", [{ ...limited, retryAfterMs: 0 }], waits(0, true)],
  ["429 with an unreadable Retry-After", [{ ...limited, retryAfterMs: Infinity }], undefined],
  ["503 with a time", [{ ...busy, retryAfterMs: 2000 }], waits(2000, true)],
  ["404 with a time", [{ ...limited, status: 404, retryAfterMs: 1 }], undefined],
  ["429 with a time at the deadline", [{ ...limited, retryAfterMs: 60_000 }], undefined],
  ["429 with a time just before the deadline", [{ ...limited, retryAfterMs: 59_999 }], waits(59_999, true)],
  ["the second attempt", [{ code: "EPIPE", attempt: 2 }], waits(500)],
  ["the third attempt", [{ code: "EPIPE", attempt: 3 }], undefined],
  ["the third 429", [{ ...limited, attempt: 3, retryAfterMs: 1 }], undefined],
  ["no time left", [{ code: "EPIPE", remainingMs: 250 }], undefined],
  ["a little time left", [{ code: "EPIPE", remainingMs: 251 }], waits(250)],
];

describe("platform: retry", () => {
  for (const [what, all, retry] of rows) {
    it(`${retry ? "waits" : "stops"} after ${what}`, () => {
      for (const given of all) assert.deepEqual(decideRetry(failure(given), 0.5), retry, JSON.stringify(given));
    });
  }

  it("never repeats a request that is not idempotent, unless it was not sent or was rejected with 429", () => {
    const any = fc.record({
      delivery: fc.constantFrom<FailedAttempt["delivery"]>("not sent", "rejected", "maybe applied"),
      code: fc.option(fc.constantFrom(...transient, "ENOTFOUND"), { nil: undefined }),
      status: fc.option(fc.integer({ min: 300, max: 599 }), { nil: undefined }),
      retryAfterMs: fc.option(fc.oneof(fc.nat(), fc.constant(Infinity)), { nil: undefined }),
      attempt: fc.integer({ min: 1, max: 4 }),
      remainingMs: fc.integer(),
    });
    fc.assert(
      fc.property(any, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (given, random) => {
        const retry = decideRetry({ ...given, idempotent: false }, random);
        if (!retry) return;
        assert.notEqual(given.delivery, "maybe applied");
        assert.ok(given.attempt < 3 && retry.waitMs < given.remainingMs);
        assert.ok(retry.appliesToAll || retry.waitMs < 700 * 2 ** (given.attempt - 1));
      }),
    );
  });

  it("waits for more than a second in all after 429 without a time, because limits are those of a second", () => {
    for (const random of [0, 0.5, 0.999]) {
      const [first, second] = [1, 2].map((attempt) => decideRetry(failure({ ...limited, attempt }), random)?.waitMs);
      const waited = (first ?? 0) + (second ?? 0);
      assert.ok(waited > 1_000 && waited < 2_200, `${waited}`);
    }
  });
});

describe("platform: Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const serverTime = "Sat, 21 Nov 2026 18:00:00 GMT";
  const at = (seconds: number) => String(Date.parse(serverTime) / 1000 + seconds);
  const resetHeaders = ["burst-ratelimit-reset", "ratelimit-reset"];
  /** The headers of a response, and whether the platform's own ones count. */
  const rows: readonly (readonly [headers: Record<string, string>, expected: number | undefined, own?: true])[] = [
    [{ date: serverTime }, undefined],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": " 7 ", date: serverTime }, 7000],
    // A date is compared with the response's own date, so that a wrong local clock does not matter.
    [{ "retry-after": "Sat, 21 Nov 2026 18:00:30 GMT", date: serverTime }, 30_000],
    [{ "retry-after": "Saturday, 21-Nov-26 18:00:30 GMT", date: serverTime }, 30_000],
    [{ "retry-after": "Sat, 21 Nov 2026 17:00:00 GMT", date: serverTime }, 0],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, 30_000],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT", date: "nonsense" }, 30_000],
    ...["-5", "1.5", "1e3", "0x10", "soon", "", "7, 8"].map((value) => [{ "retry-after": value }, Infinity] as const),
    [{ "burst-ratelimit-reset": at(1), date: serverTime }, 1000, true],
    [{ "ratelimit-reset": at(7200), date: serverTime }, 7_200_000, true],
    [{ "burst-ratelimit-reset": at(2), "ratelimit-reset": at(7200), date: serverTime }, 2000, true],
    [{ "burst-ratelimit-reset": at(2), "retry-after": "3", date: serverTime }, 3000, true],
    [{ "burst-ratelimit-reset": at(0), date: serverTime }, undefined, true],
    [{ "ratelimit-reset": "soon", date: serverTime }, undefined, true],
    [{ "ratelimit-reset": String(now / 1000 + 4) }, 4000, true],
    // Elsewhere, such a header may have another unit.
    [{ "ratelimit-reset": at(7200), date: serverTime }, undefined],
  ];
  for (const [headers, expected, own] of rows) {
    it(`${JSON.stringify(headers)}${own ? ", on a platform that has them," : ""} is ${expected}`, () => {
      assert.equal(readRetryAfter(headers, now, own && resetHeaders), expected);
    });
  }
});

describe("retry: what a status says of a request", () => {
  for (const status of [300, 301, 307, 400, 401, 404, 409, 429, 499]) {
    it(`${status}: it was rejected`, () => assert.equal(deliveryOfFailure(status), "rejected"));
  }
  for (const status of [100, 299, 303, 408, 500, 501, 503, 599]) {
    it(`${status}: it may have been applied`, () => assert.equal(deliveryOfFailure(status), "maybe applied"));
  }
});
