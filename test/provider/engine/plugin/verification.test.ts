import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { type Registration } from "../../../../provider/engine/plugin/component";
import { Plugin, PluginRun } from "../../../support/plugin";
import { type Properties, reference, revealed, secret, secretNames, unknown, urnOf } from "../../../support/wire";
import { Team } from "../../../support/age";
import { leaksOf } from "../../../support/canaries";
import { assertFields } from "../../../support/results";

/** A resource that is verified, and the input that takes it. */
interface Verified {
  readonly type: string;
  readonly inputs: Properties;
  readonly input: "rotation" | "fleet";
  readonly settings?: Properties;
}

const single: Verified = { type: "PasswordRotation", inputs: { databaseId: "db-1" }, input: "rotation" };
const databasePath = "/v2/keyvalue/database/{id}";
const tokens: Readonly<Record<string, Verified>> = {
  "vector index idx-1": { type: "VectorTokenRotation", inputs: { indexId: "idx-1" }, input: "rotation" },
  "search index idx-2": { type: "SearchTokenRotation", inputs: { indexId: "idx-2" }, input: "rotation" },
  "queue user user-1": { type: "QueueTokenRotation", inputs: { queueUserId: "user-1" }, input: "rotation" },
};
const fleet: Verified = {
  type: "PasswordRotationFleet",
  inputs: { databases: { a: "db-1", b: "db-2" }, includeRecords: true },
  input: "fleet",
};

