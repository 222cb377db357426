import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { outputsOf, secretsOf } from "../../../../provider/engine/plugin/outputs";
import { resources } from "../../../../provider/engine/resources";
import { InitError } from "../../../../provider/resource";
import { leaksOf } from "../../../support/canaries";
import { Plugin } from "../../../support/plugin";
import { type Properties, revealed, secret, secretNames, unknown, urnOf } from "../../../support/wire";
import { databasePath } from "../../../support/resources";
import { assertFields, until } from "../../../support/results";

const id = "db-quickstart";
const urn = urnOf("PasswordRotation");
const counters = urnOf("FlowControlReset");
const getDatabases = "rekey:index:getDatabases";
const secrets = [
  "account",
  "appliedTrigger",
  "connectionUrl",
  "otherFields",
  "password",
  "readOnlyRestToken",
  "restToken",
  "restUrl",
];
const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
const rotation = (more: Properties = {}): Properties => ({ databaseId: id, ...more });

describe("plugin service", () => {
  let platform: Platform;
  let plugin: Plugin;
  before(async () => {
    const databases = [{ database_id: id, unheard_of: 7 }, { database_id: "db-second" }];
    const flowControlKeys = ["orders", ...keys];
    platform = await startPlatform({ databases, flowControlKeys, credentials: "always", databasePath });
  });
  beforeEach(async () => {
    await platform.reset();
    plugin = Plugin.for(platform);
  });
  after(() => platform.close());

  const sent = () => platform.requests.length;
  const create = async (inputs: Properties) => (await plugin.make(urn, inputs)).outputs;

  it("marks an output like the secret input with its name", async () => {
    const { outputs } = await plugin.make(urn, rotation({ databaseId: secret(id) }));
    assert.deepEqual(outputs.databaseId, secret(id));
    const planned = await plugin.make(urn, rotation({ databaseId: secret(id) }), { preview: true });
    assert.deepEqual(planned.outputs.databaseId, secret(id));
  });

  it("saves the URL and the tokens of an index as secrets, and keeps them in a refresh", async () => {
    const index = urnOf("VectorTokenRotation");
    const { outputs } = await plugin.make(index, { indexId: "idx-vectors" });
    const { record, restUrl, token } = revealed(outputs);
    assert.equal(restUrl, (record as Properties).endpoint);
    assert.equal(token, platform.vectorIndexes.get("idx-vectors")?.token);
    assert.deepEqual([outputs.restUrl, outputs.token], [secret(restUrl), secret(token)]);
    const read = await plugin.read(index, "idx-vectors", outputs, { indexId: "idx-vectors" });
    assert.deepEqual(revealed(read.outputs), revealed(outputs));
  });

  it("sends nothing in a preview, where every output that may change is unknown", async () => {
    for (const [of, inputs] of [
      [urn, rotation()],
      [counters, { flowControlKey: "orders" }],
    ] as const) {
      const { id: none, outputs } = await plugin.make(of, inputs, { preview: true });
      assert.equal(none, "");
      const resource = of === urn ? resources.PasswordRotation : resources.FlowControlReset;
      assert.deepEqual(Object.keys(outputs).sort(), outputsOf(resource).sort());
      const secrets = secretsOf(resource).filter((name) => outputsOf(resource).includes(name));
      assert.deepEqual(secretNames(outputs), secrets.sort());
      const { [resource.idInput]: own, ...others } = revealed(outputs);
      assert.equal(own, inputs[resource.idInput as never]);
      assert.ok(Object.values(others).every((value) => value === unknown));
    }
    assert.equal(sent(), 0);
  });

  it("sends nothing for a planned update, and keeps what a planned update does not change", async () => {
    const outputs = await create(rotation({ version: 1 }));
    const before = sent();
    const planned = await plugin.change(urn, id, outputs, rotation({ version: 2 }), true);
    assert.deepEqual(planned.outputs.password, secret(unknown));
    const unsure = await plugin.change(urn, id, outputs, rotation({ version: unknown }), true);
    assert.deepEqual(unsure.outputs, planned.outputs);
    assert.deepEqual((await plugin.change(urn, id, outputs, rotation({ version: "1" }), true)).outputs, outputs);
    assert.equal(sent(), before);
  });

  it("finds a change of the trigger or the database, and of nothing else", async () => {
    const outputs = await create(rotation({ version: 1 }));
    const diff = (inputs: Properties) => plugin.diff(urn, id, outputs, inputs);
    for (const same of [{ version: 1 }, { version: secret("1") }, {}, { version: 1, initialRotation: false }]) {
      assert.deepEqual(await diff(rotation(same)), { changes: false, replaces: [] });
    }
    assert.deepEqual(await diff(rotation({ version: 2 })), { changes: true, replaces: [] });
    assert.deepEqual(await diff({ databaseId: "db-second" }), { changes: true, replaces: ["databaseId"] });
    plugin.said.length = 0;
    assert.deepEqual(await diff({ databaseId: unknown }), { changes: true, replaces: [] });
    assert.match(plugin.said.join(), /^it: May reset the password of the database: databaseId is not known yet\.$/);
    assert.equal(platform.resetCount, 1);
  });

  it("refuses a saved id that is not that of the resource", async () => {
    const outputs = await create(rotation());
    const damaged = { ...outputs, databaseId: "db-second" };
    await assert.rejects(plugin.diff(urn, id, damaged, rotation()), /the state is damaged.*REKEY_STATE_UNREADABLE/s);
    await assert.rejects(plugin.change(urn, id, damaged, rotation()), /the state is damaged/);
    assert.equal(platform.resetCount, 1);
  });

  it("returns the saved outputs on refresh, with every mark, and sends nothing", async () => {
    const outputs = await create(rotation());
    const before = sent();
    const inputs = rotation({ version: secret("1") });
    const read = await plugin.read(urn, id, { ...revealed(outputs), databaseId: secret(id) }, inputs);
    assert.deepEqual(read, { id, inputs, outputs: { ...outputs, databaseId: secret(id) } });
    assert.equal(sent(), before);
  });

  it("keeps a resource whose outputs the engine lost on refresh, and refuses its next change", async () => {
    const limits = urnOf("FlowControlLimits");
    for (const { of, own, inputs } of [
      { of: urn, own: id, inputs: rotation({ version: 2 }) },
      { of: counters, own: "orders", inputs: { flowControlKey: "orders" } },
      { of: limits, own: "orders", inputs: { flowControlKey: "orders", paused: true } },
    ]) {
      const fresh = Plugin.for(platform);
      assert.deepEqual(await fresh.read(of, own, {}, inputs), { id: own, outputs: {}, inputs });
      assert.match(fresh.said.join(), /^it: warning: .*the state is damaged\. Nothing was sent\. Restore it/);
      await assert.rejects(fresh.diff(of, own, {}, inputs), /the state is damaged.*REKEY_STATE_UNREADABLE/s);
      await assert.rejects(fresh.change(of, own, {}, inputs), /the state is damaged/);
    }
    assert.equal(sent(), 0);
  });

  it("imports a database by adopting it, without a request and without a later change", async () => {
    const { id: same, outputs, inputs } = await plugin.read(urn, id, {}, {});
    assert.equal(same, id);
    assert.deepEqual(inputs, { databaseId: id, initialRotation: false });
    assert.equal(outputs.outcome, "adopted");
    assert.deepEqual(secretNames(outputs), ["account", "appliedTrigger", "saving"]);
    for (const program of [inputs, rotation()]) {
      assert.deepEqual(await plugin.diff(urn, id, outputs, program), { changes: false, replaces: [] });
    }
    assert.equal(sent(), 0);
  });

  it("announces the reset of a new resource at it, in a preview and in an up, once in each", async () => {
    const line = `it: Resets the password of database "${id}": the resource is new. \`initialRotation: false\` keeps it.`;
    for (const preview of [true, false]) {
      const fresh = Plugin.for(platform);
      assert.deepEqual(await fresh.check(urn, rotation()), []);
      await fresh.make(urn, rotation(), { preview });
      assert.deepEqual(fresh.said.splice(0), [line]);
      await fresh.make(urn, rotation({ initialRotation: false }), { preview });
      assert.deepEqual(fresh.said, []);
    }
  });

  it("announces a replacement once, whichever input causes it", async () => {
    const outputs = await create(rotation({ version: 1 }));
    const causes = [{ databaseId: "db-second" }, rotation({ version: 2 })];
    for (const inputs of causes) {
      const fresh = Plugin.for(platform);
      await fresh.diff(urn, id, outputs, inputs);
      await fresh.make(urn, inputs, { preview: true });
      assert.equal(fresh.said.length, 1);
      assert.match(fresh.said.join(), /^it: Resets the password of database /);
    }
  });

  it("refuses to import by an address, without showing it", async () => {
    const refused = plugin.read(urn, "redis://default:canary@host:6379", {}, {});
    await assert.rejects(refused, ({ message }: Error) => /^id must be an id/.test(message) && !/canary/.test(message));
    assert.equal(sent(), 0);
  });

  it("adopts the trigger of a program that imports, without a request, and resets when it changes", async () => {
    const { outputs } = await plugin.read(urn, id, {}, {});
    const adopted = await plugin.change(urn, id, outputs, rotation({ version: 1 }));
    assert.equal(adopted.outputs.outcome, "adopted");
    assert.equal((await plugin.diff(urn, id, adopted.outputs, rotation({ version: 1 }))).changes, false);
    assert.equal((await plugin.diff(urn, id, adopted.outputs, rotation({ version: 2 }))).changes, true);
    assert.equal(sent(), 0);
    const later = Plugin.for(platform);
    await later.change(urn, id, outputs, rotation({ version: 1 }));
    assert.equal(platform.resetCount, 1);
  });

  it("adopts the trigger of a program that imports any other secret", async () => {
    const user = [...platform.queueUsers.keys()][0] ?? "";
    for (const [type, of, inputs] of [
      ["VectorTokenRotation", "idx-vectors", { indexId: "idx-vectors" }],
      ["QueueTokenRotation", user, { queueUserId: user }],
      ["SigningKeyRotation", "signing-keys", {}],
    ] as const) {
      const { outputs } = await plugin.read(urnOf(type), of, {}, {});
      const adopted = await plugin.change(urnOf(type), of, outputs, { ...inputs, version: 1 });
      assert.equal(adopted.outputs.outcome, "adopted");
    }
    assert.deepEqual([platform.resetCount, platform.signingKeys.rolls], [0, 0]);
  });

  it("saves no credential with an import, and those that the program wants with the next change", async () => {
    const readable = await startPlatform({ databases: [id], credentials: "always", databasePath });
    const user = [...readable.queueUsers.keys()][0] ?? "";
    const canaries = (): Record<string, string> => {
      const { password = "", restToken = "", readOnlyRestToken = "" } = readable.database(id);
      const { current, next } = readable.signingKeys;
      const token = readable.queueUsers.get(user)?.token ?? "";
      const index = readable.vectorIndexes.get("idx-vectors")?.token ?? "";
      return { password, restToken, readOnlyRestToken, token, index, current, next };
    };
    for (const [type, of, given] of [
      ["PasswordRotation", id, { databaseId: id }],
      ["VectorTokenRotation", "idx-vectors", { indexId: "idx-vectors" }],
      ["QueueTokenRotation", user, { queueUserId: user }],
      ["SigningKeyRotation", "signing-keys", {}],
    ] as const) {
      const own = urnOf(type);
      const importer = Plugin.for(readable, { databasePath });
      const { inputs, outputs } = await importer.read(own, of, {}, {});
      assert.deepEqual(inputs, { ...given, initialRotation: false });
      assert.deepEqual(leaksOf(JSON.stringify(outputs), canaries()), []);
      // The option `import` changes the resource in the same run, the command `pulumi import` in a later one.
      for (const plugin of [importer, Plugin.for(readable, { databasePath })]) {
        const hidden = await plugin.change(own, of, outputs, { ...given, saveCredentials: false });
        assert.deepEqual(leaksOf(JSON.stringify(hidden.outputs), canaries()), []);
        assert.equal((await plugin.diff(own, of, outputs, given)).changes, true);
        const saved = await plugin.change(own, of, outputs, given);
        assert.notDeepEqual(leaksOf(JSON.stringify(saved.outputs), canaries()), []);
        assert.equal(saved.outputs.outcome, "adopted");
        assert.equal((await plugin.diff(own, of, saved.outputs, given)).changes, false);
      }
      // A refresh before the next `up` saves none either.
      const refreshed = await Plugin.for(readable, { databasePath }).read(own, of, outputs, inputs);
      assert.deepEqual(leaksOf(JSON.stringify(refreshed), canaries()), []);
    }
    assert.deepEqual([readable.resetCount, readable.signingKeys.rolls], [0, 0]);
    await readable.close();
  });

  it("announces no reset for the trigger of a program that imports", async () => {
    const { outputs } = await plugin.read(urn, id, {}, {});
    assert.match(plugin.said.splice(0).join(), /^it: warning: .*was adopted, and nothing was contacted/);
    await plugin.diff(urn, id, outputs, rotation({ version: 1 }));
    assert.match(plugin.said.join(), /^it: It was imported in this run: .*nothing is reset\.$/);
    const later = Plugin.for(platform);
    await later.diff(urn, id, outputs, rotation({ version: 1 }));
    assert.match(later.said.join(), /^it: Resets the password .*: version or triggers have changed\.$/);
  });

  it("refuses to import a reset of counters", async () => {
    await assert.rejects(plugin.read(counters, "orders", {}, {}), /nothing to import.*REKEY_IMPORT_UNSUPPORTED/s);
    assert.equal(sent(), 0);
  });

  it("saves a connection URL, and follows its inputs and setting without a request", async () => {
    const urlIn = ({ outputs }: { outputs: Properties }) => revealed(outputs).connectionUrl;
    const { record, password } = platform.database(id);
    assert.ok(password);
    const made = await plugin.make(urn, rotation());
    const at = `${platform.database(id).password}@127.0.0.1:${String(record.port)}`;
    assert.equal(urlIn(made), `redis://default:${at}`);
    const before = sent();
    const inputs = rotation({ username: "{id}!", port: null });
    assert.deepEqual(await plugin.diff(urn, id, made.outputs, inputs), { changes: true, replaces: [] });
    for (const preview of [true, false]) {
      const changed = await plugin.change(urn, id, made.outputs, inputs, preview);
      assert.equal(urlIn(changed), `redis://db-quickstart!:${at}`);
      assert.equal((await plugin.diff(urn, id, changed.outputs, inputs)).changes, false);
      assert.deepEqual(secretNames(changed.outputs), secrets);
    }
    const planned = await plugin.change(urn, id, made.outputs, rotation({ host: unknown }), true);
    assert.deepEqual([planned.outputs.connectionUrl, planned.outputs.restUrl], [secret(unknown), secret(unknown)]);
    assert.equal(revealed(planned.outputs).rotationCount, 1);
    const elsewhere = Plugin.for(platform, { databaseHost: "{id}.example.com" });
    assert.equal((await elsewhere.diff(urn, id, made.outputs, rotation())).changes, true);
    assert.match(
      String(urlIn(await elsewhere.change(urn, id, made.outputs, rotation()))),
      /@db-quickstart\.example\.com:/,
    );
    assert.equal(sent(), before);
  });

  it("adds a connection URL to a state without one if it was moved or its inputs are set, else with the next reset", async () => {
    const { connectionUrl, restUrl, ...earlier } = await create(rotation({ version: 1 }));
    assert.ok(connectionUrl);
    assert.ok(restUrl);
    const withoutRest = { ...earlier, connectionUrl };
    const changes = async (saved: Properties, inputs: Properties) =>
      (await plugin.diff(urn, id, saved, inputs)).changes;
    assert.equal(await changes(earlier, rotation({ version: 1 })), false);
    assert.equal(await changes(earlier, rotation({ version: 1, tls: true })), true);
    assert.equal(await changes(withoutRest, rotation({ version: 1 })), false);
    assert.equal(await changes({ ...withoutRest, restUrl: "https://former" }, rotation({ version: 1 })), true);
    const elsewhere = Plugin.for(platform, { databaseHost: "{id}.example.com" });
    assert.equal((await elsewhere.diff(urn, id, withoutRest, rotation({ version: 1 }))).changes, true);
    const moved = { ...earlier, __provider: "exports.handler=…" };
    assert.equal(await changes(moved, rotation({ version: 1 })), true);
    const { outputs } = await plugin.change(urn, id, moved, rotation({ version: 1 }));
    assert.deepEqual(outputs, { ...moved, connectionUrl, restUrl });
    assert.equal(await changes(outputs, rotation({ version: 1 })), false);
    const { record, ...withoutRecord } = moved as Properties;
    assert.ok(record);
    assert.equal(await changes(withoutRecord, rotation({ version: 1 })), false, "no URL can be built");
    assert.equal(platform.resetCount, 1);
  });

  it("saves the time of the next rotation, and follows rotateEvery without a request", async () => {
    const every = (rotateEvery?: unknown): Properties => rotation({ rotateEvery });
    const nextIn = ({ outputs }: { outputs: Properties }) => revealed(outputs).nextRotationAt;
    const after = (days: number, { rotatedAt }: Properties) =>
      new Date(Date.parse(String(rotatedAt)) + days * 86_400_000).toISOString();
    const made = await plugin.make(urn, every("30d"));
    assert.equal(nextIn(made), after(30, made.outputs));
    assert.equal((await plugin.diff(urn, id, made.outputs, every("30d"), every("30d"))).changes, false);
    const before = sent();
    for (const [rotateEvery, expected] of [
      ["7d", after(7, made.outputs)],
      [undefined, undefined],
    ] as const) {
      const inputs = every(rotateEvery);
      assert.deepEqual(await plugin.diff(urn, id, made.outputs, inputs), { changes: true, replaces: [] });
      const changed = await plugin.change(urn, id, made.outputs, inputs);
      assert.equal(nextIn(changed), expected);
      assert.equal((await plugin.diff(urn, id, changed.outputs, inputs, inputs)).changes, false);
      assert.deepEqual(await plugin.diff(urn, id, changed.outputs, every("1d"), inputs), {
        changes: true,
        replaces: [],
      });
    }
    const { outputs } = await plugin.change(urn, id, made.outputs, every(secret("7d")));
    assert.deepEqual(outputs.nextRotationAt, secret(after(7, made.outputs)));
    assert.equal(sent(), before);
  });

  it("adds the time of the next rotation to a state of an earlier version with a refresh, and to a moved one", async () => {
    const inputs = rotation({ rotateEvery: "30d" });
    const { nextRotationAt, ...earlier } = await create(inputs);
    assert.ok(nextRotationAt);
    assert.equal((await plugin.diff(urn, id, earlier, inputs)).changes, false);
    assert.equal((await plugin.diff(urn, id, earlier, inputs, inputs)).changes, false);
    assert.equal((await plugin.diff(urn, id, earlier, inputs, { ...inputs, __provider: "…" })).changes, true);
    assert.equal((await plugin.read(urn, id, earlier, inputs)).outputs.nextRotationAt, nextRotationAt);
    assert.equal(platform.resetCount, 1);
  });

  it("saves the time of the next rotation of signing keys", async () => {
    const keysUrn = urnOf("SigningKeyRotation");
    const { outputs } = await plugin.make(keysUrn, { rotateEvery: "30d", initialRotation: false });
    const next = Date.parse(String(outputs.adoptedAt)) + 30 * 86_400_000;
    assert.equal(outputs.nextRotationAt, new Date(next).toISOString());
  });

  it("saves the URLs of what a refresh reads, and adds none if nothing was changed", async () => {
    const readable = await startPlatform({ databases: [id], credentials: "always", databasePath });
    const reader = Plugin.for(readable, { databasePath });
    const { connectionUrl, restUrl, ...withoutUrls } = (await reader.make(urn, rotation())).outputs;
    const refreshed = async () => (await reader.read(urn, id, withoutUrls, rotation())).outputs;
    assert.deepEqual(await refreshed(), withoutUrls);

    readable.changeRecord(id, { port: 6390 });
    const { password } = readable.database(id);
    assertFields(revealed(await refreshed()), {
      connectionUrl: `redis://default:${password}@127.0.0.1:6390`,
      restUrl: revealed({ restUrl }).restUrl,
    });

    await readable.changePassword(id);
    const changed = revealed(await refreshed());
    assert.equal(changed.connectionUrl, `redis://default:${readable.database(id).password}@127.0.0.1:6390`);
    assert.notEqual(readable.database(id).password, password);
    await readable.close();
  });

  it("shows at its resource what a refresh or an import finds", async () => {
    const readable = await startPlatform({ databases: [id], credentials: "always", databasePath });
    const reader = Plugin.for(readable, { databasePath });
    const { outputs } = await reader.make(urn, rotation());
    reader.said.length = 0;
    const refresh = async () => {
      await reader.read(urn, id, outputs, rotation());
      return reader.said.splice(0).join();
    };
    assert.equal(await refresh(), "");
    await readable.changePassword(id);
    assert.match(await refresh(), /^it: Database "db-quickstart" was changed outside of Rekey: password/);
    readable.failNext({ path: /database/, status: 403 });
    assert.match(await refresh(), /^it: warning: .*403.* The saved state stays\.$/s);
    await readable.close();

    const hidden = await startPlatform({ databases: [id], credentials: "never", databasePath });
    const importer = Plugin.for(hidden, { databasePath });
    assert.equal((await importer.read(urn, id, {}, {})).outputs.outcome, "adopted");
    assert.match(importer.said.join(), /^it: warning: /);
    await hidden.close();
  });

  it("imports limits, changes them as usual, and unpins them when they are removed", async () => {
    const limits = urnOf("FlowControlLimits");
    const inputs = { flowControlKey: "orders", parallelism: 5, paused: true };
    await plugin.make(limits, inputs);
    const later = Plugin.for(platform);
    const imported = await later.read(limits, "orders", {}, {});
    assert.deepEqual(imported.inputs, inputs);
    const changed = await later.change(limits, "orders", imported.outputs, { ...inputs, parallelism: 6 });
    assert.equal(changed.outputs.parallelism, 6);
    assert.deepEqual(later.said, []);
    const last = Plugin.for(platform);
    await last.delete(limits, changed.outputs);
    assert.match(last.said.join(), /^it: Flow-control key "orders" stays paused/);
    const { outputs } = await last.read(limits, "orders", {}, {});
    assert.deepEqual(
      { parallelism: outputs.parallelism, paused: outputs.paused },
      { parallelism: undefined, paused: true },
    );
  });

  it("imports limits with one read, and sends nothing even if another client changes them meanwhile", async () => {
    const limits = urnOf("FlowControlLimits");
    const record = { flowControlKey: "orders", isPinnedRate: true, rateMax: 5, ratePeriod: 60 };
    platform.setFlowControlKey({ ...record, rateMax: 7 });
    platform.failNext({ method: "GET", body: record });
    const { inputs, outputs } = await plugin.read(limits, "orders", {}, {});
    const shown = { flowControlKey: "orders", rate: 5, period: 60, paused: false };
    const declared = { rate: 5, period: 60, paused: false };
    assert.deepEqual({ inputs, outputs }, { inputs: shown, outputs: { ...shown, declared } });
    assert.deepEqual(
      platform.requests.filter(({ method }) => method === "POST"),
      [],
    );
  });

  it("sends and shows nothing when a rotation is removed", async () => {
    const outputs = await create(rotation());
    const before = sent();
    plugin.said.length = 0;
    await plugin.delete(urn, outputs);
    assert.deepEqual({ sent: sent(), said: plugin.said }, { sent: before, said: [] });
  });

  it("refuses a connection or a host setting that cannot be used, and sends nothing", async () => {
    const remote = Plugin.for(platform, { databaseHost: "db.example.com" });
    assert.match(
      (await remote.check(urn, rotation({ tls: false }))).join(),
      /^tls must not be false unless host is this machine/,
    );
    assert.deepEqual(await remote.check(urn, rotation({ tls: false, host: unknown })), []);
    assert.deepEqual(await plugin.check(urn, rotation({ tls: false, username: null })), []);
    const misconfigured = Plugin.for(platform, { databaseHost: "a b" });
    await assert.rejects(misconfigured.check(urn, rotation()), /rekey:databaseHost must be.*REKEY_SETTING_INVALID/);
    assert.deepEqual(await misconfigured.check(counters, { flowControlKey: "orders" }), []);
    assert.equal(sent(), 0);
  });

  it("refuses hidden inputs", async () => {
    const hidden = await plugin.check(urn, rotation({ owner: "urn", otherOwners: [] }));
    assert.match(hidden.join(), /^owner is not an input.*otherOwners is not an input/s);
    assert.match((await plugin.check(counters, { flowControlKey: "a", owner: "x" })).join(), /^owner is not an input/);
    assert.equal(sent(), 0);
  });

  it("warns of a stateless create, which keeps the new password nowhere, before anything is sent", async () => {
    // The URN of `pulumi do --stateless`, which has no stack.
    const stateless = "urn:pulumi:dev::default::rekey:index:PasswordRotation::PasswordRotation";
    const cases = [
      { of: stateless, inputs: rotation(), warned: true },
      { of: stateless, inputs: rotation({ initialRotation: false }), warned: false },
      { of: stateless, inputs: { databaseId: 7 }, warned: false },
      { of: stateless.replace("::default::", "::program::"), inputs: rotation(), warned: false },
      { of: `${stateless}2`, inputs: rotation(), warned: false },
      { of: stateless.replaceAll("Password", "SigningKey"), inputs: {}, warned: true },
    ];
    for (const { of, inputs, warned } of cases) {
      const fresh = Plugin.for(platform);
      await fresh.check(of, inputs);
      assert.equal(fresh.said.length, warned ? 1 : 0, JSON.stringify({ of, inputs }));
      if (warned) {
        assert.match(
          fresh.said.join(),
          /^\w+Rotation: warning: `pulumi do --stateless` saves nothing.* leave out --stateless.*ignore this\.$/,
        );
      }
    }
    await plugin.read(stateless, id, {}, {});
    await plugin.check(stateless, rotation({ version: 2 }));
    assert.match(plugin.said.join(), /^\w+: warning: [^`]*was adopted[^`]*$/, "a patch adopts the database");
    assert.equal(sent(), 0);
  });

  it("warns at a resource whose saved state is of another account, and sends nothing", async () => {
    const second = await startPlatform({ databases: [{ database_id: id }] });
    const moved = Plugin.for(second);
    const outputs = await create(rotation({ version: 1 }));
    const before = sent();
    assert.deepEqual(await moved.diff(urn, id, outputs, rotation({ version: 1 })), { changes: false, replaces: [] });
    assert.match(
      moved.said.join(),
      /^it: warning: Database "db-quickstart" was last reset .* another baseUrl or username/,
    );
    assert.ok(!moved.said.join().includes(second.url) && !moved.said.join().includes(second.username));
    assert.deepEqual({ sent: sent(), requests: second.requests.length }, { sent: before, requests: 0 });
    await second.close();
  });

  it("checks inputs, and accepts those that are unknown", async () => {
    const wrong = await plugin.check(urn, { databaseId: unknown, rotateEvery: secret("soon"), nonsense: 1 });
    assert.match(
      wrong.join("\n"),
      /^rotateEvery must be a duration.*\nnonsense is not an input.*\[REKEY_INPUT_INVALID\]$/s,
    );
    assert.ok(!wrong.join().includes("unknown value"));
    assert.deepEqual(await plugin.check(urn, rotation({ triggers: { image: unknown }, version: null })), []);
    const others = [urnOf("Nonsense"), urn.replace("rekey:index:", "redis:index:"), "no URN"];
    for (const other of others) await assert.rejects(plugin.check(other, {}), /is not a resource of this version/);
  });

  it("saves an unconfirmed reset by an init error, once in a run", async () => {
    const saved = await create(rotation({ version: 1 }));
    platform.failNext({ dropConnection: "after-apply" });
    const failure = async () => {
      const error: unknown = await plugin.change(urn, id, saved, rotation({ version: 2 })).catch((one: unknown) => one);
      assert.ok(error instanceof InitError);
      return error;
    };
    const error = await failure();
    assert.equal(error.id, id);
    assert.deepEqual(secretNames(error.properties), [...secrets, "attemptedTrigger"].sort());
    assert.equal(error.properties.outcome, "unknown");
    assert.deepEqual((await failure()).properties, error.properties);
    assert.equal(platform.resetCount, 2);
  });

  it("sends no reset after a cancel, or if the engine is gone", async () => {
    plugin.killed.gone = true;
    await assert.rejects(create(rotation()), /it has ended.*nothing was sent.*REKEY_ENGINE_GONE/s);
    plugin.killed.gone = false;
    plugin.cancel();
    const cancelled = /the run was cancelled.*nothing was sent\. Run again\. \[REKEY_NOT_SENT\]/s;
    await assert.rejects(create(rotation()), cancelled);
    assert.equal(platform.resetCount, 0);
  });

  it("ends the reads after a reset with a cancel, and saves the reset", async () => {
    plugin = Plugin.for(platform, { databasePath, deadlineSeconds: 600 });
    const former = { database_id: id, password: "former" };
    platform.failNext({ method: "GET", status: 200, body: former, times: 1_000 });
    platform.failNext({ method: "POST", status: 200, body: { database_id: id } });
    const created = create(rotation());
    // One before the reset, and the first after it.
    await until(() => platform.requests.filter(({ method }) => method === "GET").length >= 2);
    plugin.cancel();
    const { outcome, missingCredentials } = revealed(await created);
    assert.equal(outcome, "reset");
    assert.deepEqual(missingCredentials, ["password"]);
  });

  it("shows what it could not read of a response under its resource", async () => {
    platform.failNext({ path: /reset-password/, status: 200, body: { database_id: id, port: "many" } });
    await create(rotation());
    assert.equal(plugin.said.length, 2);
    assert.match(plugin.said[1] ?? "", /^it: The password of database "db-quickstart" was reset, but parts .*port/);
  });

  it("keeps the text of the dynamic provider in each change and refresh, so that a moved stack can move back", async () => {
    const __provider = "exports.handler=…";
    const moved = { ...(await create(rotation({ version: 1 }))), __provider };
    const { outputs } = await plugin.change(urn, id, moved, rotation({ version: 2 }));
    assertFields(outputs, { __provider, rotationCount: 2 });
    assert.equal((await plugin.read(urn, id, outputs, rotation({ version: 2 }))).outputs.__provider, __provider);
    platform.failNext({ dropConnection: "after-apply" });
    await assert.rejects(plugin.change(urn, id, outputs, rotation({ version: 3 })), (error: InitError) => {
      return error.properties.__provider === __provider && error.properties.outcome === "unknown";
    });
    const reset = await plugin.make(counters, { flowControlKey: "orders" });
    const again = { flowControlKey: "orders", version: 2 };
    const kept = await plugin.change(counters, "orders", { ...reset.outputs, __provider }, again);
    assertFields(kept.outputs, { __provider, resetCount: 2 });
  });

  it("resets counters, and reads keys with few requests", async () => {
    const { outputs } = await plugin.make(counters, { flowControlKey: "orders" });
    assert.deepEqual(secretNames(outputs), ["appliedTrigger"]);
    const before = sent();
    assert.deepEqual((await plugin.read(counters, "orders", outputs, {})).outputs, outputs);
    const read = (flowControlKey: string) => plugin.invoke("rekey:index:getFlowControlKey", { flowControlKey });
    const [orders, unused] = await Promise.all([read("orders"), read("unused"), ...keys.map(read)]);
    assert.equal(orders.exists, true);
    assert.deepEqual({ exists: unused.exists, waitListSize: unused.waitListSize }, { exists: false, waitListSize: 0 });
    const list = await plugin.invoke("rekey:index:getFlowControlKeys", { search: "orders" });
    assert.deepEqual(
      (list.keys as Properties[]).map((key) => key.flowControlKey),
      ["orders"],
    );
    assert.equal(typeof (await plugin.invoke("rekey:index:getGlobalParallelism", {})).parallelismCount, "number");
    // A list, the single read of the key that it does not have, and the two others.
    assert.equal(sent() - before, 4);
    for (const name of ["nonsense", "constructor", "toString", "__proto__"]) {
      await assert.rejects(plugin.invoke(`rekey:index:${name}`, {}), /is not a function of this version/);
    }
  });

  it("lists the databases without their credentials, and without settings of the queue", async () => {
    const list = (settings: Properties) =>
      Plugin.for(platform, { queueUrl: undefined, queueToken: undefined, ...settings }).invoke(getDatabases, {});
    await assert.rejects(list({}), /^SettingsError: rekey:databaseListPath is not set\. .*REKEY_DATABASE_LIST_PATH/);
    assert.equal(sent(), 0);
    const { databases } = await list({ databaseListPath: "/v2/redis/databases" });
    assert.deepEqual(
      (databases as Properties[]).map(({ databaseId }) => databaseId),
      [...platform.databases.keys()],
    );
    const text = JSON.stringify(databases);
    for (const { password, restToken } of platform.databases.values()) {
      assert.ok(!text.includes(password) && !text.includes(restToken), text);
    }
  });

  it("refuses arguments that a function does not have or cannot use, and sends nothing", async () => {
    const refused: readonly { readonly name: string; readonly args: Properties; readonly reason: RegExp }[] = [
      {
        name: "getFlowControlKey",
        args: { flowControlKey: "a", key: "b" },
        reason: /^InputError: key is not one of .* \(known: flowControlKey\)/,
      },
      { name: "getFlowControlKey", args: {}, reason: /^InputError: flowControlKey is required\./ },
      { name: "getDatabases", args: { search: "a" }, reason: /search is not one of .* \(known: none\)/ },
      { name: "getFlowControlKeys", args: { search: ["a"] }, reason: /search must be a string, not a list/ },
    ];
    for (const { name, args, reason } of refused) {
      await assert.rejects(plugin.invoke(`rekey:index:${name}`, args), reason);
    }
    assert.equal(sent(), 0);
  });
});
