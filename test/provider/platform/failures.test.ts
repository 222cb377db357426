import assert from "node:assert/strict";
import { clientCertificate, errorOf, type ServiceName, unusable } from "../../../provider/platform/failures";
import { type Failure } from "../../../provider/platform/retry";
import { leftOut } from "../../../provider/platform/quote";
import { KnownSecrets } from "../../../provider/platform/redact";

const password = "canary-password";
const consequences = { unchanged: "Unchanged.", unknown: "Perhaps changed." };
const facts = { purpose: "do it", method: "POST", url: "https://platform.test/x", consequences, toCheck: ["the id"] };
const services = ["management", "queue", "database", "vendor"] as const;
const failed = (
  given: Failure,
  {
    attempt = 1,
    service = "management",
    method = "POST",
  }: { attempt?: number; service?: ServiceName; method?: string } = {},
) => errorOf({ ...facts, method }, service, { ...given, attempt, remainingMs: 0 }, new KnownSecrets([password]));

type Row = readonly [given: Omit<Failure, "delivery">, happened: string, advice: string];

const connection = "Check that the platform is running and that rekey:baseUrl is correct, then run again.";
const certificate =
  "Check that the certificate is for the host in rekey:baseUrl and has not expired, that this machine's clock is right, and that rekey:caFile contains the certificate of the authority if that is not a public one.";
const tls = "Check that the port in rekey:baseUrl uses TLS and demands no client certificate.";
const team = "The API key may belong to another team.";
const reported = "Fix what the platform reports, then run again.";
// Clients may be refused until a reset is confirmed.
const again = "Run `up` again right away.";

/** What is said of a failed reset. */
const rows: Readonly<Record<Failure["delivery"], readonly Row[]>> = {
  "not sent": [
    [{ code: "ECONNREFUSED" }, "the connection failed (ECONNREFUSED)", connection],
    [{ code: "ENOTFOUND" }, "host was not found", connection],
    [{ code: "CERT_HAS_EXPIRED" }, "certificate was not accepted (CERT_HAS_EXPIRED)", certificate],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "certificate was not accepted", certificate],
    [{ code: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" }, "certificate was not accepted", certificate],
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "certificate was not accepted", certificate],
    [{ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }, "demands a client certificate", clientCertificate.advice],
    [{ code: "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE" }, "demands a client certificate", clientCertificate.advice],
    // With TLS 1.2, the server does not say why.
    [{ code: "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE" }, "TLS connection failed", tls],
    [{ code: "EPROTO" }, "TLS connection failed", tls],
    [{ code: "ERR_TLS_HANDSHAKE_TIMEOUT" }, "accepted the connection, but does not seem to speak TLS", tls],
    [{ code: "ETIMEDOUT" }, "timed out", connection],
    [{}, "unknown reason", connection],
    [{ proxy: "unreachable" }, "proxy could not", "Check rekey:proxy."],
    [{ proxy: 407 }, "proxy responded with 407", "Check rekey:proxy and its credentials."],
  ],
  rejected: [
    [{ status: 401 }, " 401", `Check rekey:username and rekey:password. ${team}`],
    // Upstash refuses a reset with a key that is read-only.
    [
      { status: 403 },
      " 403",
      "Check rekey:username and rekey:password. The API key may be read-only, or belong to another team.",
    ],
    [{ status: 404 }, " 404", `Check the id and rekey:baseUrl. ${team}`],
    [{ status: 405 }, " 405", `Check the id and rekey:baseUrl. ${team}`],
    [{ status: 429 }, " 429", "Wait, then run again; rekey:requestsPerSecond limits the rate."],
    [{ status: 429, retryAfterMs: 1001 }, " 429", "Wait 2 s, then run again; rekey:requestsPerSecond limits the rate."],
    [
      { status: 302 },
      " 302",
      "Redirects are not followed: set rekey:baseUrl to the address that the platform redirects to.",
    ],
    [{ status: 422 }, " 422", reported],
  ],
  "maybe applied": [
    [{ status: 500 }, " 500", again],
    [{ code: "deadline" }, "within the deadline (rekey:deadlineSeconds)", again],
    [{ code: "too large" }, "response was too large", again],
    [{}, "incomplete or malformed (for an unknown reason)", again],
    [{ code: "ECONNRESET" }, "incomplete or malformed (ECONNRESET)", again],
  ],
};
const deliveries = ["not sent", "rejected", "maybe applied"] as const;
const codes = { "not sent": "REKEY_NOT_SENT", rejected: "REKEY_REJECTED", "maybe applied": "REKEY_UNCONFIRMED" };
/** What only the advice on one service may name. */
const names: Readonly<Record<ServiceName, RegExp>> = {
  management: /rekey:(baseUrl|username|password)/,
  queue: /rekey:(queueUrl|queueToken|queueUserId)/,
  database: /\b(its address|restToken)\b/i,
  vendor: /\b(http\.url|credential)\b/,
};

