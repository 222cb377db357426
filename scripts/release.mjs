// npm run release -- patch|minor|major: gives the section "Unreleased" of the changelog a version and a date, and
// prints the next steps.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.cwd();
const read = (name) => readFileSync(join(folder, name), "utf8");
const [kind] = process.argv.slice(2);
const position = ["major", "minor", "patch"].indexOf(kind);
if (position < 0) fail("Name the kind of release: npm run release -- patch, minor or major.");

const { version } = JSON.parse(read("package.json"));
const languages = "examples/languages";
const sdkOfYaml = `${languages}/yaml/sdks/rekey/rekey-`;
// They name the version, and most of them the owner.
const installations = [
  ...["", "csharp/", "go/", "nodejs/", "python/", "yaml/"].map((folder) => `${languages}/${folder}README.md`),
  `${languages}/yaml/Pulumi.yaml`,
  `${sdkOfYaml}${version}.yaml`,
];

const templates = [
  "package.json",
  "local/package.json",
  "README.md",
  "CODE_OF_CONDUCT.md",
  ".github/ISSUE_TEMPLATE/config.yml",
  "schema.json",
  "examples/languages/go/main.go",
  "docs/plugin.md",
  "docs/registry/_index.md",
  "docs/registry/installation-configuration.md",
  ...installations,
];
const unset = templates.filter((name) => /github\.com\/OWNER\b|CONDUCT_CONTACT/.test(read(name)));
if (unset.length > 0) fail(`Replace OWNER and CONDUCT_CONTACT in ${unset.join(", ")}.`);

const next = version
  .split(".")
  .map((part, index) => (index < position ? part : index === position ? Number(part) + 1 : 0))
  .join(".");

const changelog = read("CHANGELOG.md");
const [, unreleased] = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms.exec(changelog) ?? [];
if (unreleased === undefined) fail('CHANGELOG.md has no section "## Unreleased".');
if (!/^- /m.test(unreleased)) fail('CHANGELOG.md has no entry in "## Unreleased": there is nothing to release.');

const date = new Date().toISOString().slice(0, 10);
writeFileSync(
  join(folder, "CHANGELOG.md"),
  changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${next} (${date})\n`),
);
for (const name of ["package.json", "local/package.json", "package-lock.json"]) {
  const content = JSON.parse(read(name));
  content.version = next;
  for (const path of content.packages ? ["", "local"] : []) content.packages[path].version = next;
  writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
}
for (const name of installations) writeFileSync(join(folder, name), read(name).replaceAll(version, next));
renameSync(join(folder, `${sdkOfYaml}${version}.yaml`), join(folder, `${sdkOfYaml}${next}.yaml`));
console.log(`CHANGELOG.md, both package.json and package-lock.json have version ${next}. Check them, then:
  git commit -am "Release ${next}"
  git tag v${next}
  git push --follow-tags   # the tag publishes: .github/workflows/release.yml`);

function fail(why) {
  console.error(why);
  process.exit(1);
}
