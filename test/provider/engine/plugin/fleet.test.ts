import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { Plugin, PluginRun } from "../../../support/plugin";
import { isSecret, type Properties, revealed, secret, secretNames, unknown, urnOf } from "../../../support/wire";

const type = "rekey:index:PasswordRotationFleet";
const ids = ["db-1", "db-2", "db-3", "db-4"];
const all = Object.fromEntries(ids.map((databaseId) => [`of-${databaseId}`, { databaseId }]));

describe("plugin service: PasswordRotationFleet", () => {
  let platform: Platform;
  let saved: Map<string, Properties>;
  before(async () => {
    const databases = ids.map((database_id) => ({ database_id }));
    platform = await startPlatform({ databases, credentials: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    saved = new Map();
  });
  after(() => platform.close());

  const up = async (inputs: Properties, preview = false, options = {}) => {
    const run = new PluginRun(Plugin.for(platform), saved, preview);
    return { ...(await run.construct("PasswordRotationFleet", "fleet", inputs, options)), registered: run.registered };
  };

  it("registers itself and its shards, and returns the state and the secret credentials of each database", async () => {
    const { outputs, registered, children } = await up({ databases: all, version: 1 });
    const [component, ...others] = registered;
    assert.deepEqual(component, { type, name: "fleet", parent: "", custom: false, inputs: {}, aliases: [] });
    assert.deepEqual(
      children,
      others.map(({ name }) => urnOf("PasswordRotationShard", name)),
    );
    for (const shard of others) {
      assert.equal(shard.parent, urnOf("PasswordRotationFleet", "fleet"));
      assert.equal(shard.name, `fleet-${String(shard.inputs.shard)}`);
      assert.deepEqual(shard.aliases, [{ type: "pulumi-nodejs:dynamic/rekey:PasswordRotationShard" }]);
    }
    assert.deepEqual(secretNames(outputs).sort(), ["connectionUrls", "credentials"]);
    const { databases, credentials, failed, records } = revealed(outputs) as Record<string, Record<string, Properties>>;
    for (const id of ids) {
      assert.equal(databases?.[`of-${id}`]?.outcome, "reset");
      assert.equal(credentials?.[`of-${id}`]?.password, platform.database(id).password);
    }
    assert.deepEqual({ failed, records }, { failed: [], records: undefined });
    assert.equal(platform.resetCount, ids.length);
  });

  it("resets nothing in a second run, and one database whose own version changed", async () => {
    await up({ databases: all });
    await up({ databases: Object.fromEntries(Object.entries(all).reverse()) });
    assert.equal(platform.resetCount, ids.length);
    const { "of-db-2": renamed, ...others } = all;
    await up({ databases: { ...others, renamed: { ...renamed, version: 2 } } });
    assert.equal(platform.resetCount, ids.length + 1);
  });

  it("registers shards and their databases in the same order for any order in the program", async () => {
    const many = Array.from({ length: 40 }, (_, index) => `db-${index}`).reverse();
    const { registered } = await up({ databases: Object.fromEntries(many.map((id) => [id, id])) }, true);
    const shards = registered.slice(1);
    assert.ok(shards.length > 1);
    assert.deepEqual(
      shards,
      shards.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
    for (const { inputs } of shards) assert.deepEqual(inputs.databases, (inputs.databases as string[]).toSorted());
  });

  it("sends nothing in a preview, with outputs unknown until it is known that nothing changes", async () => {
    const planned = await up({ databases: all }, true);
    const names = "connectionUrls credentials databases failed lastRotated nextRotationAt records";
    assert.equal(Object.keys(planned.outputs).sort().join(" "), names);
    assert.ok(Object.values(revealed(planned.outputs)).every((value) => value === unknown));
    assert.ok(isSecret(planned.outputs.credentials));
    assert.equal(platform.requests.length, 0);
    const { outputs } = await up({ databases: all, rotateEvery: "30d" });
    assert.equal(typeof outputs.nextRotationAt, "string");
    assert.deepEqual((await up({ databases: all, rotateEvery: "30d" }, true)).outputs, outputs);
    assert.equal(platform.resetCount, ids.length);
  });

  it("does not say when the next rotation is due if changes of rotateEvery are ignored", async () => {
    const { outputs } = await up({ databases: all, rotateEvery: "30d" }, false, { ignoreChanges: ["rotateEvery"] });
    assert.equal(outputs.nextRotationAt, undefined);
  });

  it("saves all others if some fail, names those, and takes up only them next time", async () => {
    platform.failNext({ status: 403, path: /db-3/ });
    await assert.rejects(up({ databases: all }), /1 of 4 databases failed:\n {2}of-db-3: .*REKEY_FLEET_INCOMPLETE/s);
    assert.equal(platform.resetCount, ids.length - 1);
    const { outputs } = await up({ databases: all });
    assert.deepEqual(outputs.failed, []);
    assert.equal(platform.resetCount, ids.length);
  });

  it("keeps the marks of secret inputs", async () => {
    for (const databases of [
      { a: { databaseId: "db-1", version: secret("v") } },
      secret({ a: { databaseId: "db-1" } }),
    ]) {
      const { registered } = await up({ databases, version: secret("w") });
      const [, shard] = registered;
      assert.deepEqual(secretNames(shard?.inputs ?? {}), ["version"]);
      assert.ok(JSON.stringify(shard?.inputs.databases).includes(JSON.stringify(secret("")).slice(0, 40)));
    }
  });

  it("saves records and connection URLs with includeRecords", async () => {
    const { outputs } = await up({ databases: all, includeRecords: true });
    const { record } = (outputs.records as Record<string, Record<string, Properties>>)["of-db-1"] ?? {};
    assert.equal(record?.databaseId, "db-1");
    const { connectionUrls } = revealed(outputs) as Record<string, Properties>;
    const { password } = platform.database("db-1");
    assert.match(String(connectionUrls?.["of-db-1"]), new RegExp(`^redis://default:${password}@127`));
  });

  it("refuses a connection or a host setting that cannot be used, and sends nothing", async () => {
    await assert.rejects(up({ databases: all, port: 0 }), /port must be a whole number.*REKEY_INPUT_INVALID/);
    const run = new PluginRun(Plugin.for(platform, { databaseHost: "a b" }), saved);
    const constructed = run.construct("PasswordRotationFleet", "fleet", { databases: all });
    await assert.rejects(constructed, /rekey:databaseHost must/);
    const { outputs } = await up({ databases: all, host: unknown }, true);
    assert.deepEqual(outputs.connectionUrls, secret(unknown));
    assert.equal(platform.requests.length, 0);
  });

  it("refuses inputs that cannot be used by their names in the program, and registers no shard", async () => {
    const address = "rediss://default:canary@host:6379";
    const refused = [
      { inputs: { databases: { a: "db-1" }, rotateEvery: "soon" }, message: /^Error: rotateEvery must be a duration/ },
      {
        inputs: { databases: { a: "db-1" }, concurency: 2 },
        message: /^InputError: concurency is not one of its inputs/,
      },
      { inputs: { databases: { a: "db-1" }, shard: "00" }, message: /^InputError: shard is not one of its inputs/ },
      { inputs: { databases: { a: ".." } }, message: /^InputError: databases\["a"\] must not be "\.\."/ },
      {
        inputs: { databases: { a: address, b: address } },
        message: /^InputError: databases\["a"\] must be an id, for Upstash a UUID, not an address/,
      },
      {
        inputs: { databases: { a: { databaseId: "db-1", version: true } } },
        message: /^Error: databases\["a"\]: version must be a string or a number/,
      },
      {
        inputs: { databases: { a: { databaseId: "db-1", version: unknown, verison: 1 } } },
        message: /^Error: databases\["a"\]: verison is not an input/,
      },
    ];
    for (const { inputs, message } of refused) {
      const run = new PluginRun(Plugin.for(platform), saved, true);
      const failed = assert.rejects(run.construct("PasswordRotationFleet", "fleet", inputs), (error: Error) => {
        assert.match(String(error), message);
        assert.match(error.message, /(Nothing was sent for it|already sent is saved).*\[REKEY_INPUT_INVALID\]$/);
        assert.doesNotMatch(error.message, /canary/);
        return true;
      });
      await failed;
      assert.ok(run.registered.every(({ custom }) => !custom));
    }
  });

  it("names the first wrong databases of many", async () => {
    const names = Array.from({ length: 9 }, (_, nth) => `of-${nth}`);
    const databases = Object.fromEntries(names.map((name) => [name, { databaseId: `db-${name}`, version: true }]));
    await assert.rejects(up({ databases }), (error: Error) => {
      assert.deepEqual(
        error.message.split("\n").map((line) => line.split(":")[0]),
        names.slice(0, 5).map((name) => `databases["${name}"]`),
      );
      return true;
    });
  });

  it("refuses a database that another resource or fleet rotates, and names the fleet, not its shard", async () => {
    const plugin = Plugin.for(platform);
    const run = new PluginRun(plugin, saved);
    const duplicate = (by: string) =>
      new RegExp(`^Error: database "db-1" is already rotated by ${by}:.*Nothing was sent.*REKEY_DUPLICATE_DATABASE`);
    await run.construct("PasswordRotationFleet", "first", { databases: { a: "db-1" } });
    const second = run.construct("PasswordRotationFleet", "second", { databases: { b: "db-1" } });
    await assert.rejects(second, duplicate(urnOf("PasswordRotationFleet", "first")));
    const [reason = ""] = await plugin.check(urnOf("PasswordRotation"), { databaseId: "db-1" });
    assert.match(`Error: ${reason}`, duplicate(urnOf("PasswordRotationFleet", "first")));
    assert.equal(platform.resetCount, 1);
  });

  it("reports that it is not complete if the run ends first", async () => {
    const plugin = Plugin.for(platform);
    const run = new PluginRun(plugin, saved);
    const ended = /^Error: It is not complete: the run ended first.* What was sent is saved.*REKEY_FLEET_INCOMPLETE/;
    // As an engine does once another resource has failed.
    run.register = () => new Promise(() => undefined);
    const constructing = run.construct("PasswordRotationFleet", "fleet", { databases: all });
    plugin.cancel();
    await assert.rejects(constructing, ended);
    await assert.rejects(run.construct("PasswordRotationFleet", "late", { databases: all }), ended);
  });

  it("refuses databases that are unknown, given twice or not databases, and sends nothing", async () => {
    const refused: [unknown, RegExp][] = [
      [unknown, /^InputError: databases must be a known map/],
      [{ a: { databaseId: unknown } }, /databases\["a"\] is unknown.*REKEY_INPUT_UNKNOWN/],
      [
        { a: { databaseId: "db-1" }, b: "db-1" },
        /^Error: databases contains the database "db-1" twice: it is both "a" and "b".*REKEY_DUPLICATE_DATABASE/,
      ],
      [{ a: { version: 1 } }, /databases\["a"\] must be the id/],
      [["db-1"], /must be a known map/],
      [undefined, /must be a known map/],
    ];
    for (const [databases, reason] of refused) await assert.rejects(up({ databases }), reason);
    await assert.rejects(new PluginRun(new Plugin(), saved).construct("x", "", {}), /x is not a resource/);
    assert.equal(platform.requests.length, 0);
  });
});
