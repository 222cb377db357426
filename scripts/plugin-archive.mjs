// npm run plugin:archive [-- folder]: writes the built native plugin as an archive for `pulumi plugin install --file`.
// All libraries are bundled into one file. The same sources give the same bytes.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { rolldown } from "rolldown";
import { create } from "tar";
import { root } from "./lib.mjs";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { code, moduleIds } = await bundled();
const files = {
  "pulumi-resource-rekey": code,
  "pulumi-resource-rekey.cmd": '@node "%~dp0pulumi-resource-rekey" %*\r\n',
  // Without it a package.json in a folder above would decide how Node reads the file.
  "package.json": '{ "private": true, "type": "commonjs" }\n',
  "LICENSES.txt": licenses(moduleIds),
};

const target = resolve(process.argv[2] ?? root);
const file = join(target, `pulumi-resource-rekey-v${version}.tar.gz`);
const cwd = mkdtempSync(join(tmpdir(), "plugin-"));
try {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  mkdirSync(target, { recursive: true });
  const onWriteEntry = (entry) => (entry.stat.mode = entry.path === "pulumi-resource-rekey" ? 0o755 : 0o644);
  await create({ cwd, file, gzip: { level: 9 }, portable: true, mtime: new Date(0), onWriteEntry }, Object.keys(files));
} finally {
  rmSync(cwd, { recursive: true });
}
console.log(file);

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
  if (!id.endsWith(join("provider", "engine", "plugin", "proto.js"))) return undefined;
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
  return [heading, ...texts.toSorted().map((one) => readFileSync(join(folder, one), "utf8").trim())].join("\n\n");
}
