import assert from "node:assert/strict";
import { InputError } from "../../../provider/platform/errors";
import { kinds } from "../../../provider/rotation/kinds/kinds";
import { rotationOf } from "../../../provider/rotation/rotation";
import { FakeRun } from "../../support/fakeRun";

const deciding = ["version", "triggers", "rotateEvery", "rotatedSince"];

describe("rotation: the resource of each kind of secret", () => {
  const run = new FakeRun().start();
  const named = { PasswordRotation: "databaseId", VectorTokenRotation: "indexId", SearchTokenRotation: "indexId" };
  for (const [type, idInput] of Object.entries({ ...named, QueueTokenRotation: "queueUserId" })) {
    const resource = rotationOf(kinds[type as keyof typeof kinds]);

    it(`${type} is named by an argument, which decides about a reset, and by the id to import`, () => {
      assert.equal(resource.idInput, idInput);
      assert.deepEqual(resource.decidingInputs.toSorted(), [idInput, ...deciding].sort());
      assert.ok(!("onlyId" in resource));
      assert.deepEqual(resource.importedInputs?.("a", run), { [idInput]: "a", initialRotation: false });
      assert.throws(
        () => resource.importedInputs?.("", run),
        (error) => error instanceof InputError && error.property === "id",
      );
    });
  }

  it("SigningKeyRotation is the only one of an account, and minInterval decides too", () => {
    const resource = rotationOf(kinds.SigningKeyRotation);
    const { idInput, onlyId, decidingInputs } = resource;
    assert.deepEqual(
      { idInput, onlyId, deciding: decidingInputs.toSorted() },
      { idInput: "subject", onlyId: "signing-keys", deciding: [...deciding, "minInterval"].sort() },
    );
    assert.deepEqual(resource.importedInputs?.("signing-keys", run), { initialRotation: false });
    assert.throws(() => resource.importedInputs?.("a", run), /^InputError: id must be signing-keys\./);
  });

  it("each announces the reset of a new one, if its id is known or not", () => {
    const textsOf = (type: keyof typeof kinds, inputs: object, unknown: readonly string[] = []) =>
      (rotationOf(kinds[type]).noticesOfNew?.(inputs, new Set(unknown), run) ?? []).map(({ text }) => text);
    const keeps = "the resource is new. `initialRotation: false` keeps it.";
    assert.deepEqual(textsOf("PasswordRotation", { databaseId: "a" }), [
      `Resets the password of database "a": ${keeps}`,
    ]);
    assert.deepEqual(textsOf("VectorTokenRotation", {}, ["indexId"]), [
      `Resets the token of the vector index: ${keeps}`,
    ]);
    assert.deepEqual(textsOf("SigningKeyRotation", {}), [`Resets the pair of signing keys: ${keeps}`]);
  });

  it("each announces which unknown input may cause a reset", () => {
    const rolled = { outcome: "reset", rotationCount: 1, rotatedAt: "2026-11-21T11:59:00.000Z" } as const;
    const saved = { ...rolled, lastRolledAt: rolled.rotatedAt, subject: "signing-keys" };
    const textsOf = (inputs: object, unknown: readonly string[]) =>
      rotationOf(kinds.SigningKeyRotation)
        .noticesOfUnknown?.(saved, inputs, new Set(unknown), run)
        .map(({ text }) => text);
    const may = "May reset the pair of signing keys: ";
    assert.deepEqual(textsOf({ rotateEvery: "PT1S" }, ["minInterval"]), [`${may}minInterval is not known yet.`]);
    assert.deepEqual(textsOf({ minInterval: "0s" }, ["rotateEvery"]), [`${may}rotateEvery is not known yet.`]);
    assert.deepEqual(textsOf({}, ["rotateEvery"]), []);
    assert.deepEqual(textsOf({ minInterval: "0s" }, []), []);
  });
});
