import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo } from "node:net";
import { caFile, certificate } from "../faults/certificates";
import { fails, pulumiCli, resourceNamed, succeeds } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { Folder } from "../support/folder";
import { fixture, onEngine } from "../support/onEngines";
import { archiveName, HomeWithPlugin, PluginSource, whyNoPrograms } from "../support/pluginArchive";
import { Project } from "../support/project";
import { resetIds, SavedStack, unconfirmedIds } from "../support/savedStacks";
import { runAsync } from "../support/processes";
import { packageVersion } from "../../provider/platform/version";

/** As in a released schema: while there is no public repository, the schema has no address. */
const downloadUrl = "github://api.github.com/acme/rotations";

/** A project with a program in YAML. @param address whether it has the address of the plugin */
function yamlProject(program: string, { address }: { address: boolean }): Project {
  const project = new Project("");
  project.write("Pulumi.yaml", `name: program\nruntime: yaml\n${program}`);
  if (address) writeAddress(project);
  return project;
}

/** What `pulumi package add` writes for a program in YAML. */
function writeAddress(project: Project): void {
  const lines = ["packageDeclarationVersion: 1", "name: rekey", `version: ${packageVersion()}`];
  project.write("sdks/rekey.yaml", [...lines, `downloadUrl: ${downloadUrl}`].join("\n"));
}

/** Two accounts. */
const program = (platform: { url: string; username: string; password: string }) => `
resources:
  sessions:
    type: rekey:PasswordRotation
    properties: { databaseId: db-sessions, version: 1 }
  verification:
    type: rekey:PasswordVerification
    properties: { rotation: "\${sessions}" }
  fleet:
    type: rekey:PasswordRotationFleet
    properties: { databases: { carts: { databaseId: db-carts } } }
  orders:
    type: rekey:FlowControlReset
    properties: { flowControlKey: orders, version: 1 }
  second:
    type: pulumi:providers:rekey
    properties: { baseUrl: "${platform.url}", username: "${platform.username}", password: "${platform.password}" }
  users:
    type: rekey:PasswordRotation
    properties: { databaseId: db-users, version: 1 }
    options: { provider: "\${second}" }
`;

/** As in test/fixtures/commit-95e65e9/native/index.js. */
const recordedProgram = `
resources:
  single:
    type: rekey:PasswordRotation
    properties: { databaseId: single, version: one, triggers: { owner: ops }, rotateEvery: 3650d }
  hosted:
    type: rekey:PasswordRotation
    properties: { databaseId: hosted, version: 1, host: db.example.com, port: 6390, tls: true, username: ops }
  adopted:
    type: rekey:PasswordRotation
    properties: { databaseId: adopted, version: 1, initialRotation: false }
  unread:
    type: rekey:PasswordRotation
    properties: { databaseId: unread, version: 2 }
  unconfirmed:
    type: rekey:PasswordRotation
    properties: { databaseId: unconfirmed, version: 2 }
  undecided:
    type: rekey:PasswordRotation
    properties: { databaseId: undecided, version: 2 }
  first:
    type: rekey:PasswordRotation
    properties: { databaseId: first }
  fleet:
    type: rekey:PasswordRotationFleet
    properties:
      databases: { a: { databaseId: fleet-a }, b: { databaseId: fleet-b, version: 2 } }
      version: 1
      includeRecords: true
  plain:
    type: rekey:PasswordRotationFleet
    properties:
      databases: { c: { databaseId: fleet-c }, d: { databaseId: fleet-d } }
      version: 2
  verification:
    type: rekey:PasswordVerification
    name: single
    properties: { rotation: "\${single}" }
  fleetVerification:
    type: rekey:PasswordVerification
    name: fleet
    properties: { fleet: "\${fleet}" }
  orders:
    type: rekey:FlowControlReset
    properties: { flowControlKey: orders, version: incident-4711 }
  emails:
    type: rekey:FlowControlLimits
    properties: { flowControlKey: emails, parallelism: 5, rate: 10, period: 1m, paused: true }
outputs:
  password: \${single.password}
  connectionUrl: \${single.connectionUrl}
  fleet: \${fleet.databases}
  plain: \${plain.databases}
  resetCount: \${orders.resetCount}
  rate: \${emails.rate}
`;

