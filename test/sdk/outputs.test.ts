import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { type DatabaseRecord, FlowControlReset, PasswordRotation, type PasswordRotationArgs } from "pulumi-rekey";
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
  account: "1:a",
  unconfirmedResets: 1,
};
const reset = {
  before: { rateCount: 1 },
  after: { rateCount: 0 },
  resetAt: "2026-11-21T12:00:00.000Z",
  resetCount: 2,
  appliedTrigger: "1:a:b",
};

/** Asserts that a resource has these outputs. */
async function assertOutputs(resource: object, expected: object): Promise<void> {
  const names = Object.keys(expected);
  const values = await Promise.all(names.map((name) => valueOf(outputOf(resource, name))));
  assert.deepEqual(Object.fromEntries(names.map((name, nth) => [name, values[nth]])), expected);
}

function outputOf(resource: object, name: string): pulumi.Output<unknown> {
  const output = (resource as Record<string, unknown>)[name];
  assert.ok(pulumi.Output.isInstance(output), name);
  return output;
}

describe("sdk: outputs", () => {
  /** A rotation whose saved outputs are these. */
  async function rotationWith(outputs: object, args: Partial<PasswordRotationArgs> = {}): Promise<PasswordRotation> {
    await startMocks({ outputs: () => outputs });
    return new PasswordRotation("a", { databaseId: "db", ...args });
  }

  it("of a PasswordRotation are all declared", async () => {
    await assertOutputs(await rotationWith(rotated), { ...rotated, databaseId: "db", id: "a-id" });
  });

  it("of a PasswordRotation have no credentials while the last reset is unconfirmed", async () => {
    const rotation = await rotationWith({ ...rotated, outcome: "unknown" });
    for (const name of ["password", "restToken", "readOnlyRestToken", "otherFields"]) {
      const output = outputOf(rotation, name) as unknown as { promise(): Promise<unknown> };
      await assert.rejects(output.promise(), /the last reset was not confirmed/, name);
    }
    await assertOutputs(rotation, { record });
  });

  it("of a FlowControlReset are all declared", async () => {
    await startMocks({ outputs: () => reset });
    const made = new FlowControlReset("a", { flowControlKey: "orders", version: 1 });
    await assertOutputs(made, { ...reset, flowControlKey: "orders" });
  });

  it("include each of the 42 fields of the record, with its type", async () => {
    const rotation = await rotationWith(rotated);
    assert.equal(names.length, 42);
    assert.ok(Object.values(record).every((value) => value !== undefined));
    await assertOutputs(rotation, record);
    const port: pulumi.Output<number | undefined> = rotation.port;
    const state: pulumi.Output<DatabaseRecord["state"]> = rotation.state;
    assert.deepEqual({ port: await valueOf(port), state: await valueOf(state) }, { port: 6379, state: "active" });
  });

  it("are undefined, not missing, while there is no record", async () => {
    const rotation = await rotationWith({ outcome: "adopted", rotationCount: 0 }, { initialRotation: false });
    const missing = [...names.slice(1), "record", "password", "rotatedAt", "problems"];
    await assertOutputs(rotation, Object.fromEntries(missing.map((name) => [name, undefined])));
    await assertOutputs(rotation, { databaseId: "db" });
  });

  it("are unknown in the preview of a reset", async () => {
    await startMocks({ preview: true });
    const rotation = new PasswordRotation("a", { databaseId: "db", rotateEvery: "30d" });
    for (const name of ["endpoint", "password", "rotatedAt", "nextRotationAt"]) {
      assert.equal(await isKnown(outputOf(rotation, name)), false, name);
    }
    assert.equal(await isKnown(rotation.databaseId), true);
  });

  for (const { outputs, rotateEvery, expected } of [
    {
      outputs: { adoptedAt: rotated.adoptedAt },
      rotateEvery: Promise.resolve("P1M"),
      expected: "2026-12-20T12:00:00.000Z",
    },
    { outputs: rotated, rotateEvery: "12h", expected: "2026-11-22T00:00:00.000Z" },
    { outputs: rotated, rotateEvery: undefined, expected: undefined },
    { outputs: { outcome: "unknown" }, rotateEvery: "1d", expected: undefined },
  ]) {
    it(`have ${expected} as the time of the next rotation`, async () => {
      const { nextRotationAt } = await rotationWith(outputs, { rotateEvery });
      assert.equal(await valueOf(nextRotationAt), expected);
    });
  }
});
