import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, PasswordRotationFleet, type PasswordRotationFleetArgs, RekeyError } from "pulumi-rekey";
import { assertFields } from "../support/results";
import { errorsOf, isKnown, startMocks, valueOf } from "../support/pulumiMocks";
import { unknown } from "../support/wire";

const late = <T>(value: T) => pulumi.output(Promise.resolve(value));
const make = (databases: unknown, more: object = {}) =>
  new PasswordRotationFleet("caches", { databases: databases as PasswordRotationFleetArgs["databases"], ...more });

/** What the provider saved: `one` was reset, `two` failed before its first reset. */
const outputs = () => ({
  states: {
    one: { databaseId: "a", outcome: "reset", rotationCount: 2 },
    two: { databaseId: "b", outcome: "pending", rotationCount: 0, error: "It broke.\nFix it." },
  },
  credentials: { one: { password: "p" } },
  connectionUrls: { one: "rediss://default:p@a:1" },
  failed: ["two"],
});

describe("sdk: PasswordRotationFleet", () => {
  it("is one resource, with the text of its provider and its secrets, and is retained on delete", async () => {
    const registered = await startMocks();
    await valueOf(make({ one: "a" }, { version: 1, connection: { port: 7 } }).urn);
    assert.equal(registered.length, 1);
    assertFields(registered[0], {
      type: "pulumi-nodejs:dynamic/rekey:PasswordRotationFleet",
      name: "caches",
      inputs: {
        __provider: 'exports.handler=()=>require("pulumi-rekey/provider").passwordRotationFleet',
        databases: { one: "a" },
        version: 1,
        connection: { port: 7 },
      },
      additionalSecretOutputs: ["credentials", "connectionUrls", "access", "memory"],
      retainOnDelete: true,
    });
  });

  const forms: readonly { readonly databases: unknown; readonly inputs: object }[] = [
    { databases: ["a", "b"], inputs: { a: "a", b: "b" } },
    { databases: ["a", late("b")], inputs: { a: "a", b: "b" } },
    { databases: late(["a", "b"]), inputs: { a: "a", b: "b" } },
    {
      databases: { x: late("a"), y: late({ databaseId: "b", version: 1 }) },
      inputs: { x: "a", y: { databaseId: "b", version: 1 } },
    },
    { databases: late({ x: { databaseId: "a" } }), inputs: { x: { databaseId: "a" } } },
    { databases: ["a", "a"], inputs: { a: "a" } },
    { databases: [], inputs: {} },
  ];
  for (const { databases, inputs } of forms) {
    it(`passes on ${JSON.stringify(inputs)}${Array.isArray(databases) ? " of a list" : ""} by name`, async () => {
      const registered = await startMocks();
      await valueOf(make(databases).urn);
      assert.deepEqual(registered[0]?.inputs["databases"], inputs);
    });
  }

  it("passes on which values of a map are unknown, and only that a list with one is", async () => {
    const registered = await startMocks({ preview: true });
    const later = new PasswordRotation("other", { databaseId: "x" }).rotatedAt as pulumi.Output<string>;
    const fleets = [make({ x: "a", y: later }), make(["a", later])];
    for (const fleet of fleets) assert.equal(await isKnown(fleet.credentials), false);
    const sent = registered.filter(({ name }) => name === "caches").map(({ inputs }) => inputs["databases"]);
    assert.deepEqual(sent, [{ x: "a", y: unknown }, unknown]);
  });

  it("fails a run, and names the failed databases, but does not fail a preview", async () => {
    for (const preview of [false, true]) {
      await startMocks({ outputs, preview });
      let fleet: PasswordRotationFleet | undefined;
      const errors = await errorsOf(() => (fleet = make({ one: "a", two: "b" })));
      assert.deepEqual(fleet && (await valueOf(fleet.credentials)), { one: { password: "p" } });
      assert.equal(errors.length, preview ? 0 : 1, errors.join("\n"));
      if (preview) continue;
      assert.match(
        errors.join(),
        /PasswordRotationFleet "caches": 1 of 2 databases failed:\n {2}two: It broke\. Fix it\.\n.*\[REKEY_FLEET_INCOMPLETE\]$/s,
      );
    }
  });

  it("stops a program that uses credentials which are not saved, and no other", async () => {
    const saving = { saveCredentials: false, encryptFor: ["age1…"] };
    for (const preview of [false, true]) {
      const saved = { ...outputs(), states: {}, credentials: {}, connectionUrls: {} };
      await startMocks({ outputs: () => saved, preview });
      let fleet = make({ one: "a" });
      assert.deepEqual(await errorsOf(() => (fleet = make({ two: "b" }, saving))), []);
      assert.equal(Object.keys(fleet).includes("credentials"), false, "an export of the whole resource uses none");
      for (const output of ["credentials", "connectionUrls"] as const) {
        const [error = ""] = await errorsOf(() => fleet[output]);
        assert.match(
          error,
          new RegExp(`"caches": ${output} is not saved, because of saveCredentials.*REKEY_NOT_SAVED`),
        );
      }
    }
    await startMocks({ outputs });
    const kept = make({ one: "a" }, saving);
    await errorsOf(() => undefined);
    assert.deepEqual(await valueOf(kept.connectionUrls), outputs().connectionUrls, "because it could not be encrypted");
    await startMocks({ outputs: () => ({ credentials: {} }) });
    assert.deepEqual(await valueOf(make({ one: "a" }, { saveCredentials: true }).credentials), {});
  });

  const another = { urn: "urn:another" };
  for (const options of [
    { replaceOnChanges: ["version"] },
    { replaceWith: [another] },
    { replacementTrigger: 1 },
    { import: "a" },
    { id: "a" },
  ]) {
    it(`refuses the option ${JSON.stringify(options)}, and registers nothing`, async () => {
      const registered = await startMocks();
      const fleet = () => new PasswordRotationFleet("caches", { databases: ["a"] }, options as object);
      assert.throws(fleet, (error: Error) => {
        assert.ok(pulumi.RunError.isInstance(error) && error instanceof RekeyError);
        const [option = ""] = Object.keys(options);
        assert.match(
          error.message,
          new RegExp(`^PasswordRotationFleet "caches" does not support the option \`${option}`),
        );
        return true;
      });
      assert.equal(registered.length, 0);
    });
  }
});
