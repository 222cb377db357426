import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { type DatabaseRecord, FlowControlReset, PasswordRotation } from "pulumi-rekey";
import { databaseRecord } from "../../local/platform/databaseRecord";
import { camelCase } from "../../provider/records/fields";
import tables from "../fixtures/interface-fields.json";
import { isKnown, startMocks, valueOf } from "../support/pulumiMocks";

const sent = databaseRecord({ database_id: "db" });
const names = tables.database.map(({ name }) => camelCase(name));
const record = Object.fromEntries(tables.database.map(({ name }) => [camelCase(name), sent[name]]));
const rotated = {
  record,
  exactIntegers: { budget: "9007199254740993" },
  password: "p",
  restToken: "t",
  readOnlyRestToken: "r",
  otherFields: "{}",
  problems: ["tls: missing"],
  rotatedAt: "2026-11-21T12:00:00.000Z",
  adoptedAt: "2026-11-20T12:00:00.000Z",
  rotationCount: 3,
  rotationReason: "schedule",
  outcome: "reset",
  appliedTrigger: "1:a:b",
  attemptedTrigger: "1:c:d",
  unconfirmedResets: 1,
};
const reset = {
  before: { rateCount: 1 },
  after: { rateCount: 0 },
  resetAt: "2026-11-21T12:00:00.000Z",
  resetCount: 2,
  appliedTrigger: "1:a:b",
};

const outputOf = (resource: object, name: string): pulumi.Output<unknown> => {
  const output = (resource as Record<string, unknown>)[name];
  assert.ok(pulumi.Output.isInstance(output), name);
  return output;
};

describe("sdk: outputs", () => {
  it("of a PasswordRotation are all declared", async () => {
    await startMocks({ outputs: () => rotated });
    const rotation = new PasswordRotation("a", { databaseId: "db" });
    for (const [name, value] of Object.entries(rotated)) {
      assert.deepEqual(await valueOf(outputOf(rotation, name)), value, name);
    }
    assert.deepEqual([await valueOf(rotation.databaseId), await valueOf(rotation.id)], ["db", "a-id"]);
  });

  it("of a PasswordRotation hold no credentials while the last reset is unconfirmed", async () => {
    await startMocks({ outputs: () => ({ ...rotated, outcome: "unknown" }) });
    const rotation = new PasswordRotation("a", { databaseId: "db" });
    for (const name of ["password", "restToken", "readOnlyRestToken", "otherFields"]) {
      const output = outputOf(rotation, name) as unknown as { promise(): Promise<unknown> };
      await assert.rejects(output.promise(), /the last reset was not confirmed/, name);
    }
    assert.deepEqual(await valueOf(rotation.record), record);
  });

  it("of a FlowControlReset are all declared", async () => {
    await startMocks({ outputs: () => reset });
    const made = new FlowControlReset("a", { flowControlKey: "orders", version: 1 });
    for (const [name, value] of Object.entries(reset)) {
      assert.deepEqual(await valueOf(outputOf(made, name)), value, name);
    }
    assert.equal(await valueOf(made.flowControlKey), "orders");
  });

  it("has each of the 42 fields as an output of its own, with the value of the record", async () => {
    await startMocks({ outputs: () => rotated });
    const rotation = new PasswordRotation("a", { databaseId: "db" });
    assert.equal(names.length, 42);
    for (const name of names) {
      assert.deepEqual(await valueOf(outputOf(rotation, name)), record[name], name);
      assert.notEqual(record[name], undefined, name);
    }
    // The compiler knows them too.
    const typed: [pulumi.Output<number | undefined>, pulumi.Output<DatabaseRecord["state"]>] = [
      rotation.port,
      rotation.state,
    ];
    assert.deepEqual(await Promise.all(typed.map((one) => valueOf(one as pulumi.Output<unknown>))), [6379, "active"]);
  });

  it("has fields that are undefined, not missing, while there is no record", async () => {
    await startMocks({ outputs: () => ({ outcome: "adopted", rotationCount: 0 }) });
    const rotation = new PasswordRotation("a", { databaseId: "db", initialRotation: false });
    for (const name of [...names.slice(1), "record", "password", "rotatedAt", "problems"]) {
      assert.equal(await valueOf(outputOf(rotation, name)), undefined, name);
    }
    assert.equal(await valueOf(rotation.databaseId), "db");
  });

  it("is unknown in the preview of a reset", async () => {
    await startMocks({ preview: true });
    const rotation = new PasswordRotation("a", { databaseId: "db", rotateEvery: "30d" });
    for (const name of ["endpoint", "password", "rotatedAt", "nextRotationAt"]) {
      assert.equal(await isKnown(outputOf(rotation, name)), false, name);
    }
    assert.equal(await isKnown(rotation.databaseId), true);
  });

  const next: readonly (readonly [object, pulumi.Input<string> | undefined, string | undefined])[] = [
    [{ rotatedAt: rotated.rotatedAt }, "1d", "2026-11-22T12:00:00.000Z"],
    [{ adoptedAt: rotated.adoptedAt }, Promise.resolve("P1M"), "2026-12-20T12:00:00.000Z"],
    [rotated, "12h", "2026-11-22T00:00:00.000Z"],
    [rotated, undefined, undefined],
    [{ outcome: "unknown" }, "1d", undefined],
  ];
  for (const [outputs, rotateEvery, expected] of next) {
    it(`tells that the next rotation is ${expected}`, async () => {
      await startMocks({ outputs: () => outputs });
      const { nextRotationAt } = new PasswordRotation("a", { databaseId: "db", rotateEvery });
      assert.equal(await valueOf(nextRotationAt), expected);
    });
  }
});
