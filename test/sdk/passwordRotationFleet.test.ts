import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, PasswordRotationFleet, type PasswordRotationFleetArgs, RekeyError } from "pulumi-rekey";
import { errorsOf, isKnown, type Registration, startMocks, valueOf } from "../support/pulumiMocks";
import { shardOf } from "../../provider/rotation/fleet";
import { assertFields } from "../support/results";

type Entry = string | { databaseId: string };

const shardsOf = (registered: readonly Registration[]) => registered.filter(({ type }) => type.endsWith("Shard"));
const idsIn = ({ inputs }: Registration) =>
  (inputs["databases"] as Entry[]).map((one) => (typeof one === "string" ? one : one.databaseId));

/** The saved state of a shard: `a` was reset, `b` failed before its first reset, `c` was adopted. */
const rotations = [
  { databaseId: "a", outcome: "reset", rotationCount: 2, rotatedAt: "2026-11-21T12:00:00.000Z", record: { port: 1 } },
  { databaseId: "b", outcome: "pending", rotationCount: 0, problem: "It broke.\nFix it." },
  { databaseId: "c", outcome: "adopted", rotationCount: 0, adoptedAt: "2026-11-20T12:00:00.000Z" },
];
const secrets = JSON.stringify([{ databaseId: "a", password: "p", otherFields: "{}", appliedTrigger: "1:a:b" }]);
const outputs = (type: string): object => (type.endsWith("Shard") ? { rotations, secrets } : {});

