import assert from "node:assert/strict";
import { inspect } from "node:util";
import { runError } from "../../sdk/runError";

describe("An error that ends the program", () => {
  it("has its message, and no stack trace for Pulumi to format", () => {
    const error = runError("REKEY_INPUT_INVALID", "It is wrong.");
    assert.equal(error.message, "It is wrong. [REKEY_INPUT_INVALID]");
    assert.doesNotMatch(inspect(error, { colors: true }), / at /);
  });
});
