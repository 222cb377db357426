import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPlatform } from "../../local/platform/index";
import { readPage } from "../docs/page";
import { fails, pluginOnCli, pulumiCli, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { EngineProcess, runEngine } from "../support/engineProcess";
import { onEngine, scene } from "../support/onEngines";
import { findOnPath } from "../support/path";
import { HomeWithPlugin, whyNoPrograms } from "../support/pluginArchive";
import { environmentOf, Project } from "../support/project";
import { runAsync } from "../support/runAsync";
import { packageVersion } from "../../provider/runtime";

const native = (body: string) => `
const { PasswordRotation, PasswordRotationFleet, Provider } = require("pulumi-rekey");
${body}`;

// The tests of PasswordRotation and of each feature run with the native plugin, too.
onEngine(pluginOnCli, `The native plugin, on the ${pulumiCli.name}`, (engine) => {
  const databases = ["db-quickstart", "db-2", "db-3"].map((database_id) => ({ database_id }));
  const options = { databases, credentialsInResponse: "always" } as const;
  const open = (source: string) => scene(engine, source, options);

  it("uses two accounts in one program, each with its own credentials", async () => {
    const second = await startPlatform(options);
    const account = { baseUrl: second.url, username: second.username, password: second.password };
    const { platform, stack, project } = await open(
      native(`const second = new Provider("second", ${JSON.stringify(account)});
exports.first = new PasswordRotation("first", { databaseId: "db-2" }).password;
exports.second = new PasswordRotation("second", { databaseId: "db-2" }, { provider: second }).password;`),
    );
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.deepEqual([platform.resetCount, second.resetCount], [1, 1]);
    const passwords = { first: platform.database("db-2").password, second: second.database("db-2").password };
    assert.deepEqual(outputs, passwords);
    project.rewrite(
      native(`const second = new Provider("second", ${JSON.stringify({ ...account, password: undefined })});
new PasswordRotation("second", { databaseId: "db-3" }, { provider: second });`),
    );
    const { succeeded, printed } = await stack.up();
    assert.equal(succeeded, false);
    assert.match(printed, /rekey:password is not set.*Set password in the arguments of the provider "second"/s);
    assert.deepEqual([platform.requests.length, second.requests.length], [1, 1]);
    await second.close();
  });

  // docs/plugin.md warns of the mapping, which the engine applies before the plugin starts.
  it("falls back to the variables of the process with envVarMappings, and not with arguments", async () => {
    const first = await startPlatform(options);
    const program = (args: string, providerOptions: string) =>
      native(`const second = new Provider("second", ${args}, ${providerOptions});
new PasswordRotation("second", { databaseId: "db-2" }, { provider: second });`);
    const mapped = program("{}", '{ envVarMappings: { SECOND_PASSWORD: "REKEY_PASSWORD" } }');
    const { project, stack } = await scene(engine, mapped, options, environmentOf(first));
    await succeeds(stack.up());
    assert.equal(first.resetCount, 1);
    const args = `{ baseUrl: "${first.url}", username: "second", password: process.env.SECOND_PASSWORD }`;
    project.rewrite(program(args, "{}").replaceAll("db-2", "db-3"));
    await fails(stack.up(), /Set password in the arguments of the provider "second"/);
    assert.equal(first.requests.length, 1);
    await first.close();
  });

  it("warns at resources that move to another account, and resets nothing", async () => {
    const second = await startPlatform(options);
    const account = { baseUrl: second.url, username: second.username, password: second.password };
    const program = (option: string) =>
      native(`const second = new Provider("second", ${JSON.stringify(account)});
new PasswordRotation("one", { databaseId: "db-2", version: 1 }, ${option});
new PasswordRotationFleet("fleet", { databases: { three: { databaseId: "db-3" } } }, ${option});`);
    const { platform, stack, project } = await open(program("{}"));
    await succeeds(stack.up());
    const { length } = platform.requests;
    const warnings = [
      /warning: Database "db-2" was last reset or adopted with another baseUrl or username/,
      /warning: PasswordRotationFleet "fleet": 1 last reset or adopted with another/,
    ];
    project.rewrite(program("{ provider: second }"));
    for (const operation of [stack.preview, stack.up, stack.up]) {
      const { changes, printed } = await succeeds(operation());
      assert.deepEqual(Object.keys(changes), ["same"]);
      for (const warning of warnings) assert.match(printed, warning);
    }
    project.rewrite(program("{}"));
    const { printed } = await succeeds(stack.up());
    for (const warning of warnings) assert.doesNotMatch(printed, warning);
    assert.deepEqual([platform.requests.length, second.requests.length], [length, 0]);
    await second.close();
  });

  it("saves by ^C what was sent, and sends no other reset", async () => {
    let onRequest = (): void => undefined;
    const ids = databases.map(({ database_id }) => database_id);
    const program = native(ids.map((id) => `new PasswordRotation("${id}", { databaseId: "${id}" });`).join("\n"));
    const { platform, project, stack } = await scene(engine, program, { ...options, onRequest: () => onRequest() });
    await stack.setConfig("rekey:maxConcurrency", "1");
    platform.failNext({ delayMs: 1_000, times: ids.length });
    const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview", "--stack", "dev"], project.directory);
    onRequest = () => void up.interrupt();
    assert.match((await up.ended).printed, /the run was cancelled .*nothing was sent.*REKEY_NOT_SENT/);
    onRequest = () => undefined;
    const { resetCount } = platform;
    assert.ok(resetCount < ids.length, `${resetCount} were sent`);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: resetCount + 1, create: ids.length - resetCount });
    assert.equal(platform.resetCount, ids.length);
  });

  it("imports databases without a request", async () => {
    const imported = (version: number) =>
      native(`new PasswordRotation("it", { databaseId: "db-2", version: ${version} }, { import: "db-2" });`);
    const { platform, project, stack } = await open(imported(1));
    await succeeds(stack.preview());
    await succeeds(stack.up());
    const command = ["import", "rekey:index:PasswordRotation", "other", "db-3", "--yes", "--generate-code=false"];
    const { code, printed } = await runEngine(engine, [...command, "--stack", "dev"], project.directory);
    assert.equal(code, 0, printed);
    assert.deepEqual((await succeeds(stack.refresh())).succeeded, true);
    assert.equal(platform.requests.length, 0);
    project.rewrite(imported(2));
    await stack.up();
    assert.equal(platform.resetCount, 1);
  });

  it("refuses a duplicate of a targeted run in the next full run, with advice", async () => {
    const both = ["a", "b"].map((name) => `new PasswordRotation("${name}", { databaseId: "db-2", version: 1 });`);
    const { platform, project, stack } = await open(native(both[0] ?? ""));
    await succeeds(stack.up());
    project.rewrite(native(both.join("\n")));
    const target = `urn:pulumi:dev::program::rekey:index:PasswordRotation::b`;
    const command = ["up", "--yes", "--skip-preview", "--stack", "dev", "--target", target];
    const { code, printed } = await runEngine(engine, command, project.directory);
    assert.deepEqual([code, platform.resetCount], [0, 2], printed);
    await fails(
      stack.preview(),
      /Remove one of them\. If both have reset it, .*set a new version on the one that stays/,
    );
    project.rewrite(native((both[0] ?? "").replace("version: 1", "version: 2")));
    const preview = await succeeds(stack.preview());
    assert.match(preview.printed, /The password of database "db-2" will be reset: version or triggers have changed\./);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
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

  const host = "pulumi-language-yaml";
  const found = spawnSync("sh", ["-c", `command -v ${host}`]).status === 0;
  (found ? it : it.skip)(`serves a YAML program${found ? "" : ` (skipped: no ${host} on PATH)`}`, async () => {
    const project = new Project("", { native: true });
    project.write(
      "Pulumi.yaml",
      `name: program
runtime: yaml
plugins: { providers: [{ name: rekey, path: ./plugin }] }
resources:
  cache:
    type: rekey:PasswordRotation
    properties: { databaseId: db-quickstart, version: 1 }
  fleet:
    type: rekey:PasswordRotationFleet
    properties: { databases: { two: { databaseId: db-2 }, three: { databaseId: db-3, version: 1 } } }
variables:
  key:
    fn::invoke: { function: rekey:getFlowControlKey, arguments: { flowControlKey: orders } }
outputs:
  password: \${cache.password}
  three: \${fleet.databases["three"].outcome}
  exists: \${key.exists}
`,
    );
    const { platform, stack } = await scene(engine, project, options);
    await succeeds(stack.preview());
    assert.equal(platform.resetCount, 0);
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.deepEqual(outputs, {
      password: platform.database("db-quickstart").password,
      three: "reset",
      exists: true,
    });
    assert.equal(platform.resetCount, 3);
    assert.deepEqual(Object.keys((await succeeds(stack.up())).changes), ["same"]);
    assert.equal(platform.resetCount, 3);
  });
});

const cli = { ...pulumiCli, unavailable: whyNoPrograms("pulumi-language-yaml") };
onEngine(cli, `Versions of the native plugin, on the ${pulumiCli.name}`, (engine) => {
  it("change without a request", async () => {
    const home = await HomeWithPlugin.make();
    const [installed, next] = [packageVersion(), "99.0.0"];
    const folderOf = (version: string) => home.path("home", "plugins", `resource-rekey-v${version}`);
    cpSync(folderOf(installed), folderOf(next), { recursive: true });
    const executable = join(folderOf(next), "pulumi-resource-rekey");
    const code = readFileSync(executable, "utf8");
    writeFileSync(executable, code.replaceAll(`version:\`${installed}\``, `version:\`${next}\``));
    assert.notEqual(readFileSync(executable, "utf8"), code);

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
    const { platform, stack } = await scene(engine, project, { databases }, home.environment);
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

onEngine(pulumiCli, `The native plugin without Node, on the ${pulumiCli.name}`, () => {
  it("does not start; docs/errors.md explains what Pulumi prints", async () => {
    const home = await HomeWithPlugin.make();
    mkdirSync(home.path("bin"));
    symlinkSync(findOnPath("pulumi") ?? assert.fail(), home.path("bin", "pulumi"));
    const env = { ...home.environment, PATH: home.path("bin") };
    const command = ["package", "get-schema", "rekey"];
    const { code, output } = await runAsync(home.path("bin", "pulumi"), command, { cwd: home.directory, env });
    home.remove();
    assert.notEqual(code, 0);
    assert.match(output, /Detected that .* exited prematurely[^]*node.*No such file or directory/);
    assert.match(readPage("docs/errors.md").text, /`Detected that … exited prematurely`.*`No such file or directory`/);
  });
});
