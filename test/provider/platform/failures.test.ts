import assert from "node:assert/strict";
import { NotSentError, RejectedError, UnconfirmedError } from "../../../provider/platform/errors";
import { errorOf, type FailedAttempt, type FailureKind } from "../../../provider/platform/failures";
import { KnownSecrets, leftOut } from "../../../provider/platform/redact";
import { assertFields } from "../../support/results";

const password = "canary-password";
const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const wording = {
  secrets: new KnownSecrets([password]),
  deadlineName: "the deadline",
  advise: ({ kind, retryAfterMs }: { kind: FailureKind; retryAfterMs?: unknown }) =>
    `<${kind}, ${String(retryAfterMs)}>`,
};
const failed = (given: FailedAttempt, attempts = 1) => errorOf(facts, "management", { ...given, attempts }, wording);

type Row = readonly [given: Omit<FailedAttempt, "delivery">, happened: string, kind: FailureKind];

/** What is said of a failure, and what its advice is about: settings/advice.test.ts has the words. */
const rows: Readonly<Record<FailedAttempt["delivery"], readonly Row[]>> = {
  "not sent": [
    [{ code: "ECONNREFUSED" }, "the connection was refused (ECONNREFUSED)", "no connection"],
    [{ code: "ENOTFOUND" }, "host was not found", "unknown host"],
    [{ code: "EAI_AGAIN" }, "failed (EAI_AGAIN)", "no connection"],
    [{ code: "CERT_HAS_EXPIRED" }, "certificate has expired", "certificate out of date"],
    [{ code: "CERT_NOT_YET_VALID" }, "certificate is not valid yet", "certificate out of date"],
    [{ code: "CERT_REVOKED" }, "certificate is not accepted", "certificate not accepted"],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "certificate is self-signed", "certificate not trusted"],
    [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "certificate is self-signed", "certificate not trusted"],
    [{ code: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" }, "that is not trusted", "certificate not trusted"],
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "for another host", "certificate of another host"],
    // The server asks for a certificate of the client.
    [{ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }, "TLS connection failed", "no TLS"],
    [{ code: "EPROTO" }, "TLS connection failed", "no TLS"],
    [{ code: "ETIMEDOUT" }, "timed out", "no connection"],
    [{ code: "EPROTONOSUPPORT" }, "failed (EPROTONOSUPPORT)", "no connection"],
    [{ code: "deadline" }, "timed out", "no connection"],
    [{}, "unknown reason", "no connection"],
    [{ proxy: "unreachable" }, "proxy could not", "proxy unreachable"],
    [{ proxy: 407 }, "proxy responded with 407", "proxy response"],
  ],
  rejected: [
    [{ status: 401 }, " 401", "unauthorized"],
    [{ status: 403 }, " 403", "unauthorized"],
    [{ status: 404 }, " 404", "not found"],
    [{ status: 429 }, " 429", "too many requests"],
    [{ status: 302 }, " 302", "redirect"],
    [{ status: 400 }, " 400", "rejected"],
    [{ status: 422 }, " 422", "rejected"],
  ],
  "maybe applied": [
    [{ status: 303 }, " 303", "unconfirmed"],
    [{ status: 500 }, " 500", "unconfirmed"],
    [{ code: "deadline" }, "within the deadline", "unconfirmed"],
    [{ code: "too large" }, "response was too large", "unconfirmed"],
    [{}, "incomplete or malformed (for an unknown reason)", "unconfirmed"],
    [{ code: "ECONNRESET" }, "incomplete or malformed (ECONNRESET)", "unconfirmed"],
  ],
};
const errors = {
  "not sent": [NotSentError, "REKEY_NOT_SENT"],
  rejected: [RejectedError, "REKEY_REJECTED"],
  "maybe applied": [UnconfirmedError, "REKEY_UNCONFIRMED"],
} as const;

describe("platform: messages of failed requests", () => {
  for (const delivery of ["not sent", "rejected", "maybe applied"] as const) {
    for (const [given, happened, kind] of rows[delivery]) {
      it(`describe ${JSON.stringify({ delivery, ...given })}`, () => {
        const error = failed({ delivery, ...given });
        const [type, code] = errors[delivery];
        const [before = "", after] = error.message.split(
          ` (POST https://platform.test/x). ${facts.consequences[delivery]} `,
        );
        assert.ok(error instanceof type);
        assert.ok(before.startsWith("Could not do it: ") && before.includes(happened), before);
        assert.equal(after, `<${kind}, undefined> [${code}]`);
        assertFields(error, { name: type.name, code, delivery, status: given.status, networkCode: given.code });
      });
    }
  }

  it("contain the number of attempts if there was more than one, and the time to wait", () => {
    assert.match(
      failed({ delivery: "not sent", code: "EPIPE" }, 3).message,
      /failed \(EPIPE\), after 3 attempts \(POST/,
    );
    const limited = failed({ delivery: "rejected", status: 429, retryAfterMs: 1500 }, 2).message;
    assert.match(limited, / 429, after 2 attempts \(POST.*<too many requests, 1500>/);
    assert.doesNotMatch(failed({ delivery: "rejected", status: 429 }, 1).message, /attempts/);
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
