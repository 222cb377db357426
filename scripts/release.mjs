// npm run release -- <version>: writes the version, the date and the address of the public repository to both packages,
// the changelog, the schema and the pages, and prints the next steps. The address is `repository` in package.json.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { repositoryOf, runNpm } from "./lib.mjs";

const root = process.cwd();
const read = (name) => readFileSync(join(root, name), "utf8");
const write = (name, text) => writeFileSync(join(root, name), text);
const [next] = process.argv.slice(2);
const about = JSON.parse(read("package.json"));
const repository = repositoryOf(about);
const changelog = read("CHANGELOG.md");
const [, unreleased] = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms.exec(changelog) ?? [];

if (!/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository ?? "")) {
  fail(
    'Set the public repository first: npm pkg set repository.type=git repository.url="git+https://github.com/<owner>/<name>.git"',
  );
}
if (!/^\d+\.\d+\.\d+$/.test(next ?? "")) fail("Name the version: npm run release -- 1.2.3");
if (isOlder(next, about.version)) fail(`Version ${about.version} is newer than ${next}.`);
if (changelog.includes(`\n## ${next} (`)) fail(`CHANGELOG.md has version ${next} already.`);
if (unreleased === undefined) fail('CHANGELOG.md has no section "## Unreleased".');
if (!/^- /m.test(unreleased)) fail('CHANGELOG.md has no entry in "## Unreleased": there is nothing to release.');

const date = new Date().toISOString().slice(0, 10);
write("CHANGELOG.md", changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${next} (${date})\n`));

const links = (directory) => ({
  homepage: directory ? `${repository}/tree/main/${directory}#readme` : `${repository}#readme`,
  bugs: `${repository}/issues`,
  repository: { type: "git", url: `git+${repository}.git`, ...(directory && { directory }) },
});
const packages = { "package.json": links(), "local/package.json": links("local") };
for (const [name, added] of Object.entries(packages)) {
  write(name, `${JSON.stringify({ ...JSON.parse(read(name)), ...added, version: next }, undefined, 2)}\n`);
}
const lock = JSON.parse(read("package-lock.json"));
for (const one of [lock, lock.packages[""], lock.packages.local]) one.version = next;
write("package-lock.json", `${JSON.stringify(lock, undefined, 2)}\n`);

const inside = ["docs", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);
const pages = ["README.md", "SECURITY.md", "local/README.md", ...inside.filter((name) => /\.(md|go)$/.test(name))];
for (const name of pages) {
  const text = read(name);
  const released = withVersion(published(text));
  if (released !== text) write(name, await formatted(name, released));
}
if (runNpm(["run", "schema"], { cwd: root }) !== 0) fail("npm run schema failed.");

console.log(`Both packages have version ${next}. Check the change, then:
  git commit -am "Release ${next}"
  git tag v${next}
  git push --follow-tags   # the tag publishes: .github/workflows/release.yml`);

/**
 * A page of a project that is published: without its paragraphs about a clone, with those that replace them, and with
 * commands that install from the registry and the releases.
 */
function published(text) {
  return text
    .replace(/<!-- unpublished -->\n[\s\S]*?<!-- \/unpublished -->\n\n?/g, "")
    .replace(/<!-- published\n([\s\S]*?)\n-->/g, "$1")
    .replace(/(\.\/)?vendor\/(pulumi-rekey|rekey-local)-[\d.]+\.tgz/g, "$2")
    .replace(/(pulumi package add rekey@[\d.]+)(?![\d.]| --server)/g, `$1 --server ${address()}`)
    .replaceAll("example.com/pulumi-rekey/sdk", `${repository.replace("https://", "")}/sdk`);
}

async function formatted(name, text) {
  return name.endsWith(".md") ? format(text, { ...(await resolveConfig(join(root, name))), parser: "markdown" }) : text;
}

function address() {
  return repository.replace("https://github.com", "github://api.github.com");
}

/** The commands name the version: `rekey@1.2.3`, `rekey 1.2.3`, `rekey-v1.2.3`. */
function withVersion(text) {
  return text.replace(/(\brekey(?:@| |-v))\d+\.\d+\.\d+\b/g, `$1${next}`);
}

function isOlder(one, other) {
  return one.localeCompare(other, "en", { numeric: true }) < 0;
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
