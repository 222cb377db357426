import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { extract } from "tar";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { runAsync } from "../support/processes";

const url = "github://api.github.com/acme/rotations";
const repository = "https://github.com/acme/rotations";

/** What a user reads, copies or installs, and what the engine saves. */
const isShown = (name: string) =>
  /^((docs|examples|local)\/.*\.(md|go|ts|js|py|cs|ya?ml|json|svg)|schema\.json|README\.md|SECURITY\.md)$/.test(name);

describe("A release of a copy of the repository", function () {
  const folder = new Folder();
  const git = (...args: string[]) => spawnSync("git", args, { cwd: projectRoot, encoding: "utf8" }).stdout;
  const files = git("ls-files", "--cached", "--others", "--exclude-standard").split("\n").filter(Boolean);
  const read = (name: string) => readFileSync(folder.path(name), "utf8");
  const json = (name: string) => JSON.parse(read(name)) as Record<string, unknown>;
  const shown = files.filter(isShown);
  const found = (what: RegExp) =>
    shown.flatMap((name) =>
      read(name)
        .split("\n")
        .filter((line) => what.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );

  async function run(...args: string[]): Promise<string> {
    const { code, output } = await runAsync(process.execPath, args, { cwd: folder.directory });
    assert.equal(code, 0, output);
    return output;
  }

  before(async () => {
    for (const name of files) cpSync(join(projectRoot, name), folder.path(name));
    linkPackages(folder);
    const about = { ...json("package.json"), repository: { type: "git", url: `git+${repository}.git` } };
    folder.write("package.json", JSON.stringify(about, undefined, 2));
    folder.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- New.\n");
    assert.match(await run("scripts/release.mjs", "7.8.9"), /git tag v7\.8\.9/);
  });
  after(() => folder.remove());

  it("gives both packages the version and the addresses", () => {
    const version = "7.8.9";
    const bugs = `${repository}/issues`;
    const { version: found, homepage, bugs: reports } = json("package.json");
    assert.deepEqual([found, homepage, reports], [version, `${repository}#readme`, bugs]);
    const { version: local, homepage: page, repository: where } = json("local/package.json");
    assert.deepEqual([local, page], [version, `${repository}/tree/main/local#readme`]);
    assert.deepEqual(where, { type: "git", url: `git+${repository}.git`, directory: "local" });
    const lock = json("package-lock.json") as { version: string; packages: Record<string, { version: string }> };
    assert.deepEqual(
      [lock.version, lock.packages[""]?.version, lock.packages["local"]?.version],
      Array(3).fill(version),
    );
    assert.match(read("CHANGELOG.md"), /## Unreleased\n\n## 7\.8\.9 \(\d{4}-\d\d-\d\d\)\n\n- New\./);
  });

  it("leaves nothing about a project that is not published", () => {
    assert.deepEqual(found(/unpublished|not published|<!-- published|vendor\/|example\.com\/pulumi-rekey/), []);
    assert.match(read("README.md"), /^npm install pulumi-rekey /m);
    assert.match(read("SECURITY.md"), /Report a vulnerability_/);
  });

  it("writes the address of the archives to the schema, the pages and the archives", async () => {
    const schema = json("schema.json");
    assert.deepEqual([schema["pluginDownloadURL"], schema["repository"]], [url, repository]);
    const command = `pulumi package add rekey@7.8.9 --server ${url}`;
    const pages = ["plugin.md", "installation-configuration.md"].map((name) => `docs/${name}`);
    const languages = ["csharp", "go", "nodejs", "python", "yaml"].map(
      (name) => `examples/languages/${name}/README.md`,
    );
    for (const name of [...pages, ...languages]) assert.ok(read(name).includes(command), name);
    for (const name of ["examples/languages/go/main.go", "docs/_index.md"]) {
      assert.match(read(name), /"github\.com\/acme\/rotations\/sdk\/go\/rekey"/, name);
    }
    const archives = await run("scripts/plugin-archive.mjs", "archives");
    await extract({ file: archives.split("\n")[0] ?? "", cwd: folder.path("archives") });
    assert.ok(read("archives/plugin.js").includes(url));
  });

  it("keeps the format, and links that lead somewhere", async () => {
    const prettier = join(projectRoot, "node_modules/prettier/bin/prettier.cjs");
    await run(prettier, "--check", "*.md", "docs/**/*.md", "examples/**/*.md", "package.json", "local/package.json");
    await run("node_modules/mocha/bin/mocha.js", "test/docs/pages.test.ts", "test/docs/registry.test.ts");
  });

  it("names the new version everywhere the next time", async () => {
    folder.write("CHANGELOG.md", read("CHANGELOG.md").replace("## Unreleased\n", "## Unreleased\n\n- Newer.\n"));
    await run("scripts/release.mjs", "7.9.0");
    assert.deepEqual(found(/7\.8\.9/), []);
    assert.ok(found(/rekey@7\.9\.0 --server github/).length > 5);
  });
});

/** Links the installed packages; those of this repository are the copies. */
function linkPackages(folder: Folder): void {
  const installed = join(projectRoot, "node_modules");
  const own: Readonly<Record<string, string>> = { "pulumi-rekey": ".", "rekey-local": "local" };
  mkdirSync(folder.path("node_modules"));
  for (const name of readdirSync(installed)) {
    const target = own[name] === undefined ? join(installed, name) : folder.path(own[name]);
    symlinkSync(target, folder.path("node_modules", name), "junction");
  }
}
