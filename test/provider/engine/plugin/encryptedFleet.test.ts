import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { Team } from "../../../support/age";
import { Plugin, PluginRun } from "../../../support/plugin";
import { type Properties, revealed, unknown } from "../../../support/wire";

const databases = { one: "db-1", two: "db-2" };
const connection = { host: "{id}.example.com", username: "app", port: 7 };

describe("plugin service: PasswordRotationFleet with encryptFor", () => {
  let platform: Platform;
  let team: Team;
  let saved: Map<string, Properties>;
  before(async () => {
    team = await Team.create();
    const all = Object.values(databases).map((database_id) => ({ database_id }));
    platform = await startPlatform({ databases: all, credentials: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    saved = new Map();
  });
  after(() => platform.close());

  const up = async (inputs: Properties, preview = false) => {
    const run = new PluginRun(Plugin.for(platform), saved, preview);
    const { outputs } = await run.construct("PasswordRotationFleet", "fleet", { databases, ...inputs });
    const [, ...shards] = run.registered;
    return { outputs: revealed(outputs), shards: shards.map(({ inputs }) => inputs) };
  };

  it("has one file for each database, with the URL of the connection that the fleet's inputs describe", async () => {
    const inputs = { ...connection, encryptFor: [team.recipient] };
    const planned = await up(inputs, true);
    assert.equal(planned.outputs["encryptedCredentials"], unknown);
    const { outputs, shards } = await up(inputs);
    assert.ok(shards.length > 0);
    for (const shard of shards) {
      assert.deepEqual(shard["connection"], connection);
      assert.ok(!("host" in shard));
    }
    const files = outputs["encryptedCredentials"] as Properties;
    assert.deepEqual(Object.keys(files).sort(), Object.keys(databases));
    for (const [name, id] of Object.entries(databases)) {
      const { password, connectionUrl } = await team.decrypt(files[name]);
      const expected = platform.database(id).password;
      assert.deepEqual([password, connectionUrl], [expected, `rediss://app:${expected}@${id}.example.com:7`]);
    }
  });

  it("has no file without it, and does not register the connection of its inputs", async () => {
    assert.ok(!("encryptedCredentials" in (await up(connection, true)).outputs));
    const { outputs, shards } = await up(connection);
    assert.ok(!("encryptedCredentials" in outputs));
    for (const shard of shards) assert.ok(!("connection" in shard));
  });

  it("keeps the files without it while they alone have the credentials, until the next reset", async () => {
    const before = await up({ saveCredentials: false, encryptFor: [team.recipient] });
    const { outputs } = await up({});
    assert.deepEqual(outputs["encryptedCredentials"], before.outputs["encryptedCredentials"]);
    assert.deepEqual(Object.keys(outputs["encryptedCredentials"] as object).sort(), Object.keys(databases));
    assert.equal(platform.resetCount, 2);
    assert.ok(!("encryptedCredentials" in (await up({ version: 2 })).outputs));
    assert.equal(platform.resetCount, 4);
  });
});
