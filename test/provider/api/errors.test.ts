import assert from "node:assert/strict";
import {
  InputError,
  NotSentError,
  RefusedError,
  RejectedError,
  RekeyError,
  RequestError,
  SettingsError,
  UnconfirmedError,
  UnreadableError,
} from "../../../provider/api/errors";

const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/v2/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const why = ["it broke", "Fix it."] as const;
const none = { status: undefined, code: undefined };

/** Each error with the end of its message, and its own properties. */
const requestErrors: readonly (readonly [RequestError, end: string, properties: Partial<RequestError>])[] = [
  [new NotSentError(facts, ...why, "EPIPE"), "Unsent. Fix it.", { delivery: "not sent", code: "EPIPE" }],
  [new RejectedError(facts, ...why, 409, true), "Unchanged. Fix it.", { delivery: "rejected", status: 409 }],
  [new UnconfirmedError(facts, ...why, 500), "Perhaps changed. Fix it.", { delivery: "maybe applied", status: 500 }],
  [
    new UnconfirmedError(facts, ...why, undefined, "X"),
    "Perhaps changed. Fix it.",
    { delivery: "maybe applied", code: "X" },
  ],
  [
    new UnreadableError(facts, "it broke", 200),
    "Nothing was changed. Check rekey:queueUrl.",
    { delivery: "answered", status: 200 },
  ],
];

const otherErrors: readonly (readonly [RekeyError, message: string])[] = [
  [new InputError("id", "must not be empty"), "id must not be empty. Nothing was sent. Correct it, then run again."],
  [new SettingsError("a is odd", "Fix a."), "a is odd. Nothing was sent, and nothing was changed. Fix a."],
  [new RefusedError('a"b', "no"), 'The password of database "a\\"b" was not reset, and nothing was sent: no.'],
];

describe("api: errors", () => {
  for (const [error, end, properties] of requestErrors) {
    it(`${error.name} contains what happened, what may have changed and what to do: ${end}`, () => {
      assert.equal(error.message, `Could not do it: it broke (POST https://platform.test/v2/x). ${end}`);
      assert.ok(error instanceof RekeyError && error instanceof RequestError);
      const { name, method, url, delivery, status, code, cause } = error;
      assert.deepEqual(
        { name, method, url, cause, delivery, status, code },
        { name: error.constructor.name, method: "POST", url: facts.url, cause: undefined, ...none, ...properties },
      );
      const known = ["name", "method", "url", "status", "code", "delivery", "inJson", "happened", "advice"];
      assert.ok(Object.keys(error).every((key) => known.includes(key)));
    });
  }

  for (const [error, message] of otherErrors) {
    it(`${error.name} of a request that was never made: nothing was sent`, () => {
      const { name, delivery } = error;
      assert.deepEqual(
        { name, delivery, message: error.message },
        { name: error.constructor.name, delivery: "not sent", message },
      );
    });
  }
});
