import assert from "node:assert/strict";
import { databasePassword, vectorToken } from "../../../../provider/domain/secretKind";
import { emptyMemory } from "../../../../provider/rotation/memory/memory";
import { withRecord } from "../../../../provider/rotation/memory/state";
import { resetSecret, RotatedSecret } from "../../../support/rotatedSecret";

describe("state: the record", () => {
  it("keeps the fields that a response leaves out, and the digits of its integers", () => {
    const former = { record: { a: 1, b: 2 }, exactIntegers: { a: "1", b: "2" }, otherFields: "{}" };
    const state = { rotationCount: 0, memory: emptyMemory(new Date()), ...former };
    const read = { record: { a: 3 }, credentials: {}, exactIntegers: { c: "4" }, problems: [] };
    const { record, exactIntegers, otherFields } = withRecord(state, read);
    const expected = { record: { a: 3, b: 2 }, exactIntegers: { b: "2", c: "4" }, otherFields: "{}" };
    assert.deepEqual({ record, exactIntegers, otherFields }, expected);
    assert.equal(withRecord(state, { ...read, otherFields: "{1}" }).otherFields, "{1}");
  });

  it("counts as not set if it is null", async () => {
    for (const kind of [vectorToken, databasePassword]) {
      const credentials = { token: "t", password: "p" };
      const { outputs } = await resetSecret({ version: 1 }, credentials, { kind });
      const secret = new RotatedSecret(kind, { ...outputs, record: null });
      const updated = await secret.up({ version: 1, rotateEvery: "30d" });
      const { said } = await secret.refresh({ shows: credentials });
      assert.deepEqual([updated.message, said], [undefined, ""], kind.noun);
    }
  });
});