const cli = { ...pulumiCli, unavailable: whyNoPrograms("pulumi-language-yaml") };
onEngine(cli, `The plugin that ${pulumiCli.name} installs`, (engine) => {
  const databases = ["db-sessions", "db-carts", "db-users"];
  let source: PluginSource;
  let folder: Folder;
  before(async () => void (source = await PluginSource.start()));
  beforeEach(() => void (folder = new Folder()));
  afterEach(() => folder.remove());
  after(() => source.stop());

  it("goes on with a stack of a plugin that was installed from a file", async () => {
    const home = await HomeWithPlugin.make();
    const project = yamlProject("", { address: false });
    const { platform, stack } = await fixture(engine, project, { databases, credentials: "always" }, home.environment);
    project.write("Pulumi.yaml", `name: program\nruntime: yaml\n${program(platform)}`);
    const { changes: first } = await succeeds(stack.up());
    const providerIn = async (name: string) => resourceNamed(await stack.exportState(), name);
    assert.notEqual(await providerIn("default"), undefined);
    const sent = platform.requests.length;
    assert.equal(platform.resetCount, databases.length);

    writeAddress(project);
    const run = async (operation: string, ...options: string[]) => {
      // Each operation runs on a machine that has no plugin yet.
      const other = source.environment(folder.path(`home ${source.requested.length}`));
      const command = [operation, "--stack", "dev", "--yes", "--skip-preview", ...options];
      const { code, printed } = await runEngine(engine, command, project.directory, other);
      assert.equal(code, 0, printed);
      return printed;
    };
    // The explicit provider now has the version of the plugin.
    const changed = new RegExp(`~ 1 updated\\n +${Number(first["create"]) - 1} unchanged\\n`);
    const printed = await run("up");
    assert.match(printed, changed);
    assert.doesNotMatch(printed, /warning/);
    const name = `default_${packageVersion().replaceAll(".", "_")}_${downloadUrl.replace("//", "/").replace(":", "_")}`;
    assert.notEqual(await providerIn(name), undefined, JSON.stringify(await stack.exportState()));
    await run("up", "--expect-no-changes");
    await run("refresh", "--expect-no-changes");
    assert.equal(platform.requests.length, sent);
    home.remove();
  });

  it("updates only unconfirmed resets in a stack that an earlier commit saved", async () => {
    const saved = new SavedStack("native");
    const project = yamlProject(recordedProgram, { address: true });
    const environment = source.environment(folder.path("home"));
    const { platform, stack } = await fixture(engine, project, saved.platformOptions, environment);
    project.write("stack.json", JSON.stringify(saved.stateAt(platform)));
    const command = ["stack", "import", "--stack", "dev", "--file", "stack.json"];
    const imported = await runEngine(engine, command, project.directory);
    assert.equal(imported.code, 0, imported.printed);
    // The state has no address yet: a command that runs no program cannot install the plugin.
    await fails(stack.refresh(), /could not load provider/);
    const planned = { same: 17, update: 3 };
    assert.deepEqual((await succeeds(stack.preview())).changes, planned);
    assert.equal(platform.requests.length, 0);
    assert.deepEqual((await succeeds(stack.up())).changes, planned);
    await succeeds(stack.refresh());
    assert.deepEqual((await succeeds(stack.up())).changes, { same: 20 });
    assert.deepEqual(resetIds(platform), unconfirmedIds);
  });

  it("comes from the newest release at the address of the repository", async () => {
    const [, owner] = /^github:\/\/api\.github\.com\/(.*)$/.exec(downloadUrl) ?? assert.fail();
    const requests: string[] = [];
    const release = { tag_name: `v${packageVersion()}` };
    const server = createServer(certificate("good"), ({ url = "" }, response) => {
      requests.push(url);
      const name = url.replace("/assets/", "");
      const assets = source.files.map((file) => ({ name: file, url: `https://${address}/assets/${file}` }));
      if (source.files.includes(name)) response.end(readFileSync(source.folder.path(name)));
      else response.end(JSON.stringify({ ...release, assets }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

    folder.write("Pulumi.yaml", "name: program\nruntime: yaml\n");
    const env = {
      ...source.environment(folder.path("home")),
      PULUMI_BACKEND_URL: `file://${folder.directory}`,
      PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^github://api.github.com/(.*)$=github://${address}/$1`,
      SSL_CERT_FILE: caFile,
    };
    const command = ["package", "add", "rekey", "--server", downloadUrl];
    const { code, output } = await runAsync("pulumi", command, { cwd: folder.directory, env });
    server.close();
    assert.equal(code, 0, output);
    const releases = `/repos/${owner}/releases`;
    const archive = `/assets/${archiveName()}`;
    assert.deepEqual([...new Set(requests)], [`${releases}/latest`, `${releases}/tags/v${packageVersion()}`, archive]);
    assert.match(readFileSync(folder.path("Pulumi.yaml"), "utf8"), new RegExp(downloadUrl));
  });
});
