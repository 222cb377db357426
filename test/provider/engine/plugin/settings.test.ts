import assert from "node:assert/strict";
import { checkConfig, diffConfig } from "../../../../provider/engine/plugin/config";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { environmentOf } from "../../../support/project";
import { argsFor, Plugin } from "../../../support/plugin";
import { explicitProvider, type Properties, secret, urnOf } from "../../../support/wire";

const urn = urnOf("PasswordRotation");
const counters = urnOf("FlowControlReset");
const rotation = (): Properties => ({ databaseId: "db-quickstart" });

describe("plugin service: settings", () => {
  let [first, second]: Platform[] = [];
  const environment = process.env;
  const platforms = () => [first, second] as [Platform, Platform];
  before(async () => {
    first = await startPlatform();
    second = await startPlatform();
  });
  beforeEach(async () => {
    process.env = { ...environment };
    for (const platform of platforms()) await platform.reset();
  });
  afterEach(() => (process.env = environment));
  after(async () => {
    for (const platform of platforms()) await platform.close();
  });
  const make = (plugin: Plugin) => plugin.make(urn, rotation());
  const configured = (provider: string, args: Properties) => {
    const plugin = new Plugin();
    plugin.configure(provider, args);
    return plugin;
  };
  const named = (name: string) => explicitProvider.replace("second", name);
  const resets = () => platforms().map(({ resetCount }) => resetCount);

  const engineInputs = { version: "0.1.0", pluginDownloadURL: "u", pluginChecksums: {}, __internal: {} };

  it("are needed before anything else", async () => {
    await assert.rejects(new Plugin().check(urn, rotation()), /the engine did not configure the provider/);
  });

  it("that do not exist are refused, and a secret one is marked", () => {
    const { inputs, failures } = checkConfig({
      password: "p",
      username: "u",
      queueToken: secret("t"),
      pasword: "x",
      ...engineInputs,
    });
    const marked = { password: secret("p"), queueToken: secret("t") };
    assert.deepEqual(inputs, { ...marked, username: "u", pasword: "x", ...engineInputs });
    assert.equal(failures.length, 1);
    assert.match(failures.join(), /^pasword is not a setting .*did you mean password\?.*REKEY_SETTING_INVALID/);
  });

  it("that change are named, written with or without a mark", () => {
    const olds = { username: "u", password: secret("p"), proxy: "a" };
    assert.deepEqual(diffConfig(olds, { username: "v", password: "p", caFile: "f" }), ["username", "proxy", "caFile"]);
  });

  it("come from the configuration, then from the environment, unless the program names an account", async () => {
    const [platform] = platforms();
    Object.assign(process.env, environmentOf(platform));
    const address = { baseUrl: argsFor(platform).baseUrl, deadlineSeconds: 7 };
    const installed = "github_/api.github.com/owner/pulumi-rekey";
    const defaults = [
      { name: "default" },
      { name: "default_0_1_0", version: "0.1.0" },
      { name: `default_0_1_0_${installed}`, version: "0.1.0" },
      { name: "default_0_2_0_beta_1_build-7", version: "0.2.0-beta.1+build-7" },
      { name: `default_${installed}` },
    ];
    for (const { name, ...own } of defaults) await make(configured(named(name), { ...address, ...own }));
    await make(configured(explicitProvider, { maxConcurrency: "2" }));
    assert.deepEqual(resets(), [defaults.length + 1, 0]);
  });

  it("of an explicit provider with an account never come from the environment of another", async () => {
    const [own, other] = platforms();
    const { url, username, password } = own;
    Object.assign(process.env, environmentOf(other), {
      UPSTASH_EMAIL: "u",
      UPSTASH_API_KEY: "k",
      REKEY_PLATFORM: "upstash",
    });
    const partial: readonly { readonly args: Properties; readonly missing: string }[] = [
      { args: { baseUrl: url, username }, missing: "password" },
      { args: { baseUrl: url, password: secret(password) }, missing: "username" },
      { args: { username, password: secret(password) }, missing: "baseUrl" },
      { args: { platform: "upstash" }, missing: "username" },
    ];
    for (const { args, missing } of partial) {
      const refused = new RegExp(
        `rekey:${missing}\\b.* not set.*Set ${missing} in the arguments of the provider "second"`,
        "s",
      );
      await assert.rejects(make(configured(explicitProvider, args)), refused);
    }
    await assert.rejects(
      configured(explicitProvider, { queueUrl: url }).make(counters, { flowControlKey: "orders" }),
      /rekey:queueToken is not set/,
    );
    const users = { queueUrl: url, queueUserId: "u" };
    await assert.rejects(
      configured(explicitProvider, users).make(counters, { flowControlKey: "orders" }),
      /rekey:baseUrl, rekey:username, and rekey:password are not set/,
    );
    assert.deepEqual({ own: own.requests.length, other: other.requests.length }, { own: 0, other: 0 });
    // A user of the account in the environment is none of this one.
    process.env["REKEY_QUEUE_USER_ID"] = [...own.queueUsers.keys()][0];
    const ownAccount = configured(explicitProvider, { baseUrl: url, username, password: secret(password) });
    await ownAccount.make(counters, { flowControlKey: "orders" });
    assert.equal(own.requests.length, 0);
    const almostDefault: readonly { readonly name: string; readonly version?: string }[] = [
      { name: "defaultEurope" },
      { name: "notdefault" },
      { name: "default_eu" },
      { name: "default_0_1_0" },
      { name: "default", version: "0.1.0" },
      { name: "default_0_1_0_eu", version: "0.1.0" },
      { name: "default_0_1_01", version: "0.1.0" },
    ];
    for (const { name, ...own } of almostDefault) {
      const refused = make(configured(named(name), { ...own, baseUrl: url, username }));
      await assert.rejects(refused, /rekey:password is not set/, name);
    }
    await make(configured(explicitProvider, { baseUrl: url, username, password: secret(password) }));
    assert.deepEqual(resets(), [1, 0]);
  });

  it("are limits of one provider instance", async () => {
    const [platform] = platforms();
    const plugins = [Plugin.for(platform, { maxResetsPerRun: 0 }), Plugin.for(platform, { maxResetsPerRun: "1" })];
    await assert.rejects(make(plugins[0] as Plugin), /REKEY_RESET_LIMIT/);
    await make(plugins[1] as Plugin);
    assert.deepEqual(resets(), [1, 0]);
  });
});
