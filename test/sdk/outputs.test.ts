import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { type DatabaseRecord, PasswordRotation, type PasswordRotationArgs } from "pulumi-rekey";
import { databaseRecord } from "../../local/platform/databaseRecord";
import { camelCase } from "../../provider/records/fields";
import tables from "../fixtures/interface-fields.json";
import { startMocks, valueOf } from "./pulumiMocks";

const sent = databaseRecord({ database_id: "db" });
const names = tables.database.map(({ name }) => camelCase(name));
const record = Object.fromEntries(tables.database.map(({ name }) => [camelCase(name), sent[name]]));
const credentials = {
  password: "p",
  restToken: "t",
  readOnlyRestToken: "r",
  otherFields: "{}",
  connectionUrl: "rediss://default:p@host:1",
  restUrl: "https://host",
};
const rotated = { record, ...credentials, rotationCount: 3, outcome: "reset" };

/** Asserts that a resource has these outputs. */
async function assertOutputs(resource: object, expected: object): Promise<void> {
  const entries = Object.keys(expected).map(async (name) => [name, await valueOf(outputOf(resource, name))] as const);
  assert.deepEqual(Object.fromEntries(await Promise.all(entries)), expected);
}

function outputOf(resource: object, name: string): pulumi.Output<unknown> {
  const output = (resource as Record<string, unknown>)[name];
  assert.ok(pulumi.Output.isInstance(output), name);
  return output;
}

/** A rotation whose saved outputs are these. */
async function rotationWith(outputs: object, args: Partial<PasswordRotationArgs> = {}): Promise<PasswordRotation> {
  await startMocks({ outputs: () => outputs });
  return new PasswordRotation("a", { databaseId: "db", ...args });
}

describe("sdk: the outputs of a PasswordRotation", () => {
  it("include each of the 42 fields of the record, with its type", async () => {
    const rotation = await rotationWith(rotated);
    assert.equal(names.length, 42);
    assert.ok(Object.values(record).every((value) => value !== undefined));
    await assertOutputs(rotation, { ...record, ...rotated });
    const port: pulumi.Output<number | undefined> = rotation.port;
    const state: pulumi.Output<DatabaseRecord["state"]> = rotation.state;
    assert.deepEqual({ port: await valueOf(port), state: await valueOf(state) }, { port: 6379, state: "active" });
  });

  it("are undefined, not missing, while there is no record", async () => {
    const rotation = await rotationWith({ outcome: "adopted", rotationCount: 0 }, { initialRotation: false });
    const missing = [...names.slice(1), "record", "password", "rotatedAt", "problems", "nextRotationAt"];
    await assertOutputs(rotation, Object.fromEntries(missing.map((name) => [name, undefined])));
    await assertOutputs(rotation, { databaseId: "db" });
  });

  it("have no credentials while the last reset is unconfirmed: they are the former ones", async () => {
    const rotation = await rotationWith({ ...rotated, outcome: "unknown" });
    for (const name of Object.keys(credentials)) {
      const output = outputOf(rotation, name) as unknown as { promise(): Promise<unknown> };
      await assert.rejects(output.promise(), /the last reset was not confirmed/, name);
    }
    await assertOutputs(rotation, { record });
  });
});
