import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  errorCodes,
  InputError,
  NotSentError,
  RefusedError,
  RejectedError,
  RekeyError,
  SettingsError,
  StateError,
  UnconfirmedError,
  UnreadableError,
  VerificationError,
} from "../../../provider/api/errors";

const facts = {
  purpose: "do it",
  method: "POST",
  url: "https://platform.test/v2/x",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const request = "Could not do it: it broke (POST https://platform.test/v2/x).";

/** One error of each class, its delivery, and its message. */
const errors: readonly (readonly [RekeyError, RekeyError["delivery"], string])[] = [
  [
    new InputError("id", "must not be empty"),
    "not sent",
    "id must not be empty. Nothing was sent. Correct it, then run again. [REKEY_INPUT_INVALID]",
  ],
  [
    new StateError("id", "is odd", "Restore it."),
    "not sent",
    "The saved output id is odd: the state is damaged. Nothing was sent. Restore it. [REKEY_STATE_UNREADABLE]",
  ],
  [
    new SettingsError("REKEY_SETTING_MISSING", "a is not set", "Set a."),
    "not sent",
    "a is not set. Nothing was sent, and nothing was changed. Set a. [REKEY_SETTING_MISSING]",
  ],
  [
    new RefusedError("REKEY_RESET_LIMIT", 'a"b', "it is late"),
    "not sent",
    'The password of database "a\\"b" was not reset, and nothing was sent: it is late. [REKEY_RESET_LIMIT]',
  ],
  [
    new VerificationError("It is not verified.", "Check it."),
    "not sent",
    "It is not verified.\nThe rotation itself is saved. The next `up` verifies again, and resets nothing. Check it. [REKEY_VERIFICATION_FAILED]",
  ],
  [new NotSentError(facts, "it broke", "Fix it.", "EPIPE"), "not sent", `${request} Unsent. Fix it. [REKEY_NOT_SENT]`],
  [
    new RejectedError(facts, "it broke", "Fix it.", 409, true),
    "rejected",
    `${request} Unchanged. Fix it. [REKEY_REJECTED]`,
  ],
  [
    new UnconfirmedError(facts, "it broke", "Fix it.", 500),
    "maybe applied",
    `${request} Perhaps changed. Fix it. [REKEY_UNCONFIRMED]`,
  ],
  [
    new UnreadableError(facts, "it broke", 200),
    "responded",
    `${request} Nothing was changed. Check rekey:queueUrl. [REKEY_UNREADABLE_RESPONSE]`,
  ],
];

describe("api: errors", () => {
  for (const [error, delivery, message] of errors) {
    it(`${error.name} reports what happened, what may have changed, what to do, and its code`, () => {
      assert.deepEqual({ message: error.message, delivery: error.delivery }, { message, delivery });
      assert.ok(message.endsWith(` [${error.code}]`));
      assert.ok(error instanceof RekeyError && error.name === error.constructor.name);
    });
  }

  it("has a section for each code in docs/errors.md, and no others", () => {
    const page = readFileSync(join(__dirname, "../../../docs/errors.md"), "utf8");
    const sections = [...page.matchAll(/^### (REKEY_\w+)$/gm)].map(([, code]) => code);
    assert.deepEqual(sections.sort(), [...errorCodes].sort());
  });
});