describe("platform: messages of failed requests", () => {
  const environment = process.env;
  const proxies = ["HTTPS_PROXY", "https_proxy"];
  beforeEach(() => {
    process.env = { ...environment };
    for (const variable of proxies) delete process.env[variable];
  });
  afterEach(() => (process.env = environment));

  for (const delivery of deliveries) {
    const consequence = consequences[delivery === "maybe applied" ? "unknown" : "unchanged"];
    for (const [given, happened, advice] of rows[delivery]) {
      it(`describe ${JSON.stringify({ delivery, ...given })}`, () => {
        const error = failed({ delivery, ...given });
        const [before = "", after] = error.message.split(` (POST https://platform.test/x). ${consequence} `);
        assert.ok(before.startsWith("Could not do it: ") && before.includes(happened), before);
        assert.equal(after, `${advice} [${codes[delivery]}]`);
        const { code, status } = error;
        assert.deepEqual([code, error.delivery, status], [codes[delivery], delivery, given.status]);
      });
    }
  }

  for (const variable of proxies) {
    it(`say of a host that is not reached that ${variable} has no effect`, () => {
      process.env[variable] = "http://user:canary@proxy.test:3128";
      const adviceOf = (given: Omit<Failure, "delivery">) => failed({ delivery: "not sent", ...given }).advice;
      const hint = `${variable} has no effect: if a proxy is needed, set rekey:proxy.`;
      for (const code of ["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT"]) {
        assert.equal(adviceOf({ code }), `${connection} ${hint}`);
      }
      assert.equal(adviceOf({ proxy: "unreachable" }), "Check rekey:proxy.");
      assert.equal(adviceOf({ code: "CERT_HAS_EXPIRED" }), certificate);
    });
  }

  it("contain the number of attempts if there was more than one", () => {
    const message = (given: Failure) => failed(given, { attempt: 3 }).message;
    assert.match(message({ delivery: "not sent", code: "EPIPE" }), /failed \(EPIPE\), after 3 attempts \(POST/);
    assert.match(message({ delivery: "rejected", status: 429 }), / 429, after 3 attempts \(POST/);
    assert.match(message({ delivery: "maybe applied", code: "EPIPE" }), /\(EPIPE\), after 3 attempts \(POST/);
  });

  it("have an advice that is a sentence and names no setting of another service", () => {
    for (const service of services) {
      const others = services.filter((other) => other !== service);
      const all = ["GET", "POST"].flatMap((method) =>
        deliveries.flatMap((delivery) =>
          rows[delivery].map(([given]) => failed({ delivery, ...given }, { service, method })),
        ),
      );
      for (const { advice } of [...all, unusable({ facts, service, status: 200 }, "is odd")]) {
        assert.match(advice, /^[A-Z].*\.$/);
        assert.ok(!others.some((other) => names[other].test(advice)), advice);
      }
    }
    const refused = { delivery: "rejected", status: 403 } as const;
    assert.equal(failed(refused, { method: "GET" }).advice, `Check rekey:username and rekey:password. ${team}`);
    const lost = { delivery: "maybe applied", status: 500 } as const;
    for (const other of [{ method: "GET" }, { service: "queue" }] as const) {
      assert.equal(failed(lost, other).advice, "Check the platform's status, then run again.");
    }
  });

  const bodies: readonly (readonly [body: string, shown: string, isJson?: true])[] = [
    ['{"error":"id: odd","message":"no"}', ": id: odd", true],
    ['{"error":{"id":1},"message":"id is odd"}', ": id is odd", true],
    // It may hold credentials.
    ['{"detail":"id"}', "", true],
    ['{"error":"new is wrong","password":"new"}', `: ${leftOut}`, true],
    ['{"error":"new is wrong","data":[{"token":"new"}]}', `: ${leftOut}`, true],
    ['{"database":{"password":"new"},"detail":"new"}', "", true],
    [`{"error":"${password} is wrong"}`, `: ${leftOut}`, true],
    ["id is odd\n", ""],
    ["<html>no</html>", ""],
    ['"x"', ""],
    ["", ""],
  ];
  for (const [body, shown, isJson = false] of bodies) {
    it(`show ${shown || "nothing"} of ${JSON.stringify(body)}, and ${isJson ? "know" : "doubt"} that the platform said it`, () => {
      for (const delivery of ["rejected", "maybe applied"] as const) {
        const error = failed({ delivery, status: 418, body });
        assert.ok(error.message.includes(` 418${shown} (POST`), error.message);
        assert.equal(error.words !== undefined, isJson);
      }
    });
  }
});
