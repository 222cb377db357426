// What pages and manifests take from package.json: the version, what only the owner knows, and the parts that differ
// before and after the first release, which is when `repository` is set. `npm run schema` writes them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ownerOf, root } from "./lib.mjs";
import { templateFiles } from "./templates.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");
const about = JSON.parse(read("package.json"));
const { version } = about;
const { repository, author, scope } = ownerOf(about);

/** The Go package that is generated. No one can own `example.com`. */
export const goImportPath = `${repository?.replace("https://", "") ?? "example.com/pulumi-rekey"}/sdk/go/rekey`;

export const homepage = repository && `${repository}#readme`;

/** Where the engine downloads the archives of a release. */
export const pluginDownloadURL = repository?.replace("https://github.com", "github://api.github.com");

/** Where the files of this version can be downloaded. */
export const rawFiles = repository && `${repository.replace("github.com", "raw.githubusercontent.com")}/v${version}`;

/** The scope of the npm package that is generated. Without a namespace in the schema, it is Pulumi's. */
const npmScope = scope ?? "pulumi";

const installPlugin = `pulumi plugin install resource rekey ${version}`;

/** Parts of pages, between `<!-- written: name -->` and `<!-- /written -->`: before the first release, and after it. */
const parts = {
  "install the SDK": [
    `Rekey is not published yet. Clone this repository (\`git clone <url>\`) and, in the clone, pack it into your project (here \`../shop\`):

<!-- not run: test/e2e/package.slow.test.ts packs it -->

\`\`\`sh
npm ci && mkdir -p ../shop/vendor
npm pack --workspaces --include-workspace-root --pack-destination ../shop/vendor
\`\`\`

Then install it in your project, and commit \`vendor/\` so that CI and your colleagues can, too.`,
    "In your Pulumi project:",
  ],
  "install the plugin": [
    `In a clone of this repository, build the archives of all systems into your project (here \`../shop\`). Commit those that you use, and install
one on every machine:

<!-- not run: test/e2e/languages.slow.test.ts does -->

\`\`\`sh
npm ci && npm run build && node scripts/plugin-archive.mjs ../shop/vendor
${installPlugin} --file ../shop/vendor/pulumi-resource-rekey-v${version}-linux-amd64.tar.gz
\`\`\``,
    `On every machine:

<!-- not run: test/release/rehearsal.slow.test.ts does -->

\`\`\`sh
${installPlugin} --server ${pluginDownloadURL}
\`\`\``,
  ],
  "install for the registry": [
    `Build the plugin in a clone of its repository, which needs Node 20.19+ or 22.12+, then add it in the folder of the program:

\`\`\`bash
npm ci && npm run build                   # in the clone
pulumi package add ../pulumi-rekey/plugin # in your project: the path of the folder \`plugin\` of the clone
\`\`\``,
    `- TypeScript and JavaScript: the SDK [\`pulumi-rekey\`](https://www.npmjs.com/package/pulumi-rekey), with \`npm install pulumi-rekey\`
- Python, Go, C# and YAML: the plugin, which needs Node 20.19+ or 22.12+ on PATH. \`pulumi package add\` generates the SDK of the
  language, or records the plugin for YAML.

\`\`\`bash
${installPlugin} --server ${pluginDownloadURL}
pulumi package add rekey@${version} # in the folder of the program
\`\`\``,
  ],
  "install for an example": [
    `To use an example, copy its folder, here to \`../shop\`. In a clone of this repository, pack the packages into the copy:

\`\`\`sh
npm ci && mkdir -p ../shop/vendor
npm pack --workspaces --include-workspace-root --pack-destination ../shop/vendor
\`\`\``,
    "To use an example, copy its folder.",
  ],
  "start with a template": [
    `In a clone of this repository, pack the package into the template. Then use it in an empty folder:

\`\`\`sh
npm ci && mkdir -p templates/own-redis/vendor && npm pack --pack-destination templates/own-redis/vendor
mkdir ../shop && cd ../shop
pulumi new ../pulumi-rekey/templates/own-redis
\`\`\``,
    `In an empty folder:

\`\`\`sh
pulumi new ${repository}/tree/v${version}/templates/own-redis
\`\`\``,
  ],
  "report a vulnerability": [
    `Report vulnerabilities privately to the person who gave you the code; on GitHub, use _Report a vulnerability_ on the _Security_ tab. Do not open a
public issue.`,
    `[Report vulnerabilities privately](${repository}/security/advisories/new). Do not open a public issue.`,
  ],
};

/** What follows from the version and the names, wherever it is written. */
const names = [
  // Before the first release, anyone could publish under the names of our packages.
  [
    /(?<=npm install\b.* )(?:\.\/vendor\/)?(pulumi-rekey|rekey-local)(?:-[\d.]+\.tgz)?(?=[\s`]|$)/gm,
    repository ? "$1" : `./vendor/$1-${version}.tgz`,
  ],
  [/(?<=\brekey@|resource rekey |resource-rekey-v)\d+\.\d+\.\d+/g, version],
  [/[\w./-]+\/pulumi-rekey\/sdk\/go\/rekey/g, goImportPath],
  [/(?<="@)[\w-]+(?=\/rekey")/g, npmScope],
  // npm shows README, but has no picture.
  [/(?<=\]\()\S*(?=docs\/pictures\/)/g, repository ? `${rawFiles}/` : ""],
];

function withParts(text) {
  return text.replace(/(<!-- written: (.*?) -->\n)[^]*?(\n<!-- \/written -->)/g, (_, start, name, end) => {
    return `${start}\n${parts[name][repository ? 1 : 0]}\n${end}`;
  });
}

function pageOf(path) {
  const text = names.reduce((text, [pattern, name]) => text.replace(pattern, name), withParts(read(path)));
  return { path, text, parser: path.endsWith(".md") ? "markdown" : undefined };
}

/** A manifest with the addresses that follow from the repository. */
function manifestOf(path, addresses) {
  const { name, version, description, keywords, ...more } = JSON.parse(read(path));
  const links = repository && { author, ...addresses, bugs: { url: `${repository}/issues` } };
  const text = JSON.stringify({ name, version, description, keywords, ...links, ...more, ...links });
  return { path, text, parser: "json-stringify" };
}

/** The templates of `pulumi new`. */
export function writtenTemplates() {
  return templateFiles(repository ? `^${version}` : `file:./vendor/pulumi-rekey-${version}.tgz`, about.devDependencies);
}

/** Everything that is written: the path of each file from the project's folder, its text, and how to format it. */
export function writtenFiles() {
  const markdown = (folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith(".md") && name !== "reference.md")
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
  const others = ["README.md", "local/README.md", "templates/README.md", ".github/SECURITY.md"];
  const programs = ["examples/languages/go/main.go", "examples/languages/nodejs/index.ts"];
  const ofRepository = { type: "git", url: `git+${repository}.git`, directory: "local" };
  const files = [
    ...[...others, ...markdown("docs"), ...markdown("examples"), ...programs].map(pageOf),
    ...writtenTemplates(),
    manifestOf("package.json", { homepage }),
    manifestOf("local/package.json", { homepage, repository: ofRepository }),
  ];
  return files.filter(({ path, text }) => !existsSync(join(root, path)) || text !== read(path));
}
