import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { kindsOfAccount } from "../../../../provider/domain/secretKind";
import { resources } from "../../../../provider/engine/resources";
import { leaksOf } from "../../../support/canaries";
import { credentialsAt, idAt, inputsOf } from "../../../support/kinds";
import { Plugin } from "../../../support/plugin";
import { databasePath } from "../../../support/resources";
import { assertFields, until } from "../../../support/results";
import { secretOutputs } from "../../../support/secretOutputs";
import { Stack } from "../../../support/stack";
import { isSecret, type Properties, revealed, secret, secretNames, unknown, urnOf } from "../../../support/wire";

const id = "db-quickstart";
const urn = urnOf("PasswordRotation");
const rotation = (more: Properties = {}): Properties => ({ databaseId: id, ...more });
const orders = { flowControlKey: "orders" };
const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);

describe("plugin service", () => {
  let platform: Platform;
  let plugin: Plugin;
  before(async () => {
    const databases = [{ database_id: id }, { database_id: "db-second" }];
    const flowControlKeys = ["orders", ...keys];
    platform = await startPlatform({ databases, flowControlKeys, credentials: "always", databasePath });
  });
  beforeEach(async () => {
    await platform.reset();
    plugin = Plugin.for(platform);
  });
  after(() => platform.close());

  const sent = () => platform.requests.length;
  const stackOf = (type = "PasswordRotation", of = plugin) => new Stack(of.calls(type));
  const reader = () => Plugin.for(platform, { databasePath });

  it("plans every output of a new resource as unknown, with the marks of secrets, and sends nothing", async () => {
    for (const [type, inputs] of [
      ["PasswordRotation", rotation()],
      ["FlowControlReset", orders],
    ] as const) {
      const { outputs } = await stackOf(type).preview(inputs);
      const resource = resources[type];
      assert.deepEqual(Object.keys(outputs).sort(), Object.keys(resource.outputs).sort());
      assert.deepEqual(secretNames(outputs), secretOutputs[type]);
      const { [resource.idInput]: own, ...others } = revealed(outputs);
      assert.equal(own, inputs[resource.idInput as never]);
      assert.ok(Object.values(others).every((value) => value === unknown));
    }
    assert.equal(sent(), 0);
  });

  it("plans only what may change of an update as unknown", async () => {
    const stack = stackOf();
    await stack.up(rotation({ version: 1 }));
    const changed = async (more: Properties) => {
      const { outputs } = await stack.preview(rotation({ version: 1, ...more }));
      return Object.keys(outputs)
        .filter((name) => revealed(outputs)[name] === unknown)
        .sort();
    };
    const before = sent();
    assert.ok((await changed({ version: 2 })).includes("password"));
    assert.deepEqual(await changed({ version: unknown }), await changed({ version: 2 }));
    assert.deepEqual(await changed({ version: "1" }), []);
    const urls = ["access", "connectionUrl", "memory", "restUrl"];
    assert.deepEqual(await changed({ connection: { username: "ops" } }), urls);
    assert.deepEqual(await changed({ connection: { host: unknown } }), urls);
    assert.equal(sent(), before);
    await stack.up(rotation({ version: 1, connection: { username: "ops" } }));
    assert.match(String(stack.plain.connectionUrl), /^redis:\/\/ops:/);
    assert.equal(sent(), before);
  });

  it("plans the credential that a verification will prove as the given one, for consumers", async () => {
    for (const credential of ["a-key", unknown]) {
      const inputs = { credential, http: { url: "https://api.example.com" } };
      const { outputs } = await stackOf("CredentialVerification").preview(inputs);
      assertFields(revealed(outputs), { credential, verified: unknown, memory: unknown });
      assert.ok(isSecret(outputs["credential"]));
    }
  });

  it("marks an output like the secret input with its name", async () => {
    const inputs = rotation({ databaseId: secret(id) });
    const stack = stackOf();
    await stack.up(inputs);
    await stack.refresh();
    for (const { outputs } of [await stackOf().preview(inputs), stack.saved ?? assert.fail()]) {
      assert.ok(secretNames(outputs).includes("databaseId"));
    }
  });

  it("marks an admin, and the credential of a verification, whatever they are given as", () => {
    const admin = { host: "redis.example.com", port: 6379, password: "p" };
    const verification = { credential: "a-key", http: { url: "https://api.example.com" } };
    for (const [type, input, inputs] of [
      ["AclUserRotation", "admin", { userName: "app", admin }],
      ["CredentialVerification", "credential", verification],
    ] as const) {
      const checked = plugin.check(urnOf(type), inputs);
      assert.deepEqual([checked.problems, isSecret(checked.inputs[input])], [[], true]);
    }
  });

  it("announces a new resource, once in a preview and once in an up, and a replacement once", async () => {
    const line = /^Resets the password of database "db-\w+", because the resource is new/;
    for (const preview of [true, false]) {
      plugin = Plugin.for(platform);
      await (preview ? stackOf().preview(rotation()) : stackOf().up(rotation()));
      assert.equal(plugin.said.length, 1);
      assert.match(plugin.said.join(), line);
    }
    const stack = stackOf();
    await stack.up(rotation());
    plugin = Plugin.for(platform);
    stack.calls = plugin.calls("PasswordRotation");
    assert.equal((await stack.preview({ databaseId: "db-second" })).did, "replace");
    assert.equal(plugin.said.length, 1);
    assert.match(plugin.said.join(), line);
  });

  it("refuses a second resource for one secret by its URN, and inputs that do not exist", async () => {
    assert.deepEqual(plugin.check(urn, rotation()).problems, []);
    const [second = ""] = plugin.check(urnOf("PasswordRotation", "other"), rotation()).problems;
    assert.match(second, new RegExp(`database "${id}" already belongs to ${urn}: .*REKEY_DUPLICATE_SECRET`));
    assert.deepEqual(plugin.check(urn, rotation()).problems, [], "a replacement checks a resource twice");
    const wrong = plugin.check(urn, { databaseId: unknown, rotateEvery: secret("soon"), nonsense: 1 }).problems;
    assert.match(wrong.join("\n"), /^rotateEvery must be a duration.*\nnonsense is not an argument.*INVALID\]$/s);
    const others = [urnOf("Nonsense"), urn.replace("rekey:index:", "redis:index:"), "no URN"];
    for (const other of others) assert.throws(() => plugin.check(other, {}), /is not a resource of this version/);
    assert.equal(sent(), 0);
  });

  it("does not take a refresh with lost outputs for an import", async () => {
    for (const [type, own, inputs] of [
      ["PasswordRotation", id, rotation({ version: 2 })],
      ["SigningKeyRotation", "signing-keys", { version: 1 }],
      ["FlowControlReset", "orders", orders],
      ["FlowControlLimits", "orders", { ...orders, paused: true }],
    ] as const) {
      const fresh = Plugin.for(platform);
      const stack = stackOf(type, fresh);
      stack.saved = { id: own, outputs: {}, inputs };
      const damaged = /the state is damaged\. No request was made\. Restore it.*REKEY_STATE_UNREADABLE/s;
      await assert.rejects(stack.refresh(), damaged);
      await assert.rejects(stack.up(inputs), damaged);
    }
    assert.equal(sent(), 0);
  });

  const imported = async () => {
    const all = kindsOfAccount.map(async (kind) => {
      const own = await idAt(platform, kind);
      return [kind, own, inputsOf(kind, own)] as const;
    });
    return Promise.all(all);
  };

  it("imports each secret without its values, adopts the program's trigger, and resets none", async () => {
    for (const [kind, of, given] of await imported()) {
      const type = kind.name;
      const canaries: Record<string, string> = { ...(await credentialsAt(platform, kind, of)) };
      const importer = reader();
      const stack = stackOf(type, importer);
      const saved = await stack.import(of);
      const leaks = () => leaksOf(JSON.stringify(stack.saved), canaries);
      const ofId = kind.onlyId === undefined && { [kind.idInput]: of };
      assert.deepEqual(saved.inputs, { ...ofId, initialRotation: false });
      await stack.refresh();
      assert.deepEqual(leaks(), []);
      // The option `import` changes the resource in the same run, the command `pulumi import` in a later one.
      for (const calls of [stack.calls, reader().calls(type)]) {
        Object.assign(stack, { calls, saved });
        await stack.up({ ...given, saveCredentials: false });
        assert.deepEqual(leaks(), []);
        stack.saved = saved;
        assert.equal((await stack.up({ ...given, version: 1 })).outputs.outcome, "adopted");
        assert.notDeepEqual(leaks(), []);
      }
      assert.match(importer.said.join("\n"), /^.* was imported\. .* and nothing is reset\.$/m);
      assert.equal((await stack.preview({ ...given, version: 1 })).did, "same");
      assert.equal((await stack.preview({ ...given, version: 2 })).did, "update");
    }
    assert.deepEqual([platform.resetCount, platform.signingKeys.rolls], [0, 0]);
  });

  it("refuses an import of counters, and by an address, which it does not show", async () => {
    await assert.rejects(stackOf("FlowControlReset").import("orders"), /nothing to import.*REKEY_IMPORT_UNSUPPORTED/s);
    const refused = stackOf().import("redis://default:canary@host:6379");
    await assert.rejects(refused, ({ message }: Error) => /^id must be an id/.test(message) && !/canary/.test(message));
    assert.equal(sent(), 0);
  });

  it("sends no reset after a cancel", async () => {
    plugin.cancel();
    await assert.rejects(
      stackOf().up(rotation()),
      /the run was cancelled.*was not changed\. Run again\. \[REKEY_NOT_SENT\]/s,
    );
    assert.equal(platform.resetCount, 0);
  });

  it("ends the reads after a reset with a cancel, and saves the reset", async () => {
    plugin = Plugin.for(platform, { databasePath, deadlineSeconds: 600 });
    platform.failNext({ method: "GET", status: 200, body: { database_id: id, password: "former" }, times: 1_000 });
    platform.failNext({ method: "POST", status: 200, body: { database_id: id } });
    const stack = stackOf();
    const created = stack.up(rotation());
    // One before the reset, and two after it: the first of them has shown the former password.
    await until(() => platform.requests.filter(({ method }) => method === "GET").length >= 3);
    plugin.cancel();
    await assert.rejects(created, /reads still show the old one.*REKEY_UNCONFIRMED/s);
    const { outcome, password } = stack.plain;
    assert.deepEqual({ outcome, password }, { outcome: "unknown", password: undefined });
  });

  it("lists the databases without settings of the queue", async () => {
    const settings = { queueUrl: undefined, queueToken: undefined, databaseListPath: "/v2/redis/databases" };
    const { databases } = await Plugin.for(platform, settings).invoke("rekey:index:getDatabases", {});
    const ids = (databases as Properties[]).map(({ databaseId }) => databaseId);
    assert.deepEqual(ids, [...platform.databases.keys()]);
  });

  it("refuses functions and arguments that do not exist or cannot be used, and sends nothing", async () => {
    for (const [name, args, reason] of [
      [
        "getFlowControlKey",
        { flowControlKey: "a", flowControlkey: "b" },
        /^InputError: flowControlkey is not an argument \(did you mean flowControlKey\?\)/,
      ],
      ["getFlowControlKey", { flowControlKey: ".." }, /flowControlKey must not be "\.\."/],
      ["getFlowControlKey", {}, /^InputError: flowControlKey is required\./],
      ["getDatabases", { search: "a" }, /search is not an argument \(known: none\)\./],
      ["getFlowControlKeys", { search: ["a"] }, /search must be a string, not a list/],
      ...["nonsense", "constructor", "__proto__"].map(
        (other) => [other, {}, /is not a function of this version/] as const,
      ),
    ] as const) {
      await assert.rejects(plugin.invoke(`rekey:index:${name}`, args), reason);
    }
    assert.equal(sent(), 0);
  });
});
