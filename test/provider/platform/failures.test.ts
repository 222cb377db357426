import assert from "node:assert/strict";
import { NotSentError, RejectedError, UnconfirmedError } from "../../../provider/platform/errors";
import { adviceOnContent, errorOf, type FailedAttempt, type ServiceName } from "../../../provider/platform/failures";
import { KnownSecrets, leftOut } from "../../../provider/platform/redact";
import { assertFields } from "../../support/results";

const password = "canary-password";
const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const services = ["management", "queue", "database"] as const;
const failed = (
  given: FailedAttempt,
  {
    attempts = 1,
    service = "management",
    method = "POST",
  }: { attempts?: number; service?: ServiceName; method?: string } = {},
) => errorOf({ ...facts, method }, service, { ...given, attempts }, new KnownSecrets([password]));

type Row = readonly [given: Omit<FailedAttempt, "delivery">, happened: string, advice: string];

const team = "The API key may be of another team.";
const connection = "Check that the platform is running and that rekey:baseUrl is correct, then run again.";
const renewal = "Renew the certificate, check the clock of this machine, then run again.";
const trust = "Set rekey:caFile to the certificate of that authority, then run again.";
const tls = "Check that the port in rekey:baseUrl uses TLS.";
const refused = `Check rekey:username and rekey:password. ${team}`;
const reported = "Fix what the platform reports, then run again.";
// Clients may be refused until a reset is confirmed.
const again = "Run `up` again at once.";

