import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  errorCodes,
  InputError,
  RefusedError,
  RekeyError,
  SettingsError,
  StateError,
  VerificationError,
} from "../../../provider/platform/errors";

/** One error of each class without a request, by its message. */
const errors: Readonly<Record<string, RekeyError>> = {
  "id must not be empty. Nothing was sent. Correct it, then run again. [REKEY_INPUT_INVALID]": new InputError(
    "id",
    "must not be empty",
  ),
  "The saved output id is odd: the state is damaged. Nothing was sent. Restore it. [REKEY_STATE_UNREADABLE]":
    new StateError({ output: "id", reason: "is odd", advice: "Restore it." }),
  "a is not set. Nothing was sent, and nothing was changed. Set a. [REKEY_SETTING_MISSING]": new SettingsError(
    "REKEY_SETTING_MISSING",
    { problem: "a is not set", advice: "Set a." },
  ),
  'The password of database "a\\"b" was not reset, and no reset was sent: it is late. [REKEY_RESET_LIMIT]':
    new RefusedError("REKEY_RESET_LIMIT", { secret: 'password of database "a\\"b"', why: "it is late" }),
  "It is not verified.\nThe rotation itself is saved. Until an `up` succeeds, `pulumi stack output` may show former values that no longer work: do not use them. The next `up` verifies again, and resets nothing. Check it. [REKEY_VERIFICATION_FAILED]":
    new VerificationError({ happened: "It is not verified.", advice: "Check it." }),
};

describe("platform: errors", () => {
  for (const [message, error] of Object.entries(errors)) {
    it(`${error.name} reports what happened, what may have changed, what to do, and its code`, () => {
      assert.deepEqual({ message: error.message, delivery: error.delivery }, { message, delivery: "not sent" });
      assert.ok(message.endsWith(` [${error.code}]`));
      assert.ok(error instanceof RekeyError && error.name === error.constructor.name);
    });
  }

  it("have codes, all of which are in docs/errors.md", () => {
    const page = readFileSync(join(__dirname, "../../../docs/errors.md"), "utf8");
    const explained = new Set([...page.matchAll(/REKEY_[A-Z_]+[A-Z]/g)].map(([code]) => code));
    assert.deepEqual(
      errorCodes.filter((code) => !explained.has(code)),
      [],
    );
  });
});
