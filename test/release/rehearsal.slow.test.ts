import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type Platform, startPlatform } from "../../local/platform/index";
import { environmentIn, pulumiPath } from "../e2e/engine";
import { onEngine } from "../e2e/engineStack";
import { startLanguageHost } from "../e2e/languageHost";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { findOnPath, runAsync, runToEnd } from "../support/processes";
import { environmentOf } from "../support/project";
import { databasePath } from "../support/resources";
import { skip } from "../support/skip";
import { GitHub } from "./github";
import { ensureTools, Registry, tool } from "./registry";

/** What only the owner knows: made up. */
const owner = { author: "Nobody", rekey: { publisher: "Nobody", scope: "nobody" } };
const repository = { type: "git", url: "git+https://github.com/nobody/pulumi-rekey.git" };

type Manifest = Partial<typeof owner> & { readonly version: string; readonly repository?: object };

/** What a clone does not have. */
const made = ["node_modules", ".git", ".stryker-tmp", "coverage", "reports"];

const databaseId = "96ad0856-03b1-4ee7-9666-e81abd0349e1";

const yamlProgram = `name: shop
runtime: yaml
resources:
  sessions:
    type: rekey:PasswordRotation
    properties: { databaseId: ${databaseId}, initialRotation: false }
outputs:
  outcome: \${sessions.outcome}
`;

