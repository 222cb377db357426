import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type * as pulumi from "@pulumi/pulumi";
import { type Platform, startPlatform } from "../../local/platform/index";
import { packageVersion } from "../../provider/domain/ownPackage";
import { pulumiPath } from "./engine";
import { EngineStack, fails, onEngine, type Program, type Rekey, succeeds, valuesOf } from "./engineStack";
import { HomeWithPlugin } from "./pluginArchive";

/** Of a resource: `options.provider` is an explicit provider of the plugin. */
type Options = pulumi.CustomResourceOptions;
const { Provider } = require("../fixtures/nativeSdk") as {
  Provider: new (name: string, args: object, options?: Options) => pulumi.ProviderResource;
};

const databases = ["db-1", "db-2", "db-3"];
const platformOptions = { databases, credentials: "always" } as const;
const start = (program: Program, environment = {}): Promise<EngineStack> =>
  EngineStack.start(program, { adapter: "plugin", platform: platformOptions, environment });
const rotation = ({ PasswordRotation }: Rekey, name: string, databaseId: string, options?: Options) =>
  new PasswordRotation(name, { databaseId, version: 1 }, options).password;

onEngine("The native plugin", () => {
  let second: Platform;
  beforeEach(async () => void (second = await startPlatform(platformOptions)));
  afterEach(() => second.close());

  it("uses two accounts in one program, each with its own credentials", async () => {
    let account: object = { baseUrl: second.url, username: second.username, password: second.password };
    let id = "db-2";
    const stack = await start((rekey) => {
      const provider = new Provider("second", account);
      return { first: rotation(rekey, "first", "db-2"), second: rotation(rekey, "second", id, { provider }) };
    });
    const { platform } = stack;
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.deepEqual({ first: platform.resetCount, second: second.resetCount }, { first: 1, second: 1 });
    const passwords = { first: platform.database("db-2").password, second: second.database("db-2").password };
    assert.deepEqual(outputs, passwords);
    account = { ...account, password: undefined };
    id = "db-3";
    await fails(stack.up(), /rekey:password.* not set.*Set password in the arguments of the provider "second"/s);
    assert.deepEqual({ first: platform.requests.length, second: second.requests.length }, { first: 1, second: 1 });
  });

  it("says that limits of a moved resource are unpinned by another process, and retainOnDelete keeps them", async () => {
    const limits = { flowControlKey: "orders", rate: 7 };
    let declare: (plugin: Rekey) => unknown;
    const sdk = (options?: Options) => () =>
      new (require("pulumi-rekey") as Rekey).FlowControlLimits("a", limits, options);
    const plugin = (name: string) => (rekey: Rekey) => new rekey.FlowControlLimits(name, limits);
    const stack = await EngineStack.start((rekey) => void declare(rekey), { adapter: "plugin" });
    const up = async (program: typeof declare, refresh = false) => {
      declare = program;
      const { printed } = await succeeds(stack.up({ refresh }));
      return { printed, isPinned: stack.platform.flowControlKeys.get("orders")?.isPinnedRate };
    };
    await up(sdk());
    const moved = await up(plugin("b"));
    assert.match(moved.printed, /"orders": unpinned rate\. .* `pulumi up --refresh` there to pin them again/);
    assert.equal(moved.isPinned, false);
    assert.equal((await up(plugin("b"), true)).isPinned, true);
    // One process keeps what it has declared.
    assert.equal((await up(plugin("c"))).isPinned, true);
    await up(sdk({ retainOnDelete: true }));
    await up(sdk({ retainOnDelete: true }), true);
    assert.equal((await up(plugin("b"))).isPinned, true);
  });

  it("completes a fleet that ^C has interrupted, of which what was sent is saved", async () => {
    let interrupts = true;
    const stack = await EngineStack.start(
      ({ PasswordRotationFleet }) =>
        void new PasswordRotationFleet("caches", { databases: Object.fromEntries(databases.map((id) => [id, id])) }),
      {
        adapter: "plugin",
        platform: { databases, credentials: "always", onRequest: () => interrupts && stack.interrupt() },
        config: { "rekey:maxConcurrency": "1" },
      },
    );
    const { platform } = stack;
    platform.failNext({ delayMs: 1_000, times: databases.length });
    await fails(stack.up(), /databases failed:\s.*the run was cancelled.*REKEY_FLEET_INCOMPLETE/s);
    assert.ok(platform.resetCount < databases.length, `${platform.resetCount} were sent`);
    const { credentials } = await stack.outputsOf("caches");
    for (const [id, { password }] of Object.entries(credentials as Record<string, { password: string }>)) {
      assert.equal(password, platform.database(id).password);
    }
    assert.equal(Object.keys(credentials as object).length, platform.resetCount);
    interrupts = false;
    await succeeds(stack.up());
    assert.equal(platform.resetCount, databases.length);
  });
});

onEngine("The native plugin, installed", () => {
  let home: HomeWithPlugin;
  before(async () => void (home = await HomeWithPlugin.make(pulumiPath)));
  after(() => home.remove());

  it("changes its version without a request", async () => {
    const [installed, next] = [packageVersion(), "99.0.0"];
    const folderOf = (version: string) => home.path("home", "plugins", `resource-rekey-v${version}`);
    cpSync(folderOf(installed), folderOf(next), { recursive: true });
    const file = join(folderOf(next), "plugin.js");
    const code = readFileSync(file, "utf8");
    writeFileSync(file, code.replaceAll(`version:\`${installed}\``, `version:\`${next}\``));
    assert.notEqual(readFileSync(file, "utf8"), code);

    let version = installed;
    const stack = await start(({ FlowControlReset, PasswordRotation, PasswordRotationFleet }) => {
      new PasswordRotation("cache", { databaseId: "db-1", version: 1 }, { version });
      new FlowControlReset("orders", { flowControlKey: "orders", version: 1 }, { version });
      new PasswordRotationFleet("fleet", { databases: { two: "db-2" } }, { version });
    }, home.environment);
    const { changes } = await succeeds(stack.up());
    const { length } = stack.platform.requests;
    for (version of [next, installed]) {
      for (const run of [() => stack.preview(), () => stack.up()]) {
        assert.deepEqual((await succeeds(run())).changes, { same: changes["create"] });
      }
      await succeeds(stack.refresh());
      const name = `default_${version.replaceAll(".", "_")}`;
      const provider = (await stack.saved()).resources.find(({ urn }) => urn.endsWith(`::${name}`));
      assert.equal(provider?.inputs?.["version"], version);
      assert.equal(stack.platform.requests.length, length);
    }
  });
});
