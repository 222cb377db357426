import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { checkConfig, isDefaultProvider } from "../../../../provider/engine/plugin/config";
import { Plugin } from "../../../support/plugin";
import { environmentOf } from "../../../support/project";
import { defaultProvider, explicitProvider, type Properties, secret, urnOf } from "../../../support/wire";

describe("plugin service: settings", () => {
  let [own, other]: Platform[] = [];
  const environment = process.env;
  const platforms = () => [own, other] as [Platform, Platform];
  before(async () => {
    own = await startPlatform({ databases: ["db"], flowControlKeys: ["orders"] });
    other = await startPlatform({ databases: ["db"] });
  });
  beforeEach(async () => {
    process.env = { ...environment };
    for (const platform of platforms()) await platform.reset();
  });
  afterEach(() => (process.env = environment));
  after(async () => {
    for (const platform of platforms()) await platform.close();
  });
  const configured = (provider: string, args: Properties) => {
    const plugin = new Plugin();
    plugin.configure(provider, args);
    return plugin;
  };
  const rotate = (plugin: Plugin) => plugin.calls("PasswordRotation").create({ databaseId: "db" }, false);
  const resetKey = (plugin: Plugin) => plugin.calls("FlowControlReset").create({ flowControlKey: "orders" }, false);

  it("are needed before anything else", () => {
    const check = () => new Plugin().check(urnOf("PasswordRotation"), { databaseId: "db" });
    assert.throws(check, /the engine did not configure the provider/);
  });

  it("that do not exist are refused, and a secret one is marked", () => {
    const ofEngine = { version: "0.1.0", pluginDownloadURL: "u", pluginChecksums: {}, __internal: {} };
    const given = { password: "p", username: "u", queueToken: secret("t"), pasword: "x", ...ofEngine };
    const { inputs, failures } = checkConfig(given);
    assert.deepEqual(inputs, { ...given, password: secret("p") });
    assert.equal(failures.length, 1);
    assert.match(failures.join(), /^pasword is not a setting .*did you mean password\?.*REKEY_SETTING_INVALID/);
  });

  it("are those of the stack for the providers that the engine itself names, and for no others", () => {
    const installed = "github_/api.github.com/owner/pulumi-rekey";
    for (const [name, version, expected] of [
      ["default", undefined, true],
      ["default_0_1_0", "0.1.0", true],
      [`default_0_1_0_${installed}`, "0.1.0", true],
      ["default_0_2_0_beta_1_build-7", "0.2.0-beta.1+build-7", true],
      [`default_${installed}`, undefined, true],
      ["defaultEurope", undefined, false],
      ["notdefault", undefined, false],
      ["default_eu", undefined, false],
      ["default_0_1_0", undefined, false],
      ["default", "0.1.0", false],
      ["default_0_1_0_eu", "0.1.0", false],
      ["default_0_1_01", "0.1.0", false],
    ] as const) {
      const isDefault = isDefaultProvider(explicitProvider.replace("second", name), version);
      assert.equal(isDefault, expected, `${name} ${version}`);
    }
  });

  it("that do not exist in the environment are a warning of the default provider", () => {
    process.env["REKEY_USERNAM"] = "u";
    const { said } = configured(defaultProvider, { platform: "upstash" });
    assert.equal(said.length, 1);
    assert.match(said[0] ?? "", /^warning: REKEY_USERNAM is not a setting .*did you mean REKEY_USERNAME\?/);
    assert.deepEqual(configured(explicitProvider, { platform: "upstash" }).said, []);
  });

  it("come from the configuration, then from the environment, unless the program names an account", async () => {
    const [{ url, username, password, queueUsers }] = platforms();
    Object.assign(process.env, environmentOf(platforms()[0]), { REKEY_BASE_URL: "http://127.0.0.1:1" });
    await rotate(configured(defaultProvider, { baseUrl: url, deadlineSeconds: 7 }));
    process.env["REKEY_BASE_URL"] = url;
    await rotate(configured(explicitProvider, { maxConcurrency: "2" }));
    assert.equal(own?.resetCount, 2);

    Object.assign(process.env, environmentOf(platforms()[1]), {
      ...{ UPSTASH_EMAIL: "u", UPSTASH_API_KEY: "k", REKEY_PLATFORM: "upstash" },
      REKEY_QUEUE_USER_ID: [...queueUsers.keys()][0],
      // They describe the other platform.
      ...{ REKEY_DATABASE_HOST: "other.test", REKEY_RESET_PASSWORD_PATH: "/other/{id}" },
    });
    const account = { baseUrl: url, username, password: secret(password) };
    for (const [args, missing] of [
      [{ baseUrl: url, username }, "password"],
      [{ baseUrl: url, password: account.password }, "username"],
      [{ username, password: account.password }, "baseUrl"],
      [{ platform: "upstash" }, "username"],
    ] as const) {
      const advice = `Set ${missing} in the arguments of the provider "second"`;
      const refused = new RegExp(`rekey:${missing}\\b.* not set.*${advice}`, "s");
      await assert.rejects(rotate(configured(explicitProvider, args)), refused);
    }
    await assert.rejects(resetKey(configured(explicitProvider, { queueUrl: url })), /rekey:queueToken is not set/);
    assert.equal(other?.requests.length, 0);
    const { outputs } = await rotate(configured(explicitProvider, account));
    assert.equal(own?.requests.length, 3);
    assert.doesNotMatch(JSON.stringify(outputs), /other\.test/);
    // The queue is that of the environment, but a user of the account there is none of this one.
    await resetKey(configured(explicitProvider, account));
    assert.equal(own?.requests.length, 3);
  });
});
