import assert from "node:assert/strict";
import { RekeyError } from "../../provider/platform/errors";
import { changeError, InitError, maxInitErrorBytes } from "../../provider/resource";

class Failure extends RekeyError {
  readonly delivery = "rejected";
}

describe("A failed change", () => {
  it("saves its outputs, unless the engine would lose them and other changes", () => {
    const failure = new Failure("REKEY_NOT_SENT", "failed");
    const outputs = { text: "x".repeat(maxInitErrorBytes - 20) };
    const error = changeError(failure, "id", outputs);
    assert.ok(error instanceof InitError);
    assert.deepEqual({ id: error.id, properties: error.properties }, { id: "id", properties: outputs });
    assert.equal(changeError(failure, "id", { text: "x".repeat(maxInitErrorBytes) }), failure);
  });
});