// What cannot be rehearsed here: provenance, trusted publishing, and the checks of Pulumi's registry.
onEngine("A release, rehearsed with a registry on this machine", function () {
  const folders: Folder[] = [];
  const newFolder = () => folders[folders.push(new Folder()) - 1] ?? assert.fail();
  const folder = newFolder();
  const clone = folder.path("pulumi-rekey");
  const packed = folder.path("packed");
  let version: string;
  let registry: Registry;
  let github: GitHub;
  let platform: Platform;
  /** The settings of README. */
  let account: Record<string, string>;

  before(async function () {
    if (findOnPath("git") === undefined) skip(this, "there is no git on PATH");
    ensureTools(this);
    platform = await startPlatform({ databases: [databaseId], databasePath, credentials: "read" });
    account = { ...environmentOf(platform), REKEY_PLATFORM: "upstash" };
    github = await GitHub.start(folder, findOnPath("npm") ?? assert.fail("npm"));
    registry = await Registry.start(folder);
    cpSync(projectRoot, clone, {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !made.includes(basename(path)),
    });
    symlinkSync(join(projectRoot, "node_modules"), join(clone, "node_modules"), "junction");
    await git("init", "--quiet", "--initial-branch", "main");
    await git("add", "--all");
    await commit("Before the release");
  });
  after(async () => {
    await registry?.close();
    await github?.close();
    await platform?.close();
    for (const one of folders) one.remove();
  });

  const git = (...args: string[]) => runToEnd("git", args, { cwd: clone });
  const commit = (message: string) =>
    git("-c", "user.name=Nobody", "-c", "user.email=nobody@localhost", "commit", "--quiet", "--all", "-m", message);
  const read = (path: string) => readFileSync(join(clone, path), "utf8");
  const node = (...args: string[]) => runAsync(process.execPath, args, { cwd: clone, env: tagged });
  /** As in the workflow that a tag starts. */
  const tagged: Record<string, string> = { GITHUB_REF_TYPE: "", GITHUB_REF_NAME: "" };

  /** The first line of a page that begins like this. */
  const lineOf = (path: string, start: string) =>
    read(path)
      .split("\n")
      .find((line) => line.startsWith(start)) ?? assert.fail(`${path} has no ${start}`);

  it("is refused until the owner has set what only the owner knows, in one file", async () => {
    const { repository: given, author: _, rekey: __, ...manifest } = JSON.parse(read("package.json")) as Manifest;
    ({ version } = manifest);
    const writeManifest = (more: object) =>
      folder.write("pulumi-rekey/package.json", JSON.stringify({ ...manifest, ...more }, undefined, 2));
    writeManifest({});
    if (given !== undefined) await node("scripts/schema.mjs");
    const before = await node("scripts/release-check.mjs");
    assert.equal(before.code, 1);
    const missing = [...before.output.matchAll(/^package\.json: set "(\w+)"(?:: \{ "(\w+)": "<)?/gm)];
    assert.deepEqual(
      missing.map(([, name, inner]) => (name === "rekey" ? inner : name)),
      ["repository", "author", "publisher", "scope"],
    );
    assert.match(before.output, /^4 missing\. Nothing was published\.$/m);

    writeManifest({ ...owner, repository });
    folder.write("pulumi-rekey/CHANGELOG.md", "# Changelog\n\n## 0.0.0 (2026-01-01)\n");
    Object.assign(tagged, { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v9.9.9" });
    const half = await node("scripts/release-check.mjs");
    assert.equal(half.code, 1);
    for (const line of [
      /^README\.md: run `npm run schema`$/m,
      /^package\.json: set "version": the tag is v9\.9\.9$/m,
      /^local\/package\.json: run `npm run schema`$/m,
      /^README\.md:\d+: "not published yet" is for readers before the first release/m,
      new RegExp(`^CHANGELOG\\.md: write \`## ${version} \\(<date>\\)\``, "m"),
    ]) {
      assert.match(half.output, line);
    }
    folder.write("pulumi-rekey/CHANGELOG.md", `# Changelog\n\n## ${version} (2026-01-01)\n`);
    assert.equal((await node("scripts/schema.mjs")).code, 0);
    tagged["GITHUB_REF_NAME"] = `v${version}`;
    const ready = await node("scripts/release-check.mjs");
    assert.equal(ready.code, 0, ready.output);
  });

  it("is tagged on a commit of its own, whose folder `plugin` needs the published package", async () => {
    assert.equal((await node("scripts/release.mjs", "tag")).code, 1, "with changes that are not committed");
    await commit("Set what only the owner knows");
    const { code, output } = await node("scripts/release.mjs", "tag");
    assert.equal(code, 0, output);
    assert.equal(await git("diff", "--name-only", "main", `v${version}`), "plugin/package.json\n");
    assert.equal(await git("status", "--porcelain"), "");
    await git("checkout", "--quiet", `v${version}`);
  });

  it("has packages that publint and attw accept", async () => {
    mkdirSync(join(packed, "npm"), { recursive: true });
    const flags = ["--workspaces", "--include-workspace-root", "--ignore-scripts", "--pack-destination"];
    await runToEnd("npm", ["pack", ...flags, join(packed, "npm")], { cwd: clone });
    await runToEnd(process.execPath, ["scripts/plugin-archive.mjs", join(packed, "plugin")], { cwd: clone });
    for (const name of ["pulumi-rekey", "rekey-local"]) {
      const archive = join(packed, "npm", `${name}-${version}.tgz`);
      const lint = [tool("publint/src/cli.js"), "run", archive, "--strict"];
      const types = [tool("@arethetypeswrong/cli/dist/index.js"), archive, "--no-color"];
      for (const args of [lint, types]) await runToEnd(process.execPath, args, { cwd: packed });
    }
  });

  /** Runs the publishing steps. @param cut the command that fails */
  async function publish(cut = "") {
    const env = { ...registry.publishing, ...github.environment, CUT: cut };
    const args = ["scripts/release.mjs", "publish", packed, "--provenance=false"];
    const { code, output } = await runAsync(process.execPath, args, { cwd: clone, env });
    return { code, output, published: output.match(/^npm publish .*$/gm)?.length ?? 0 };
  }
  const versions = async () => [await registry.versionsOf("pulumi-rekey"), await registry.versionsOf("rekey-local")];

  /** The command of docs/plugin.md, with the releases of this machine. */
  const installPlugin = (user: Folder) =>
    runAsync("sh", ["-c", lineOf("docs/plugin.md", "pulumi plugin install").replace("api.github.com", github.host)], {
      cwd: user.directory,
      env: { ...environmentIn(user), ...github.certificates },
    });

  it("is finished by a second run, wherever the first one ended", async () => {
    const user = newFolder();
    const first = await publish("publish *rekey-local*");
    assert.deepEqual([first.code, await versions()], [1, [[version], []]], first.output);
    const second = await publish("release edit *");
    assert.deepEqual([second.code, second.published, await versions()], [1, 1, [[version], [version]]], second.output);
    assert.equal(github.filesOf(`v${version}`).length, 7);
    const early = await installPlugin(user);
    assert.notEqual(early.code, 0, early.output);
    const third = await publish();
    assert.deepEqual([third.code, third.published], [0, 0], third.output);
    const again = await publish();
    assert.deepEqual([again.code, again.published], [0, 0], again.output);
    assert.doesNotMatch(again.output, /upload|edit/);
  });

  it("installs as README says, and README's program adopts a password", async () => {
    const user = newFolder();
    const env = { ...environmentIn(user, user.path("bin")), ...account, ...registry.installing };
    const run = (command: string) => runToEnd("sh", ["-e", "-c", command], { cwd: user.directory, env });
    user.write("package.json", `{ "name": "shop", "private": true }`);
    user.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    const [, program = ""] = /^```ts\n([^]*?)^```$/m.exec(read("README.md")) ?? [];
    user.write("index.ts", program);
    mkdirSync(user.path("backend"));
    const install = lineOf("README.md", "npm install pulumi-rekey");
    // As the comment there says.
    const isOld = process.versions.node.startsWith("20.");
    await run(isOld ? install.replace(" @pulumi/pulumi ", " @pulumi/pulumi@3.248.0 ") : install);
    await run(lineOf("local/README.md", "npm install"));
    assert.match(await run("npx --no rekey-local platform --help"), /--database/);
    const host = user.path("node_modules/@pulumi/pulumi/cmd/dynamic-provider");
    user.write("bin/pulumi-resource-pulumi-nodejs", `#!/bin/sh\nexec node "${host}" "$@"\n`, 0o755);
    const language = await startLanguageHost(user.directory);
    try {
      await run("pulumi stack init dev");
      const up = await run(`pulumi up --yes --skip-preview --client ${language.address}`);
      assert.match(up, /rekey:PasswordRotation/);
      const url = (await run("pulumi stack output redisUrl --show-secrets")).trim();
      assert.equal(new URL(url).password, platform.database(databaseId).password);
      assert.equal(platform.resetCount, 0);
    } finally {
      language.close();
    }
  });

  it("has a plugin that installs as docs/plugin.md says, and runs a program in YAML", async function () {
    const user = newFolder();
    const { code, output } = await installPlugin(user);
    assert.equal(code, 0, output);
    if (findOnPath("pulumi-language-yaml") === undefined) {
      skip(this, "no `pulumi-language-yaml` on PATH to run the program");
    }
    user.write("Pulumi.yaml", yamlProgram);
    mkdirSync(user.path("backend"));
    const { PATH: _, ...env } = environmentIn(user);
    const run = (command: string) =>
      runToEnd("sh", ["-e", "-c", command], {
        cwd: user.directory,
        env: { ...env, PULUMI_IGNORE_AMBIENT_PLUGINS: "true", ...account },
      });
    await run(lineOf("docs/plugin.md", "pulumi package add"));
    await run("pulumi stack init dev && pulumi up --yes --skip-preview");
    assert.equal((await run("pulumi stack output outcome")).trim(), "adopted");
  });

  it("adds the plugin to a program from a checkout of the tag, without a build", async function () {
    if (findOnPath("pulumi-language-nodejs") === undefined) skip(this, "no `pulumi-language-nodejs` on PATH");
    const user = newFolder();
    await runToEnd("git", ["clone", "--quiet", "--branch", `v${version}`, clone, user.path("tagged")], { cwd: clone });
    user.write("shop/Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    user.write("shop/package.json", `{ "name": "shop", "private": true }`);
    const { PATH: _, ...env } = environmentIn(user);
    const options = { cwd: user.path("shop"), env: { ...env, ...registry.installing } };
    await runToEnd(pulumiPath, ["package", "add", user.path("tagged/plugin")], options);
    const { dependencies } = JSON.parse(readFileSync(user.path("shop/package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    assert.deepEqual(Object.keys(dependencies), [`@${owner.rekey.scope}/rekey`]);
  });
});