describe("sdk: PasswordRotationFleet", () => {
  const made = async (args: PasswordRotationFleetArgs, options?: pulumi.ComponentResourceOptions) => {
    const registered = await startMocks();
    const fleet = new PasswordRotationFleet("caches", args, options);
    await valueOf(fleet.failed);
    return { registered, fleet, shards: shardsOf(registered) };
  };

  it("registers a resource for each shard that has a database, with its ids in order", async () => {
    const ids = Array.from({ length: 200 }, (_, nth) => `db-${nth}`);
    const { registered, shards } = await made({ databases: ids });
    assert.equal(shards.length, 16);
    assert.deepEqual(shards.flatMap(idsIn).sort(), [...ids].sort());
    for (const shard of shards) {
      assert.deepEqual(idsIn(shard), [...idsIn(shard)].sort());
      assert.ok(
        idsIn(shard).every((id) => shard.name === `caches-${shardOf(id)}` && shard.inputs["shard"] === shardOf(id)),
      );
    }
    const [component] = registered;
    assertFields(component, { type: "rekey:index:PasswordRotationFleet", inputs: {} });
    assert.equal((await made({ databases: ["db-0", "db-1"] })).shards.length, 2);
    const empty = (await made({ databases: {} })).shards;
    assert.deepEqual([empty.length, empty.flatMap(idsIn)], [16, []], "each can refuse to lose its databases");
  });

  it("registers the same for any order and any names of the databases", async () => {
    const late = <T>(value: T) => pulumi.output(Promise.resolve(value));
    const forms = [
      ["a", "b"],
      ["b", late("a")],
      { x: "b", y: "a" },
      { x: { databaseId: late("a") }, y: late({ databaseId: "b" }) },
      late(["a", "b"]),
      late({ one: "b", two: { databaseId: "a" } }),
    ] as PasswordRotationFleetArgs["databases"][];
    const all: unknown[] = [];
    for (const databases of forms) {
      const { shards } = await made({ databases, version: 1 });
      all.push(shards.map(({ name, inputs }) => ({ name, inputs })));
    }
    for (const one of all) assert.deepEqual(one, all[0]);
  });

  it("has outputs by the program's names", async () => {
    await startMocks({ outputs, preview: true });
    const databases = { one: "a", two: "b", three: "c", four: "not-created-yet" };
    const args = { databases, rotateEvery: "1d" };
    const fleet = new PasswordRotationFleet("caches", { ...args, includeRecords: true });
    const { one, two, four } = await valueOf(fleet.databases);
    assertFields(one, { databaseId: "a", outcome: "reset", rotationCount: 2 });
    assertFields(two, { outcome: "pending", problem: "It broke.\nFix it." });
    assert.equal(four?.outcome, "pending");
    assert.deepEqual(await valueOf(fleet.credentials), { one: { password: "p", otherFields: "{}" } });
    assert.deepEqual(await valueOf(fleet.records), { one: { record: { port: 1 }, exactIntegers: undefined } });
    assert.deepEqual(await valueOf(fleet.failed), ["two"]);
    assert.equal(await valueOf(fleet.lastRotated), "2026-11-21T12:00:00.000Z");
    assert.equal(await valueOf(fleet.nextRotationAt), "2026-11-21T12:00:00.000Z", "the adopted one is the first");
    assert.equal(await valueOf(new PasswordRotationFleet("others", args).records), undefined);
  });

  it("fails a run, and names the failed databases, but does not fail a preview", async () => {
    const databases = { one: "a", two: "b" };
    for (const preview of [false, true]) {
      await startMocks({ outputs, preview });
      const errors = await errorsOf(() => new PasswordRotationFleet("caches", { databases }));
      assert.equal(errors.length, preview ? 0 : 1, errors.join("\n"));
      if (!preview) assert.match(errors.join(), /"caches": 1 of 2 databases failed:\n {2}two: It broke\. Fix it\.\n/);
    }
  });

  it("refuses databases that are listed twice or have no id, and shows no address", async () => {
    const canary = "canary-password";
    const bad: readonly { readonly databases: unknown; readonly message: RegExp }[] = [
      { databases: ["a", "a"], message: /"caches": databases contains the database "a" twice: it is listed twice/ },
      { databases: { x: "a", y: { databaseId: "a" } }, message: /it is both "x" and "y"/ },
      { databases: "a", message: /databases must be a list of ids, or a map/ },
      { databases: undefined, message: /databases must be a list of ids, or a map/ },
      { databases: ["a", 7], message: /databases\[1\] must be the id of a database/ },
      { databases: { x: {} }, message: /databases\["x"\] must be the id of a database, or an object/ },
      { databases: { x: null }, message: /databases\["x"\] must be the id/ },
      {
        databases: ["a", `redis://:${canary}@host`],
        message: /databases\[1\] must be an id, for Upstash a UUID, not an/,
      },
      { databases: { x: { databaseId: `${canary}@host` } }, message: /databases\["x"\] must be an id/ },
    ];
    for (const { databases, message } of bad) {
      const registered = await startMocks();
      const errors = await errorsOf(
        () => new PasswordRotationFleet("caches", { databases } as unknown as PasswordRotationFleetArgs),
      );
      assert.match(errors.join("\n"), message);
      assert.doesNotMatch(errors.join("\n"), new RegExp(canary));
      assert.equal(shardsOf(registered).length, 0);
    }
  });

  it("is unknown in the preview of a reset, and accepts unknown versions, but no unknown ids", async () => {
    await startMocks({ preview: true });
    const later = new PasswordRotation("other", { databaseId: "x" }).rotatedAt as pulumi.Output<string>;
    const of = (name: string, databaseId: pulumi.Input<string>) =>
      new PasswordRotationFleet(name, { databases: { a: { databaseId, version: later } } });
    assert.equal(await isKnown(of("caches", "a").credentials), false);
    const [error = ""] = await errorsOf(() => of("others", later));
    assert.match(error, /"others": databases\["a"\]\.databaseId is unknown.*REKEY_INPUT_UNKNOWN/);
  });

  it("keeps the text of its provider, has one secret output, and is retained on delete", async () => {
    const { shards } = await made({ databases: ["a"], version: 1, maxFailures: 2 });
    const [{ type, inputs, additionalSecretOutputs, retainOnDelete } = assert.fail()] = shards;
    const urn = "urn:pulumi:stack::project::rekey:index:PasswordRotationFleet";
    const shard = shardOf("a");
    assert.equal(type, "pulumi-nodejs:dynamic/rekey:PasswordRotationShard");
    assert.deepEqual(
      { additionalSecretOutputs, retainOnDelete },
      { additionalSecretOutputs: ["secrets"], retainOnDelete: true },
    );
    assert.deepEqual(inputs, {
      __provider: 'exports.handler=()=>require("pulumi-rekey/provider").passwordRotationShard',
      databases: ["a"],
      fleet: `${urn}::caches`,
      maxFailures: 2,
      shard,
      version: 1,
    });
  });

  const applied: readonly { options: object; field: string; expected: unknown }[] = [
    { options: { ignoreChanges: ["version"] }, field: "ignorechangesList", expected: ["version"] },
    { options: { hideDiffs: ["version"] }, field: "hidediffsList", expected: ["version"] },
    { options: { deleteBeforeReplace: true }, field: "deletebeforereplace", expected: true },
    { options: { protect: true }, field: "protect", expected: true },
    {
      options: { customTimeouts: { create: "4s" } },
      field: "customtimeouts",
      expected: { create: "4s", update: "", pb_delete: "", read: "" },
    },
  ];
  for (const { options, field, expected } of applied) {
    it(`applies ${Object.keys(options).join()} to its resources`, async () => {
      const { shards } = await made({ databases: ["a"] }, options);
      assert.deepEqual(shards[0]?.request[field], expected);
    });
  }

  const another = { urn: "urn:another" };
  const refused = [
    { ignoreChanges: ["databases"] },
    { ignoreChanges: ["version", 'databases["a"].version'] },
    { ignoreChanges: ["*"] },
    { replaceOnChanges: ["version"] },
    { replaceWith: [another] },
    { replacementTrigger: 1 },
    { additionalSecretOutputs: ["failed"] },
    { version: "1.0.0" },
    { pluginDownloadURL: "https://example.com" },
    { import: "a" },
    { id: "a" },
    { urn: "urn:another" },
  ];
  for (const options of refused) {
    it(`refuses the option ${JSON.stringify(options)}, and registers nothing`, async () => {
      const registered = await startMocks();
      const make = () => new PasswordRotationFleet("caches", { databases: ["a"] }, options as object);
      assert.throws(make, (error: Error) => {
        assert.ok(pulumi.RunError.isInstance(error) && error instanceof RekeyError);
        const [option = ""] = Object.keys(options);
        const text = `^PasswordRotationFleet "caches".* ${"`?"}${option}\\b.*(Nothing was sent|already sent is saved)`;
        assert.match(error.message, new RegExp(text));
        return true;
      });
      assert.equal(registered.length, 0);
    });
  }

  it("does not say when the next rotation is due if changes of rotateEvery are ignored", async () => {
    await startMocks({ outputs });
    const args = { databases: { one: "a" }, rotateEvery: "1d" };
    const fleet = new PasswordRotationFleet("caches", args, { ignoreChanges: ["rotateEvery"] });
    assert.equal(await valueOf(fleet.nextRotationAt), undefined);
  });

  it("sends its owners to a single resource and another fleet, and theirs to it", async () => {
    const registered = await startMocks();
    const one = new PasswordRotation("single", { databaseId: "a" });
    const fleets = ["x", "y"].map((name) => new PasswordRotationFleet(name, { databases: ["a", name] }));
    await Promise.all([valueOf(one.urn), ...fleets.map(({ failed }) => valueOf(failed))]);
    const named = Object.fromEntries(registered.map(({ name, inputs }) => [name, inputs["otherOwners"]]));
    const urns = ["x", "y"].map((name) => `urn:pulumi:stack::project::rekey:index:PasswordRotationFleet::${name}`);
    assert.deepEqual((named["single"] as string[]).sort(), urns);
    for (const fleet of ["x", "y"]) {
      const { a = [], ...more } = named[`${fleet}-${shardOf("a")}`] as Record<string, string[]>;
      assert.deepEqual({ owners: a.length, more }, { owners: 2, more: {} });
    }
  });
});
