// Shared by the scripts. Only Node's own modules: a fresh clone has nothing else yet.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * What only the owner of the project knows, from its package.json: the address of the public repository, the names of
 * the author and of the publisher in Pulumi's registry, and the npm scope of generated SDKs. Each may be undefined.
 */
export function ownerOf({ repository, author, rekey }) {
  return { repository: repository?.url.replace(/^git\+|\.git$/g, ""), author, ...rekey };
}

/** Runs a command to its end and returns its exit code. */
export function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, stdio: "inherit", ...options }).status ?? 1;
}

/** Runs a command, shows what it prints, and resolves to its exit code and all that it printed. */
export function runAndRead(command, args, { show = true } = {}) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (show) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code: code ?? 1, output })));
}

/** The path of a package's command. Node can run it on every system. */
export function bin(path) {
  return join(root, "node_modules", path);
}

/** Installs the packages of the lock file, unless they are installed. */
export function ensureInstalled() {
  const installed = join(root, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs) return;
  console.log("Installing the packages of the lock file …");
  // `npm run` sets the path of npm itself; otherwise npm is on PATH.
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund"];
  const code = npm ? run(process.execPath, [npm, ...args]) : run("npm", args, { shell: process.platform === "win32" });
  if (code !== 0) process.exit(code);
}

/** Both packages: their folders, and those of their sources. */
const packages = [
  { folder: root, sources: ["provider", "sdk"] },
  { folder: join(root, "local"), sources: ["."] },
];

/** Compiles both packages. @returns whether there is no error; what could be compiled is written in any case */
export function build() {
  // npm packs no file from outside of a package, and no link.
  cpSync(join(root, "LICENSE"), join(root, "local", "LICENSE"));
  return packages.map(({ folder }) => compile(folder)).every((code) => code === 0);
}

/** The same, only if a source has changed since the last build. */
export function buildIfChanged() {
  return packages.every(({ folder, sources }) => isBuilt(folder, sources)) || build();
}

const infoOf = (folder) => join(folder, "dist", "tsconfig.build.tsbuildinfo");

/** The compiler writes only what has changed, because a test may be loading the rest. */
function compile(folder) {
  const code = run(process.execPath, [bin("typescript/bin/tsc"), "-p", join(folder, "tsconfig.build.json")]);
  const built = join(folder, "dist");
  for (const path of filesIn(built)) {
    const hasSource = existsSync(join(folder, path.replace(/\.(js|d\.ts)$/, ".ts")));
    if (!hasSource && !path.endsWith(".tsbuildinfo")) rmSync(join(built, path));
  }
  const now = new Date();
  if (existsSync(infoOf(folder))) utimesSync(infoOf(folder), now, now);
  return code;
}

function isBuilt(folder, sources) {
  if (!existsSync(infoOf(folder))) return false;
  const { mtimeMs } = statSync(infoOf(folder));
  const files = sources.flatMap((name) => filesIn(join(folder, name)).map((path) => join(folder, name, path)));
  return [...files, join(root, "tsconfig.json")].every((path) => statSync(path).mtimeMs <= mtimeMs);
}

function filesIn(folder) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  return paths.filter((one) => one.isFile()).map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}
