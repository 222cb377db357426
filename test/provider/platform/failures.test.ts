import assert from "node:assert/strict";
import { NotSentError, RejectedError, UnconfirmedError } from "../../../provider/platform/errors";
import { errorOf, type FailedAttempt } from "../../../provider/platform/failures";
import { KnownSecrets, leftOut } from "../../../provider/platform/redact";
import { advise, deadlineName } from "../../../provider/settings/advice";
import { assertFields } from "../../support/results";

const password = "canary-password";
const wording = { secrets: new KnownSecrets([password]), deadlineName, advise };
const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const failed = (given: FailedAttempt, attempts = 1) => errorOf(facts, "management", { ...given, attempts }, wording);

type Row = Omit<FailedAttempt, "delivery"> & { readonly happened: RegExp; readonly advice: RegExp };

const rows: Readonly<Record<FailedAttempt["delivery"], readonly Row[]>> = {
  "not sent": [
    { code: "ECONNREFUSED", happened: /refused/, advice: /platform is running.*baseUrl/ },
    { code: "ENOTFOUND", happened: /host was not found/, advice: /host in rekey:baseUrl/ },
    { code: "EAI_AGAIN", happened: /failed \(EAI_AGAIN\)/, advice: /run again/ },
    { code: "CERT_HAS_EXPIRED", happened: /certificate has expired/, advice: /Renew the certificate/ },
    { code: "CERT_NOT_YET_VALID", happened: /certificate is not valid yet/, advice: /clock of this machine/ },
    { code: "CERT_REVOKED", happened: /certificate is not accepted/, advice: /Check rekey:baseUrl/ },
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT", happened: /certificate is self-signed/, advice: /Set rekey:caFile/ },
    { code: "SELF_SIGNED_CERT_IN_CHAIN", happened: /certificate is self-signed/, advice: /Set rekey:caFile/ },
    { code: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", happened: /that is not trusted/, advice: /Set rekey:caFile/ },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", happened: /for another host/, advice: /Set rekey:baseUrl to the host/ },
    // The server asks for a certificate of the client.
    { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", happened: /TLS connection failed/, advice: /rekey:baseUrl/ },
    { code: "EPROTO", happened: /TLS connection failed/, advice: /port in rekey:baseUrl uses TLS/ },
    { code: "ETIMEDOUT", happened: /timed out/, advice: /run again/ },
    { code: "EPROTONOSUPPORT", happened: /failed \(EPROTONOSUPPORT\)/, advice: /platform is running/ },
    { code: "deadline", happened: /timed out/, advice: /run again/ },
    { happened: /unknown reason/, advice: /run again/ },
    { proxy: "unreachable", happened: /proxy could not/, advice: /rekey:proxy\./ },
    { proxy: 407, happened: /proxy responded with 407/, advice: /its credentials/ },
  ],
  rejected: [
    { status: 401, happened: / 401 /, advice: /rekey:username and rekey:password\./ },
    { status: 403, happened: / 403 /, advice: /rekey:password\./ },
    { status: 404, happened: / 404 /, advice: /id or key, rekey:baseUrl and rekey:resetPasswordPath/ },
    { status: 429, happened: / 429 /, advice: /Wait, then.*requestsPerSecond/ },
    { status: 429, retryAfterMs: 1500, happened: / 429 /, advice: /Wait 2 s, then/ },
    { status: 429, retryAfterMs: "unusable", happened: / 429 /, advice: /Wait, then/ },
    { status: 302, happened: / 302 /, advice: /not followed: set rekey:baseUrl/ },
    { status: 400, happened: / 400 /, advice: /what the platform reports/ },
    { status: 422, happened: / 422 /, advice: /what the platform reports/ },
  ],
  "maybe applied": [
    { status: 303, happened: / 303 /, advice: / at once/ },
    { status: 500, happened: / 500 /, advice: / at once/ },
    { code: "deadline", happened: /within the deadline \(rekey:deadlineSeconds\)/, advice: / at once/ },
    { code: "too large", happened: /response was too large/, advice: / at once/ },
    { happened: /incomplete.*unknown reason/, advice: / at once/ },
    { code: "ECONNRESET", happened: /incomplete.*ECONNRESET/, advice: / at once/ },
  ],
};
const errors = {
  "not sent": { type: NotSentError, code: "REKEY_NOT_SENT" },
  rejected: { type: RejectedError, code: "REKEY_REJECTED" },
  "maybe applied": { type: UnconfirmedError, code: "REKEY_UNCONFIRMED" },
};

describe("api: messages of failed requests", () => {
  for (const delivery of ["not sent", "rejected", "maybe applied"] as const) {
    for (const { happened, advice, ...given } of rows[delivery]) {
      it(`describe ${JSON.stringify({ delivery, ...given })}`, () => {
        const error = failed({ delivery, ...given });
        const consequence = facts.consequences[delivery];
        const [before = "", after = ""] = error.message.split(` (POST https://platform.test/x). ${consequence} `);
        const { type, code } = errors[delivery];
        assert.ok(error instanceof type && error.name === type.name);
        assert.match(before, /^Could not do it: /);
        assert.match(`${before} `, happened);
        assert.match(after, advice);
        assert.ok(after.endsWith(` [${code}]`), after);
        assertFields(error, { code, delivery, status: given.status, networkCode: given.code });
      });
    }
  }

  it("contain the number of attempts if there was more than one", () => {
    const { message } = failed({ delivery: "not sent", code: "EPIPE" }, 3);
    assert.match(message, /failed \(EPIPE\), after 3 attempts \(POST/);
    assert.match(failed({ delivery: "rejected", status: 429 }, 2).message, / 429, after 2 attempts \(POST/);
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
