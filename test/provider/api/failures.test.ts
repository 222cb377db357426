import assert from "node:assert/strict";
import { type RejectedError } from "../../../provider/api/errors";
import { errorOf, type FailedAttempt } from "../../../provider/api/failures";
import { managementService } from "../../../provider/api/requester";

const password = "canary-password";
const service = managementService("https://platform.test", "ops", password);
const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const failed = (given: FailedAttempt, attempts = 1) => errorOf(facts, service, [password], { ...given, attempts });

const rows: readonly (readonly [string, FailedAttempt, name: string, happened: RegExp, advice: RegExp])[] = [
  ["refused", { delivery: "not sent", code: "ECONNREFUSED" }, "NotSentError", /was refused/, /platform runs.*baseUrl/],
  [
    "no host",
    { delivery: "not sent", code: "ENOTFOUND" },
    "NotSentError",
    /host was not found/,
    /host in rekey:baseUrl/,
  ],
  ["no DNS", { delivery: "not sent", code: "EAI_AGAIN" }, "NotSentError", /failed \(EAI_AGAIN\)/, /run again/],
  [
    "an old certificate",
    { delivery: "not sent", code: "CERT_HAS_EXPIRED" },
    "NotSentError",
    /no secure/,
    /rekey:caFile/,
  ],
  ["a foreign one", { delivery: "not sent", code: "SELF_SIGNED_CERT_IN_CHAIN" }, "NotSentError", /no secure/, /caFile/],
  ["no TLS there", { delivery: "not sent", code: "EPROTO" }, "NotSentError", /no secure/, /rekey:baseUrl/],
  [
    "another protocol error",
    { delivery: "not sent", code: "EPROTONOSUPPORT" },
    "NotSentError",
    /failed \(EPROTONOSUPPORT\)/,
    /platform runs/,
  ],
  ["no time", { delivery: "not sent", code: "deadline" }, "NotSentError", /within the deadline/, /run again/],
  ["no code", { delivery: "not sent" }, "NotSentError", /for an unknown reason/, /run again/],
  ["no proxy", { delivery: "not sent", proxy: "unreachable" }, "NotSentError", /the proxy could not/, /rekey:proxy\./],
  ["a proxy's 407", { delivery: "not sent", proxy: 407 }, "NotSentError", /proxy answered 407/, /its credentials/],
  [
    "401",
    { delivery: "rejected", status: 401 },
    "RejectedError",
    /answered 401 /,
    /rekey:username and rekey:password\./,
  ],
  ["403", { delivery: "rejected", status: 403 }, "RejectedError", /answered 403 /, /rekey:password\./],
  [
    "404",
    { delivery: "rejected", status: 404 },
    "RejectedError",
    /answered 404 /,
    /the id or key, rekey:baseUrl and rekey:resetPasswordPath/,
  ],
  ["429", { delivery: "rejected", status: 429 }, "RejectedError", /answered 429 /, /Wait, then.*requestsPerSecond/],
  ["429 and when", { delivery: "rejected", status: 429, retryAfter: 1500 }, "RejectedError", /429/, /Wait 2 s, then/],
  [
    "429 and nonsense",
    { delivery: "rejected", status: 429, retryAfter: "unusable" },
    "RejectedError",
    /429/,
    /Wait, then/,
  ],
  ["302", { delivery: "rejected", status: 302 }, "RejectedError", /answered 302 /, /not followed: set rekey:baseUrl/],
  ["400", { delivery: "rejected", status: 400 }, "RejectedError", /answered 400 /, /Mend what the platform names/],
  ["422", { delivery: "rejected", status: 422 }, "RejectedError", /answered 422 /, /Mend what the platform names/],
  [
    "303",
    { delivery: "maybe applied", status: 303 },
    "UnconfirmedError",
    /answered 303 /,
    /See whether the platform is well/,
  ],
  [
    "500",
    { delivery: "maybe applied", status: 500 },
    "UnconfirmedError",
    /answered 500 /,
    /See whether the platform is well/,
  ],
  [
    "silence",
    { delivery: "maybe applied", code: "deadline" },
    "UnconfirmedError",
    /no whole answer/,
    /platform is well/,
  ],
  ["too much", { delivery: "maybe applied", code: "too large" }, "UnconfirmedError", /was too large/, /is well/],
  ["an unknown end", { delivery: "maybe applied" }, "UnconfirmedError", /cut off.*for an unknown reason/, /is well/],
  ["a cut", { delivery: "maybe applied", code: "ECONNRESET" }, "UnconfirmedError", /cut off.*ECONNRESET/, /is well/],
];

describe("api: failures in words", () => {
  for (const [what, given, name, happened, advice] of rows) {
    it(`of ${what}`, () => {
      const error = failed(given);
      const consequence = facts.consequences[given.delivery];
      const [before = "", after = ""] = error.message.split(` (POST https://platform.test/x). ${consequence} `);
      assert.equal(error.name, name);
      assert.match(`${before} `, happened);
      assert.match(after, advice);
      assert.deepEqual([error.status, error.code], [given.status, given.code]);
    });
  }

  it("say how often it was tried", () => {
    assert.match(failed({ delivery: "not sent", code: "EPIPE" }, 3).message, /failed \(EPIPE\), 3 times \(POST/);
    assert.match(failed({ delivery: "rejected", status: 429 }, 2).message, /answered 429, 2 times \(POST/);
    assert.doesNotMatch(failed({ delivery: "rejected", status: 429 }, 1).message, /times/);
  });

  const words: readonly (readonly [FailedAttempt["delivery"], body: string, shown: string])[] = [
    ["rejected", '{"error":"id: odd","message":"no"}', ": id: odd"],
    ["rejected", '{"error":{"id":1},"message":"id is odd"}', ": id is odd"],
    ["rejected", '{"detail":"id"}', ': {"detail":"id"}'],
    ["rejected", "id is odd\n", ": id is odd"],
    ["rejected", "<html>no</html>", ""],
    ["rejected", "", ""],
    ["rejected", `{"error":"${password} is wrong"}`, ": [message not shown: it may contain a secret]"],
    ["maybe applied", '{"error":"try later"}', ": try later"],
    // It may hold the new credentials.
    ["maybe applied", '{"detail":"new"}', ""],
    ["maybe applied", "new", ""],
  ];
  for (const [delivery, body, shown] of words) {
    it(`repeat of ${delivery} ${JSON.stringify(body)} what may be shown`, () => {
      const { message } = failed({ delivery, status: 418, body });
      assert.ok(message.startsWith(`Could not do it: the platform answered 418${shown} (POST`), message);
    });
  }

  it("know a refusal in JSON from one of something on the way", () => {
    const inJson = (body?: string) =>
      (failed({ delivery: "rejected", status: 404, ...(body !== undefined && { body }) }) as RejectedError).inJson;
    assert.deepEqual(['{"error":"x"}', "{}", "<html>", "", undefined, "[]", '"x"'].map(inJson), [
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
