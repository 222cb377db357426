import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { PluginRun } from "../../support/pluginRun";
import { Plugin, urnOf } from "../../support/pluginService";
import { type Properties, reference, revealed, secret, secretNames, unknown } from "../../support/wire";

const single = { type: "PasswordRotation", inputs: { databaseId: "db-1" }, input: "rotation" };
const fleet = {
  type: "PasswordRotationFleet",
  inputs: { databases: { a: "db-1", b: "db-2" }, includeRecords: true },
  input: "fleet",
};

describe("plugin service: PasswordVerification", () => {
  let platform: Platform;
  let saved: Map<string, Properties>;
  before(async () => {
    const databases = ["db-1", "db-2"].map((database_id) => ({ database_id }));
    platform = await startPlatform({ databases, credentialsInResponse: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    saved = new Map();
  });
  after(() => platform.close());

  /** One run of a program with a rotation or a fleet, and its verification. */
  async function up({ type, inputs, input }: typeof single | typeof fleet, more: Properties = {}, preview = false) {
    const { version, ...verification } = more;
    const run = new PluginRun(Plugin.for(platform), saved, preview);
    const all = { ...inputs, ...(version !== undefined && { version }) };
    const { urn } =
      input === "fleet"
        ? await run.construct(type, "it", all)
        : await run.register({
            type: `rekey:index:${type}`,
            name: "it",
            parent: "",
            custom: true,
            inputs: all,
            aliases: [],
          });
    const given = { [input]: reference(urn), withinSeconds: 0.1, ...verification };
    const { outputs } = await run.construct("PasswordVerification", "proof", given);
    return { urn, outputs, child: run.registered.at(-1) ?? assert.fail() };
  }

  for (const verified of [single, fleet]) {
    it(`verifies a ${verified.input}: the new password, and later that the former one is refused`, async () => {
      const { outputs, child, urn } = await up(verified, { version: 1 });
      assert.deepEqual([outputs.verified, outputs.formerRefused], [true, undefined]);
      assert.deepEqual(secretNames(child.inputs), ["targets"]);
      assert.equal(child.inputs.subject, verified === fleet ? urn : "db-1");
      assert.deepEqual(child.aliases, [{ type: "pulumi-nodejs:dynamic/rekey:PasswordVerification", parent: "" }]);
      assert.deepEqual((await up(verified, { version: 1 })).outputs, outputs);
      assert.equal((await up(verified, { version: 2 })).outputs.formerRefused, true);
    });

    it(`contacts nothing in the preview of a ${verified.input}`, async () => {
      const { outputs, child } = await up(verified, {}, true);
      assert.ok(Object.values(outputs).every((value) => value === unknown));
      assert.deepEqual(child.inputs.targets, secret(unknown));
      const later = await up(verified);
      assert.deepEqual((await up(verified, {}, true)).outputs, later.outputs);
      assert.deepEqual((await up(verified, { host: unknown }, true)).child.inputs.targets, secret(unknown));
    });
  }

  it("fails if the former password is still accepted, and verifies again without a reset", async () => {
    await up(single, { version: 1 });
    platform.failNext({ path: /reset-password/, keepFormerPassword: true });
    const refused = /the former password is still accepted.*REKEY_VERIFICATION_FAILED/s;
    await assert.rejects(up(single, { version: 2 }), refused);
    await assert.rejects(up(single, { version: 2 }), refused);
    assert.equal(platform.resetCount, 2);
  });

  it("connects as the rotation does, unless its own inputs say otherwise", async () => {
    const accessOf = ({ child }: { child: { inputs: Properties } }) => {
      const [target] = JSON.parse(revealed(child.inputs).targets as string) as { access: Properties }[];
      return target?.access ?? assert.fail();
    };
    const { password, record } = platform.database("db-1");
    assert.ok(password);
    const first = accessOf(await up(single));
    const credential = { password: platform.database("db-1").password };
    assert.deepEqual(first, { host: "127.0.0.1", port: record.port, tls: false, credential });
    const named = { ...single, inputs: { ...single.inputs, username: "{id}:", port: record.port } };
    await assert.rejects(up(named), /the new password is refused/);
    const given = accessOf(await up(named, { username: "default", tls: false, port: null }));
    assert.deepEqual(given, { ...first, credential: { username: "default", ...credential } });
    const elsewhere = up(single, { host: "db.invalid" });
    await assert.rejects(elsewhere, /could not be tried: .*\(rediss:\/\/db\.invalid:/s);
  });

  it("verifies none of the credentials of an unconfirmed or adopted database", async () => {
    const adopted = { ...single, inputs: { databaseId: "db-2", initialRotation: false } };
    assert.deepEqual((await up(adopted)).outputs, { verified: false });
  });

  it("refuses anything but a rotation or a fleet, and sends nothing", async () => {
    const rotation = reference(urnOf("PasswordRotation"));
    for (const inputs of [{}, { rotation: "db-1" }, { rotation, fleet: rotation }, { rotation: null }]) {
      const run = new PluginRun(Plugin.for(platform), saved);
      const refused = /^InputError: rotation or fleet must be set.*Nothing was sent.*REKEY_INPUT_INVALID/s;
      await assert.rejects(run.construct("PasswordVerification", "proof", inputs), refused);
    }
    assert.equal(platform.requests.length, 0);
  });
});
