// npm run release-check: prints what is missing for a release, each with the file and what to write there, and what it
// cannot check. It exits with 1 while anything is missing. On GitHub, it also compares the tag. It needs the built
// package.
// `-- --rehearse` also rehearses the release on this machine.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerOf, root, run } from "./lib.mjs";

const { GITHUB_REF_TYPE: refType, GITHUB_REF_NAME: refName } = process.env;
const read = (path) => readFileSync(join(root, path), "utf8");
const about = JSON.parse(read("package.json"));
const { version, keywords } = about;
const owner = ownerOf(about);
const name = "pulumi-rekey";

/** What Pulumi's registry has as categories. */
const categories = ["cloud", "database", "infrastructure", "monitoring", "network", "utility"];

const problems = [];
const expect = (isFine, file, what) => isFine || problems.push(`${file}: ${what}`);

const place = `{ "type": "git", "url": "git+https://github.com/<owner>/${name}.git" }`;
expect(owner.repository, "package.json", `set "repository": ${place}`);
expect(owner.author, "package.json", 'set "author": "<name>"');
expect(owner.publisher, "package.json", 'set "rekey": { "publisher": "<name in Pulumi\'s registry>" }');
expect(owner.scope, "package.json", 'set "rekey": { "scope": "<npm scope that you own, without @>" }');

if (owner.repository) {
  const isNamed = new RegExp(`^https://github\\.com/[\\w-]+/${name}$`).test(owner.repository);
  expect(isNamed, "package.json", `"repository" must be named ${name}: Pulumi's registry compares it. Set ${place}`);
  checkVersions();
  checkWritten();
  checkPages();
}
checkRegistry();

for (const problem of problems) console.log(problem);
console.log(`
Not checked, because only the accounts and the registries know:
- npm: both packages exist, and trust this repository's release.yml and the environment npm; the scope is yours
- GitHub: the environment npm exists and has reviewers; private vulnerability reporting is on
- Pulumi's registry: what it says to the entry and to the publisher. Its check installs the plugin from its own
  organization unless \`pluginDownloadURL\` begins with https://, and looks for packages for Python and Go, which we do not publish
- provenance, which only the workflow can make`);
if (problems.length > 0) {
  console.log(`\n${problems.length} missing. Nothing was published.`);
  process.exit(1);
}
console.log("\nNothing is missing.");
if (process.argv.includes("--rehearse")) {
  process.exit(run(process.execPath, [join(root, "scripts/test.mjs"), "test/release/rehearsal.slow.test.ts"]));
}

function checkVersions() {
  expect(
    JSON.parse(read("local/package.json")).version === version,
    "local/package.json",
    `set "version": "${version}"`,
  );
  const heading = `## ${version} (`;
  const written = read("CHANGELOG.md").split("\n");
  const isDated = written.some((line) => line.startsWith(heading) && /\(\d{4}-\d\d-\d\d\)$/.test(line));
  expect(isDated, "CHANGELOG.md", `write \`${heading}<date>)\` above the entries of this version`);
  if (refType === "tag") expect(refName === `v${version}`, "package.json", `set "version": the tag is ${refName}`);
}

/** Everything that comes from package.json. */
function checkWritten() {
  const folder = mkdtempSync(join(tmpdir(), "rekey-schema-"));
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/schema.mjs"), folder], {
    encoding: "utf8",
  });
  expect(status === 0, "scripts/schema.mjs", stderr);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    const isSame = existsSync(join(root, path)) && read(path) === readFileSync(join(folder, path), "utf8");
    expect(isSame, path, "run `npm run schema`");
  }
  rmSync(folder, { recursive: true });
}

/** The pages that a user of a release reads. */
function checkPages() {
  const folders = ["docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${path.replaceAll("\\", "/")}`),
  );
  const pages = folders.filter((path) => path.endsWith(".md") && !path.startsWith("docs/internals/"));
  for (const path of [...pages, "README.md", "local/README.md", "templates/README.md", ".github/SECURITY.md"]) {
    for (const [index, line] of read(path).split("\n").entries()) {
      const found = /\bclone\b|\bvendor\/|\bnot published yet\b|example\.com\/pulumi-rekey/i.exec(line);
      expect(!found, `${path}:${index + 1}`, `"${found}" is for readers before the first release. Write another text`);
    }
  }
}

function checkRegistry() {
  expect(
    existsSync(join(root, "docs/logo.png")) &&
      readFileSync(join(root, "docs/logo.png")).subarray(1, 4).equals(Buffer.from("PNG")),
    "docs/logo.png",
    "draw a logo, a PNG of 100 x 100 pixels",
  );
  const schema = JSON.parse(read("schema.json"));
  const category = schema.keywords.find((one) => one.startsWith("category/"))?.slice(9);
  expect(categories.includes(category), "scripts/schema.mjs", `add a keyword "category/…" of ${categories.join(", ")}`);
  expect(schema.keywords.includes("kind/native"), "scripts/schema.mjs", 'add the keyword "kind/native"');
  expect(keywords.includes("pulumi"), "package.json", 'add the keyword "pulumi"');
}
