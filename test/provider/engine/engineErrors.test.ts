import assert from "node:assert/strict";
import { changeError, InitError } from "../../../provider/engine/engineErrors";
import { RefusedError } from "../../../provider/platform/errors";

describe("a failed change", () => {
  it("saves its outputs, unless the engine would lose them and those of other changes", () => {
    const failure = new RefusedError("REKEY_RESET_LIMIT", { secret: "password", why: "it is late" });
    const bytes = 6 * 1024 * 1024;
    const outputs = { text: "x".repeat(bytes - 20) };
    const error = changeError(failure, "id", outputs);
    assert.ok(error instanceof InitError);
    assert.deepEqual({ id: error.id, properties: error.properties }, { id: "id", properties: outputs });
    assert.equal(changeError(failure, "id", { text: "x".repeat(bytes) }), failure);
  });
});
