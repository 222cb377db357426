// The steps of a release. CONTRIBUTING.md, "Release", says what comes before them.
//
// node scripts/release.mjs tag: makes the tag of the version of package.json, on a commit of its own: there, the folder
// `plugin` needs the published package, so that `pulumi package add` works from it without a build.
//
// node scripts/release.mjs publish <folder> [flags of npm publish]: publishes the packages in <folder>/npm and the
// archives in <folder>/plugin. What exists is skipped, so that a second run finishes one that failed. It runs in the
// only job that can publish and write, so it needs `npm` and `gh`, and no package.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { root, run } from "./lib.mjs";

const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
const { version, devDependencies, name: packageName } = manifestOf(".");
const sdk = "@pulumi/pulumi";
const tag = `v${version}`;

const [command, folder, ...flags] = process.argv.slice(2);
if (command === "tag") makeTag();
else if (command === "publish" && folder) publish();
else fail("Usage: node scripts/release.mjs tag | publish <folder> [flags of npm publish]");

function makeTag() {
  if (read("git", "status", "--porcelain") !== "") fail("Commit or undo the changes first. Nothing was tagged.");
  const plugin = {
    ...manifestOf("plugin"),
    main: `node_modules/${packageName}/dist/provider/engine/plugin/main.js`,
    dependencies: { [packageName]: version, [sdk]: devDependencies[sdk] },
  };
  const index = mkdtempSync(join(tmpdir(), "index-"));
  const env = { ...process.env, GIT_INDEX_FILE: join(index, "index") };
  const git = (args, input) => readWith({ env, input }, "git", ...args);
  git(["read-tree", "HEAD"]);
  const blob = git(["hash-object", "-w", "--stdin"], `${JSON.stringify(plugin, undefined, 2)}\n`);
  git(["update-index", "--cacheinfo", `100644,${blob},plugin/package.json`]);
  const commit = git(["commit-tree", git(["write-tree"]), "-p", "HEAD", "-m", `Release ${version}`]);
  git(["tag", tag, commit]);
  rmSync(index, { recursive: true });
  console.log(`${tag} is tagged. To release it: git push origin ${tag}`);
}

function publish() {
  const files = (kind) => readdirSync(join(folder, kind)).map((name) => resolve(folder, kind, name));
  const release = ["release", "view", tag, "--json", "isDraft", "--jq", ".isDraft"];
  if (!succeeds("gh", ...release)) {
    must("gh", "release", "create", tag, "--draft", "--verify-tag", "--title", tag, "--notes", "See CHANGELOG.md.");
  }

  for (const archive of files("npm")) {
    const published = `${basename(archive, `-${version}.tgz`)}@${version}`;
    if (succeeds("npm", "view", published, "version")) console.log(`${published} is published.`);
    else must("npm", "publish", archive, "--ignore-scripts", "--access", "public", ...flags);
  }

  // An archive that is downloaded before all are there would cause the error of a release that does not exist.
  if (read("gh", ...release) === "true") {
    must("gh", "release", "upload", tag, ...files("plugin"), "--clobber");
    must("gh", "release", "edit", tag, "--draft=false");
  }
  console.log(`${tag} is released.`);
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

function must(...command) {
  console.log(command.join(" "));
  const [program, ...args] = command;
  if (run(program, args, { cwd: process.cwd() }) !== 0) {
    fail(`${program} failed. Run this again: what exists is skipped.`);
  }
}

function succeeds(program, ...args) {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

function read(program, ...args) {
  return readWith({}, program, ...args);
}

function readWith(options, program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8", ...options });
  if (status !== 0) fail(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}
