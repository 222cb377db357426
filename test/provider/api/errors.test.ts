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

const requestErrors: readonly (readonly [RequestError, string, string, (number | undefined)?, string?])[] = [
  [new NotSentError(facts, "it broke", "Mend it.", "EPIPE"), "not sent", "Unsent.", undefined, "EPIPE"],
  [new RejectedError(facts, "it broke", "Mend it.", 409, true), "rejected", "Unchanged.", 409],
  [new UnconfirmedError(facts, "it broke", "Mend it.", 500), "maybe applied", "Perhaps changed.", 500],
  [
    new UnconfirmedError(facts, "it broke", "Mend it.", undefined, "X"),
    "maybe applied",
    "Perhaps changed.",
    undefined,
    "X",
  ],
];

describe("api: errors", () => {
  for (const [error, delivery, consequence, status, code] of requestErrors) {
    it(`${error.name}${status ?? code} says what happened, what may have changed and what to do`, () => {
      assert.equal(
        error.message,
        `Could not do it: it broke (POST https://platform.test/v2/x). ${consequence} Mend it.`,
      );
      assert.ok(error instanceof RekeyError && error instanceof RequestError);
      assert.deepEqual([error.delivery, error.method, error.url], [delivery, facts.method, facts.url]);
      assert.deepEqual([error.status, error.code], [status, code]);
      assert.equal(error.name, error.constructor.name);
      const known = ["name", "method", "url", "status", "code", "delivery", "inJson", "happened", "advice"];
      assert.deepEqual(
        Object.keys(error).filter((key) => !known.includes(key)),
        [],
      );
      assert.equal(error.cause, undefined);
    });
  }

  it("says of an answer that cannot be read that nothing was changed", () => {
    const error = new UnreadableError(facts, "the answer is odd", 200);
    assert.equal(
      error.message,
      "Could not do it: the answer is odd (POST https://platform.test/v2/x). Nothing was changed. Check rekey:queueUrl.",
    );
    assert.deepEqual([error.delivery, error.status], ["answered", 200]);
  });

  it("says of what never came to a request that nothing was sent", () => {
    const errors: readonly (readonly [RekeyError, string])[] = [
      [
        new InputError("id", "must not be empty"),
        "id must not be empty. Nothing was sent. Correct it, then run again.",
      ],
      [new SettingsError("a is odd", "Mend a."), "a is odd. Nothing was sent, and nothing was changed. Mend a."],
      [
        new RefusedError('a"b', "it is late"),
        'The password of database "a\\"b" was not reset, and nothing was sent: it is late.',
      ],
    ];
    for (const [error, message] of errors) assert.deepEqual([error.message, error.delivery], [message, "not sent"]);
  });
});