describe("plugin service: PasswordVerification", () => {
  let platform: Platform;
  let saved: Map<string, Properties>;
  before(async () => {
    const databases = ["db-1", "db-2"].map((database_id) => ({ database_id }));
    platform = await startPlatform({
      databases,
      vectorIndexes: ["idx-1"],
      searchIndexes: ["idx-2"],
      queueUsers: ["user-1"],
      credentials: "always",
      databasePath,
    });
  });
  beforeEach(async () => {
    await platform.reset();
    saved = new Map();
  });
  after(() => platform.close());

  /** What the last run registered, and what it showed. */
  let registered: Registration[];
  let said: readonly string[];

  /** One run of a program with a rotation or a fleet, and its verification. */
  async function up({ type, inputs, input, settings }: Verified, more: Properties = {}, preview = false) {
    const { version, ...verification } = more;
    const plugin = Plugin.for(platform, { queueToken: undefined, queueUserId: "user-1", ...settings });
    const run = new PluginRun(plugin, saved, preview);
    ({ registered } = run);
    ({ said } = plugin);
    const all = { ...inputs, ...(version !== undefined && { version }) };
    const custom = { type: `rekey:index:${type}`, name: "it", parent: "", custom: true, inputs: all, aliases: [] };
    const { urn } = input === "fleet" ? await run.construct(type, "it", all) : await run.register(custom);
    const given = { [input]: reference(urn), withinSeconds: 0.1, ...verification };
    return { verified: urn, ...(await run.construct("PasswordVerification", "proof", given)) };
  }

  const child = () => registered.at(-1) ?? assert.fail();
  const accessOf = () => {
    const [target] = JSON.parse(revealed(child().inputs).targets as string) as { access: Properties }[];
    return target?.access ?? assert.fail();
  };

  for (const verified of [single, fleet]) {
    it(`verifies a ${verified.input}: the new password, and later that the former one is refused`, async () => {
      const { outputs, children, verified: urn } = await up(verified, { version: 1, withinSeconds: undefined });
      assert.deepEqual(Object.keys(outputs).sort(), ["verified", "verifiedAt"]);
      const component = registered.at(-2);
      assertFields(component, { type: "rekey:index:PasswordVerification", aliases: [] });
      assert.deepEqual(children, [urnOf("PasswordVerificationTargets", "proof")]);
      const { inputs, aliases } = child();
      assert.deepEqual(Object.keys(inputs).sort(), ["subject", "targets"]);
      assert.deepEqual(secretNames(inputs), ["targets"]);
      assert.equal(inputs.subject, verified === fleet ? urn : "db-1");
      assert.deepEqual(aliases, [{ type: "pulumi-nodejs:dynamic/rekey:PasswordVerification", parent: "" }]);
      assert.deepEqual((await up(verified, { version: 1 })).outputs, outputs);
      assert.equal((await up(verified, { version: 2 })).outputs.formerRefused, true);
    });

    it(`contacts nothing in the preview of a ${verified.input}`, async () => {
      const { outputs } = await up(verified, {}, true);
      assert.ok(Object.values(outputs).every((value) => value === unknown));
      assert.deepEqual(child().inputs.targets, secret(unknown));
      const later = await up(verified);
      assert.deepEqual((await up(verified, {}, true)).outputs, later.outputs);
      await up(verified, { host: unknown }, true);
      assert.deepEqual(child().inputs.targets, secret(unknown));
    });
  }

  for (const [subject, verified] of Object.entries(tokens)) {
    it(`verifies the token of the ${subject}`, async () => {
      const { outputs } = await up(verified, { version: 1 });
      assert.deepEqual(Object.keys(outputs).sort(), ["verified", "verifiedAt"]);
      assert.equal(child().inputs.subject, subject);
      assert.deepEqual((await up(verified, { version: 1 })).outputs, outputs);
      assert.equal((await up(verified, { version: 2 })).outputs.formerRefused, true);
      platform.failNext({ path: /info|globalParallelism/, status: 401, times: 99 });
      await assert.rejects(up(verified, { version: 3 }), /the new token is refused: the platform responded with 401/);
    });
  }

  for (const [what, verified] of Object.entries({ ...tokens, "database of a fleet": fleet })) {
    it(`reads the credential of a ${what} that is not saved`, async () => {
      const unsaved = {
        ...verified,
        inputs: { ...verified.inputs, saveCredentials: false },
        settings: { databasePath },
      };
      // The rotation reads before its reset what it replaces, and has the same provider.
      for (const version of [1, 2]) {
        const { outputs } = await up(unsaved, { version });
        assertFields(outputs, { verified: true, formerRefused: true });
        assert.deepEqual((await up(unsaved, { version })).outputs, outputs);
      }
      const { databases, vectorIndexes, searchIndexes, queueUsers } = platform;
      const current = [...databases.values()].map(({ password }) => password);
      for (const all of [vectorIndexes, searchIndexes, queueUsers]) {
        current.push(...[...all.values()].map(({ token }) => token));
      }
      assert.deepEqual(
        leaksOf(JSON.stringify([...saved.values(), registered]), Object.fromEntries(current.entries())),
        [],
      );
    });
  }

  for (const verified of [single, fleet]) {
    it(`refuses in a preview to verify a ${verified.input} whose credentials are neither saved nor read`, async () => {
      const { recipient } = await Team.create();
      const inputs = { ...verified.inputs, saveCredentials: false, encryptFor: [recipient] };
      const refusal = /saveCredentials: false, and this platform cannot be read.*Set rekey:databasePath/;
      await assert.rejects(up({ ...verified, inputs }, {}, true), refusal);
      await up({ ...verified, inputs, settings: { databasePath } }, {}, true);
      await up({ ...verified, inputs: { ...inputs, saveCredentials: true } }, {}, true);
      assert.deepEqual(platform.requests, []);
    });
  }

  it("connects as the rotation does, unless its own inputs say otherwise", async () => {
    await up(single);
    const first = accessOf();
    const { password, record } = platform.database("db-1");
    assert.deepEqual(first, { host: "127.0.0.1", port: record.port, tls: false, credential: { password } });
    const named = { ...single, inputs: { ...single.inputs, username: "{id}:", port: record.port } };
    await assert.rejects(up(named), /the new password is refused/);
    await up(named, { username: "default", tls: false, port: null });
    assert.deepEqual(accessOf(), { ...first, credential: { username: "default", password } });
    await assert.rejects(up({ ...single, inputs: { ...single.inputs, tls: true } }), /could not be tried/);
    assert.equal(accessOf().tls, true);
    await assert.rejects(up(single, { host: "db.invalid" }), /could not be tried: .*\(rediss:\/\/db\.invalid:/s);
  });

  it("finds a database whose URL was not saved by its record", async () => {
    await up(single);
    const urn = urnOf("PasswordRotation", "it");
    const { connectionUrl, ...earlier } = saved.get(urn) ?? {};
    assert.ok(connectionUrl);
    saved.set(urn, earlier);
    await up(single);
    assert.equal(accessOf().port, platform.database("db-1").record.port);
  });

  it("verifies none of the credentials of an unconfirmed or adopted database", async () => {
    const adopted = { ...single, inputs: { databaseId: "db-2", initialRotation: false } };
    assert.deepEqual((await up(adopted)).outputs, { verified: false });
    assert.deepEqual(said.slice(1), ['proof: warning: Not verified, because no current credential is known: "db-2".']);
  });

  it("finds no URL of a database whose name every object inherits", async () => {
    const inputs = { databases: { constructor: "db-2" }, initialRotation: false };
    assert.deepEqual((await up({ ...fleet, inputs })).outputs, { verified: false });
  });

  const rotation = reference(urnOf("PasswordRotation"));
  const refused: Readonly<Record<string, { inputs: Properties; says: RegExp }>> = {
    "nothing to verify": { inputs: { rotation: null }, says: /^rotation or fleet must be set/ },
    "two resources to verify": { inputs: { rotation, fleet: rotation }, says: /^rotation or fleet must be set/ },
    "a text": {
      inputs: { rotation: "db-1" },
      says: /^rotation must be a PasswordRotation, .* or QueueTokenRotation, the resource itself\./,
    },
    "a rotation as a fleet": { inputs: { fleet: rotation }, says: /^fleet must be a PasswordRotationFleet/ },
    "signing keys": {
      inputs: { rotation: reference(urnOf("SigningKeyRotation")) },
      says: /^rotation must not be a SigningKeyRotation: the read after its roll already shows/,
    },
    "where a queue is": {
      inputs: { rotation: reference(urnOf("QueueTokenRotation")), port: 1 },
      says: /^port is for databases only: a QueueTokenRotation has its own address/,
    },
    "an unknown input": {
      inputs: { rotation, withinSecond: 1 },
      says: /^withinSecond is not one of its inputs \(known: .*withinSeconds/,
    },
    "a time that is not one": { inputs: { rotation, withinSeconds: secret(0) }, says: /^withinSeconds must be/ },
    "plain text": {
      inputs: { rotation, tls: false, host: "{id}.net" },
      says: /^tls must not be false unless host is this machine/,
    },
  };
  for (const [what, { inputs, says }] of Object.entries(refused)) {
    it(`refuses ${what}, and registers nothing`, async () => {
      const run = new PluginRun(Plugin.for(platform), saved);
      await assert.rejects(run.construct("PasswordVerification", "proof", inputs), ({ message }: Error) => {
        assert.match(message, says);
        return true;
      });
      assert.deepEqual({ registered: run.registered, requests: platform.requests }, { registered: [], requests: [] });
    });
  }

  it("reports after the reset what it cannot verify, and does not deny the reset", async () => {
    const withoutPort = { database_id: "db-1", endpoint: "127.0.0.1", password: "p" };
    platform.failNext({ path: /reset-password/, body: withoutPort });
    const wrong = { ...single, inputs: { ...single.inputs, version: 1 } };
    const reported =
      /^InputError: port is unknown for database "db-1": the platform's record has none\. Set port\. Correct this.*already sent is saved.*REKEY_INPUT_INVALID/;
    await assert.rejects(up(wrong), reported);
    assert.equal(saved.get(urnOf("PasswordRotation"))?.outcome, "reset");
  });
});