/** What is said of a failed reset. */
const rows: Readonly<Record<FailedAttempt["delivery"], readonly Row[]>> = {
  "not sent": [
    [{ code: "ECONNREFUSED" }, "the connection was refused (ECONNREFUSED)", connection],
    [{ code: "ENOTFOUND" }, "host was not found", "Check the host in rekey:baseUrl."],
    [{ code: "EAI_AGAIN" }, "failed (EAI_AGAIN)", connection],
    [{ code: "CERT_HAS_EXPIRED" }, "certificate has expired", renewal],
    [{ code: "CERT_NOT_YET_VALID" }, "certificate is not valid yet", renewal],
    [{ code: "CERT_REVOKED" }, "certificate is not accepted", "Check rekey:baseUrl, then run again."],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "certificate is self-signed", trust],
    [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "certificate is self-signed", trust],
    [{ code: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" }, "that is not trusted", trust],
    [
      { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
      "for another host",
      "Set rekey:baseUrl to the host that the certificate is for, then run again.",
    ],
    // The server asks for a certificate of the client.
    [{ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }, "TLS connection failed", tls],
    [{ code: "EPROTO" }, "TLS connection failed", tls],
    [{ code: "ETIMEDOUT" }, "timed out", connection],
    [{ code: "EPROTONOSUPPORT" }, "failed (EPROTONOSUPPORT)", connection],
    [{ code: "deadline" }, "timed out", connection],
    [{}, "unknown reason", connection],
    [{ proxy: "unreachable" }, "proxy could not", "Check rekey:proxy."],
    [{ proxy: 407 }, "proxy responded with 407", "Check rekey:proxy and its credentials."],
  ],
  rejected: [
    [{ status: 401 }, " 401", refused],
    [{ status: 403 }, " 403", refused],
    [{ status: 404 }, " 404", `Check the id or key, rekey:baseUrl and rekey:resetPasswordPath. ${team}`],
    [{ status: 429 }, " 429", "Wait, then run again; rekey:requestsPerSecond limits the rate."],
    [
      { status: 302 },
      " 302",
      "Redirects are not followed: set rekey:baseUrl to the address that the platform itself uses.",
    ],
    [{ status: 400 }, " 400", reported],
    [{ status: 422 }, " 422", reported],
  ],
  "maybe applied": [
    [{ status: 303 }, " 303", again],
    [{ status: 500 }, " 500", again],
    [{ code: "deadline" }, "within the deadline (rekey:deadlineSeconds)", again],
    [{ code: "too large" }, "response was too large", again],
    [{}, "incomplete or malformed (for an unknown reason)", again],
    [{ code: "ECONNRESET" }, "incomplete or malformed (ECONNRESET)", again],
  ],
};
/** What only the advice on one service may name. */
const names: Readonly<Record<ServiceName, RegExp>> = {
  management: /rekey:(baseUrl|username|password|resetPasswordPath|databasePath)/,
  queue: /rekey:(queueUrl|queueToken|queueUserId|flowControlResetAction)/,
  database: /\b(host and port|restToken|in host|set host)\b/i,
};
const errors = {
  "not sent": [NotSentError, "REKEY_NOT_SENT"],
  rejected: [RejectedError, "REKEY_REJECTED"],
  "maybe applied": [UnconfirmedError, "REKEY_UNCONFIRMED"],
} as const;

describe("platform: messages of failed requests", () => {
  for (const delivery of ["not sent", "rejected", "maybe applied"] as const) {
    for (const [given, happened, advice] of rows[delivery]) {
      it(`describe ${JSON.stringify({ delivery, ...given })}`, () => {
        const error = failed({ delivery, ...given });
        const [type, code] = errors[delivery];
        const [before = "", after] = error.message.split(
          ` (POST https://platform.test/x). ${facts.consequences[delivery]} `,
        );
        assert.ok(error instanceof type);
        assert.ok(before.startsWith("Could not do it: ") && before.includes(happened), before);
        assert.equal(after, `${advice} [${code}]`);
        assertFields(error, { name: type.name, code, delivery, status: given.status, networkCode: given.code });
      });
    }
  }

  it("contain the number of attempts if there was more than one, and the time to wait", () => {
    assert.match(
      failed({ delivery: "not sent", code: "EPIPE" }, { attempts: 3 }).message,
      /failed \(EPIPE\), after 3 attempts \(POST/,
    );
    const limited = failed({ delivery: "rejected", status: 429, retryAfterMs: 1001 }, { attempts: 2 });
    assert.match(limited.message, / 429, after 2 attempts \(POST.* Wait 2 s, then run again;/);
    const unusable = failed({ delivery: "rejected", status: 429, retryAfterMs: "unusable" });
    assert.match(unusable.message, / Wait, then run again;/);
    assert.doesNotMatch(unusable.message, /attempts/);
  });

  it("have an advice that is a sentence and names no setting of another service", () => {
    const deliveries = ["not sent", "rejected", "maybe applied"] as const;
    for (const service of services) {
      const others = services.filter((other) => other !== service);
      for (const method of ["GET", "POST"]) {
        const errors = deliveries.flatMap((delivery) =>
          rows[delivery].map(([given]) => failed({ delivery, ...given }, { service, method })),
        );
        for (const advice of [...errors.map((error) => error.advice), adviceOnContent(service, method)]) {
          assert.match(advice, /^[A-Z].*\.$/);
          assert.deepEqual(
            others.filter((other) => names[other].test(advice)),
            [],
            advice,
          );
        }
      }
    }
  });

  it("have the advice of their service and method", () => {
    const missing = { delivery: "rejected", status: 404 } as const;
    assert.equal(
      failed(missing, { method: "GET" }).advice,
      `Check the id or key, rekey:baseUrl and rekey:databasePath, which \`none\` switches off. ${team}`,
    );
    assert.equal(
      failed({ ...missing, status: 401 }, { service: "queue" }).advice,
      "Check rekey:queueToken or rekey:queueUserId.",
    );
    const unconfirmed = "Check the status of the platform, then run again.";
    assert.equal(failed({ delivery: "maybe applied", status: 500 }, { method: "GET" }).advice, unconfirmed);
    assert.equal(failed({ delivery: "maybe applied", status: 500 }, { service: "queue" }).advice, unconfirmed);
    assert.equal(adviceOnContent("queue", "GET"), "Check rekey:queueUrl.");
  });

  const bodies: readonly (readonly [FailedAttempt["delivery"], body: string, shown: string])[] = [
    ["rejected", '{"error":"id: odd","message":"no"}', ": id: odd"],
    ["rejected", '{"error":{"id":1},"message":"id is odd"}', ": id is odd"],
    // It may hold credentials.
    ["rejected", '{"detail":"id"}', ""],
    ["rejected", "id is odd\n", ""],
    ["rejected", '{"error":"new is wrong","password":"new"}', `: ${leftOut}`],
    ["rejected", "<html>no</html>", ""],
    ["rejected", "", ""],
    ["rejected", `{"error":"${password} is wrong"}`, `: ${leftOut}`],
    ["maybe applied", '{"error":"try later"}', ": try later"],
    ["maybe applied", '{"detail":"new"}', ""],
    ["maybe applied", "new", ""],
  ];
  for (const [delivery, body, shown] of bodies) {
    it(`show ${shown || "nothing"} of ${delivery} ${JSON.stringify(body)}`, () => {
      const { message } = failed({ delivery, status: 418, body });
      assert.ok(message.includes(` 418${shown} (POST`), message);
    });
  }

  it("know a refusal by the platform itself, in JSON, from one by something between", () => {
    const inJson = (body?: string) =>
      (failed({ delivery: "rejected", status: 404, ...(body !== undefined && { body }) }) as RejectedError).inJson;
    assert.deepEqual(['{"error":"x"}', "{}"].map(inJson), [true, true]);
    assert.ok(!["<html>", "", undefined, "[]", '"x"'].some(inJson));
  });
});
