import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Platform, startPlatform } from "../../local";
import { runAsync } from "../support/runAsync";

const root = resolve(__dirname, "../..");
const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  devDependencies: Record<string, string>;
};

describe("The packed package", () => {
  const directory = mkdtempSync(join(tmpdir(), "rekey-packed-"));
  let platform: Platform;
  before(async () => (platform = await startPlatform()));
  after(async () => {
    await platform.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("holds what is built and no tests, and runs in an empty project with the local engine", async function () {
    this.timeout(300_000);
    const npm = (...args: string[]) => spawnSync("npm", args, { cwd: directory, encoding: "utf8", shell: true });
    const packed = npm("pack", root, "--ignore-scripts", "--json");
    assert.equal(packed.status, 0, packed.stderr);
    const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const expected =
      /^(dist\/(cli|local|provider|sdk)\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    assert.deepEqual(
      paths.filter((path) => !expected.test(path)),
      [],
    );
    for (const name of ["README.md", "LICENSE", "CHANGELOG.md", "dist/cli/main.js"])
      assert.ok(paths.includes(name), name);

    writeFileSync(join(directory, "package.json"), `{ "private": true }`);
    const pulumi = `@pulumi/pulumi@${devDependencies["@pulumi/pulumi"]}`;
    const installed = npm("install", `./${filename}`, pulumi, "--ignore-scripts", "--no-audit", "--no-fund");
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(installed.stderr)) {
      console.log("      skipped: the package registry cannot be reached from here");
      this.skip();
    }
    assert.equal(installed.status, 0, installed.stderr);
    writeFileSync(join(directory, "Pulumi.yaml"), "name: packed\nruntime: nodejs\nmain: index.js\n");
    writeFileSync(
      join(directory, "index.js"),
      `const { PasswordRotation } = require("pulumi-rekey");
       exports.endpoint = new PasswordRotation("cache", { databaseId: "db-quickstart" }).endpoint;`,
    );
    const environment = {
      PULUMI_CONFIG_PASSPHRASE: "test",
      REKEY_BASE_URL: platform.url,
      REKEY_USERNAME: platform.username,
      REKEY_PASSWORD: platform.password,
    };
    const rekey = join(directory, "node_modules", "pulumi-rekey", "dist", "cli", "main.js");
    const up = await runAsync(process.execPath, [rekey, "local", "up", "--yes"], { cwd: directory, env: environment });
    assert.equal(up.code, 0, up.output);
    assert.match(up.output, new RegExp(`endpoint.*${String(platform.database("db-quickstart").record["endpoint"])}`));
    assert.equal(platform.resetCount, 1);
  });
});
