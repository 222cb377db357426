// node scripts/plugin-sdks.mjs [folder]: builds the SDKs for Python and Go from the schema into a folder, and checks
// them: the wheel is installed and imported, the Go module is compiled. It needs `pulumi`, `python3`, `go`, and package
// registries.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { create } from "tar";
import { root } from "./lib.mjs";

const read = (...path) => JSON.parse(readFileSync(join(...path), "utf8"));
const { version } = read(root, "package.json");
const schema = read(root, "schema.json");
// Only a public repository has a server.
const plugin = {
  resource: true,
  name: schema.name,
  version,
  ...(schema.pluginDownloadURL && { server: schema.pluginDownloadURL }),
};
const names = Object.keys(schema.resources).map((token) => token.split(":").at(-1));
const target = resolve(process.argv[2] ?? "sdks");
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "sdks-"));
const python = join(folder, "venv", "bin", "python");

try {
  writeFileSync(join(folder, "schema.json"), JSON.stringify({ ...schema, version }));
  generate("python");
  generate("go");
  console.log([wheel(), await goModule()].join("\n"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function generate(language) {
  run("pulumi", ["package", "gen-sdk", "schema.json", "--language", language, "--out", "sdk"]);
}

function wheel() {
  // setuptools adds a file of this name to the wheel.
  copyFileSync(join(root, "LICENSE"), join(folder, "sdk", "python", "LICENSE"));
  run("python3", ["-m", "venv", join(folder, "venv")]);
  run(python, ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, join(folder, "sdk", "python")]);
  const file = join(target, `pulumi_${schema.name}-${version}-py3-none-any.whl`);
  run(python, ["-m", "pip", "install", "--quiet", file]);
  const program = `
import importlib.metadata, importlib.resources, json, pulumi_rekey
plugin = json.loads(importlib.resources.files("pulumi_rekey").joinpath("pulumi-plugin.json").read_text())
names = [name for name in dir(pulumi_rekey) if name in ${JSON.stringify(names)}]
about = importlib.metadata.distribution("pulumi_rekey")
license = next(file for file in about.files if file.name == "LICENSE").read_text()
print(json.dumps({ "version": about.version, "plugin": plugin, "names": names, "license": license }))`;
  const found = JSON.parse(run(python, ["-c", program]));
  const license = readFileSync(join(root, "LICENSE"), "utf8");
  assert.deepEqual(found, { version, plugin, names: [...names].toSorted(), license });
  return file;
}

async function goModule() {
  const cwd = join(folder, "sdk", "go");
  copyFileSync(join(root, "LICENSE"), join(cwd, "LICENSE"));
  const module = schema.language.go.importBasePath.replace(/\/rekey$/, "");
  // The versions that the example is tested with.
  const example = readFileSync(join(root, "examples/languages/go/go.mod"), "utf8");
  writeFileSync(join(cwd, "go.mod"), example.replace(/^module .*/, `module ${module}`));
  run("go", ["mod", "tidy"], { cwd });
  // The Go that the example names is what its packages need.
  const needed = (text) => /^go .*/m.exec(text)?.[0];
  assert.equal(needed(readFileSync(join(cwd, "go.mod"), "utf8")), needed(example));
  run("go", ["vet", "./..."], { cwd });
  assert.deepEqual(read(cwd, schema.name, "pulumi-plugin.json"), plugin);
  const file = join(target, `pulumi-${schema.name}-go-v${version}.tar.gz`);
  const files = readdirSync(cwd);
  assert.ok(files.includes("LICENSE"));
  await create({ cwd, file, gzip: true, portable: true }, files);
  return file;
}

/** Runs a command. @returns what it printed */
function run(command, args, options) {
  return execFileSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    ...options,
  });
}
