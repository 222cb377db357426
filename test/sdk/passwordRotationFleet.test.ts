import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, PasswordRotationFleet, type PasswordRotationFleetArgs } from "pulumi-rekey";
import { isKnown } from "../../provider/engine/pulumiInternals";
import { errorsOf, startMocks, valueOf } from "./pulumiMocks";
import { unknown } from "../support/wire";

const late = <T>(value: T) => pulumi.output(Promise.resolve(value));
const make = (databases: unknown, more: object = {}) =>
  new PasswordRotationFleet("caches", { databases: databases as PasswordRotationFleetArgs["databases"], ...more });

/** What the provider saved: `one` was reset, `two` failed before its first reset. */
const outputs = () => ({
  states: {
    one: { databaseId: "a", outcome: "reset" },
    two: { databaseId: "b", outcome: "none", error: "It broke.\nFix it." },
  },
  credentials: { one: { password: "p" } },
  connectionUrls: { one: "rediss://default:p@a:1" },
  failed: ["two"],
});

describe("sdk: PasswordRotationFleet", () => {
  const forms: readonly { readonly databases: unknown; readonly inputs: object }[] = [
    { databases: ["a", "b"], inputs: { a: "a", b: "b" } },
    { databases: ["a", late("b")], inputs: { a: "a", b: "b" } },
    { databases: late(["a", "b"]), inputs: { a: "a", b: "b" } },
    {
      databases: { x: late("a"), y: late({ databaseId: "b", version: 1 }) },
      inputs: { x: "a", y: { databaseId: "b", version: 1 } },
    },
    { databases: late({ x: { databaseId: "a" } }), inputs: { x: { databaseId: "a" } } },
    {
      databases: { x: { databaseId: "a" }, y: { databaseId: late("b") }, z: {} },
      inputs: { x: { databaseId: "a" }, y: { databaseId: "b" }, z: {} },
    },
    { databases: ["a", "a"], inputs: { a: "a" } },
    { databases: [], inputs: {} },
  ];
  it("passes on databases by name, in each form of a list or a map", async () => {
    for (const { databases, inputs } of forms) {
      const registered = await startMocks();
      await valueOf(make(databases).urn);
      assert.deepEqual(registered[0]?.inputs["databases"], inputs);
    }
  });

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

  it("refuses names that every JavaScript object has, which Pulumi does not pass on", async () => {
    for (const name of ["__proto__", "toString", "constructor"]) {
      const map = Object.fromEntries([
        ["a", "a"],
        [name, "b"],
      ]);
      for (const databases of [map, ["a", name], late(["a", name])]) {
        const registered = await startMocks();
        const errors = await errorsOf(() => make(databases));
        const says = `^InputError: .*PasswordRotationFleet "caches": databases must not have the name "${name}"`;
        assert.match(errors.join("\n"), new RegExp(says));
        assert.deepEqual(registered, []);
      }
    }
  });

  it("refuses options that would replace it, and registers nothing", async () => {
    const registered = await startMocks();
    for (const [option, value] of [
      ["replaceOnChanges", ["version"]],
      ["replaceWith", [{ urn: "urn:another" }]],
      ["replacementTrigger", 1],
    ] as const) {
      const fleet = () => new PasswordRotationFleet("caches", { databases: ["a"] }, { [option]: value as never });
      const says = new RegExp(`^RekeyError: PasswordRotationFleet "caches" does not support the option \`${option}`);
      assert.throws(fleet, says);
    }
    assert.equal(registered.length, 0);
  });
});
