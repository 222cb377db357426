// node scripts/plugin-archive.mjs [folder]: writes the archives of a release: the built native plugin under the names
// that the engine asks for, and their checksums. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve, sep } from "node:path";
import { rolldown } from "rolldown";
import { create } from "tar";
import { root } from "./lib.mjs";

const { version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** `[20, 19, false]` for `^20.19.0`: the last one says whether later major versions are supported, too. */
const supported = engines.node
  .split(" || ")
  .map((range) => [...range.match(/\d+/g).slice(0, 2).map(Number), range.startsWith(">=")]);
const { code, moduleIds } = await bundled();

const needed = `The plugin of Rekey needs Node ${supported.map(([major, minor]) => `${major}.${minor}+`).join(" or ")}`;
const advice =
  "No request was made. Install one of these versions where pulumi runs, for example in the image of the pipeline.";
const missing = `${needed}, and node is not on PATH. ${advice}`;

// The shell reads it first, then Node, for which the lines of the shell are comments. Node finds the other file through
// symbolic links, too. Old versions of Node must be able to read it.
const launcher = `#!/bin/sh
":" //; command -v node >/dev/null || { echo "${missing}" >&2; exit 1; }
":" //; exec node "$0" "$@"
var has = process.versions.node.split(".").map(Number);
var isSupported = ${JSON.stringify(supported)}.some(function (oldest) {
  return has[0] === oldest[0] ? has[1] >= oldest[1] : oldest[2] && has[0] > oldest[0];
});
if (!isSupported) {
  console.error("${needed}, and the node on PATH is " + process.versions.node + ". ${advice}");
  process.exitCode = 1;
} else require("./plugin.js");
`;
const launcherForWindows = [
  "@echo off",
  `where /q node || (echo ${missing} >&2& exit /b 1)`,
  'node "%~dp0pulumi-resource-rekey" %*',
  "",
];

const files = {
  "pulumi-resource-rekey": launcher,
  "pulumi-resource-rekey.cmd": launcherForWindows.join("\r\n"),
  "plugin.js": code,
  // Without it a package.json in a folder above would decide how Node reads the files.
  "package.json": '{ "private": true, "type": "commonjs" }\n',
  "LICENSES.txt": licenses(moduleIds),
};

const target = resolve(process.argv[2] ?? root);
const archives = ["linux", "darwin", "windows"].flatMap((system) =>
  ["amd64", "arm64"].map((processor) =>
    join(target, `pulumi-resource-rekey-v${version}-${system}-${processor}.tar.gz`),
  ),
);
const [first, ...others] = archives;
const cwd = mkdtempSync(join(tmpdir(), "plugin-"));
try {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  mkdirSync(target, { recursive: true });
  const onWriteEntry = (entry) => (entry.stat.mode = entry.path === "pulumi-resource-rekey" ? 0o755 : 0o644);
  const options = { cwd, gzip: { level: 9 }, portable: true, mtime: new Date(0), onWriteEntry };
  await create({ ...options, file: first }, Object.keys(files));
} finally {
  rmSync(cwd, { recursive: true });
}
// Nothing in it depends on the system.
for (const other of others) copyFileSync(first, other);
const checksum = createHash("sha256").update(readFileSync(first)).digest("hex");
const checksums = join(target, `pulumi-resource-rekey-v${version}-checksums.txt`);
writeFileSync(checksums, archives.map((archive) => `${checksum}  ${basename(archive)}\n`).join(""));
console.log([...archives, checksums].join("\n"));

/** The plugin and its libraries as one module. */
async function bundled() {
  const bundle = await rolldown({
    input: join(root, "dist/provider/engine/plugin/main.js"),
    cwd: root,
    platform: "node",
    plugins: [{ name: "libraries-of-sdk", transform: bundleLibraries }],
  });
  const { output } = await bundle.generate({ format: "cjs", minify: true, codeSplitting: false });
  return output[0];
}

/** In a bundle there is one copy of the libraries that `@pulumi/pulumi` uses. */
function bundleLibraries(source, id) {
  if (!id.endsWith(join("provider", "engine", "pulumiInternals.js"))) return undefined;
  return source.replace(/const sdkRequire = .*/, "").replaceAll("sdkRequire(", "require(");
}

/** The license texts of Rekey and of all packages with a module in the bundle. */
function licenses(modules) {
  const folders = modules.map((id) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(id.split(sep).join("/"))?.[0] ?? root);
  return [...new Set(folders)].toSorted().map(licenseOf).join("\n\n");
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((one) => /^(licen[cs]e|notice)/i.test(one));
  const heading = `==== ${name} ${version}, ${license} ====`;
  const found = texts.toSorted().map((one) => readFileSync(join(folder, one), "utf8").trim());
  if (found.length === 0) found.push(licenseInReadme(folder));
  return [heading, ...found].join("\n\n");
}

/** Some packages have the text only in their README. */
function licenseInReadme(folder) {
  const [, text] = /^(?:#+ )?License\n(?:-+\n)?([\s\S]+)/m.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? [];
  if (text === undefined) throw new Error(`${folder} has no text of its license.`);
  return text.trim();
}
