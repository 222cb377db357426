// Shared by the scripts. Only Node's own modules: a fresh clone has nothing else yet.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The address of the public repository that a package names; undefined if it names none. */
export function repositoryOf({ repository }) {
  return repository?.url.replace(/^git\+|\.git$/g, "");
}

const npm = process.env.npm_execpath;

/** Runs a command of npm. `npm run` sets the path of npm itself; otherwise npm is on PATH. */
export function runNpm(args, options = {}) {
  if (npm) return run(process.execPath, [npm, ...args], options);
  return run("npm", args, { shell: process.platform === "win32", ...options });
}

/** Runs a command to its end and returns its exit code. */
export function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, stdio: "inherit", ...options }).status ?? 1;
}

/** Runs a command and resolves to its exit code and all that it printed. */
export function runAndRead(command, args, { onOutput } = {}) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      onOutput?.(text);
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
  exitUnlessZero(runNpm(["ci", "--no-audit", "--no-fund"]), "npm ci");
}

/** The configuration of each package's compiler, by the folder that it writes. */
const projects = { dist: "tsconfig.build.json", "local/dist": "local/tsconfig.build.json" };

/** Builds both packages. A file whose source has not changed is not written again, because a test may be loading it. */
export function build() {
  copyLicense();
  for (const project of Object.values(projects)) compile(project);
}

/** Builds both packages elsewhere, and then replaces what differs, because a test may be loading the rest. */
export function buildFresh() {
  copyLicense();
  const folder = mkdtempSync(join(tmpdir(), "build-"));
  for (const [dist, project] of Object.entries(projects)) {
    compile(project, "--outDir", join(folder, dist), "--incremental", "false");
  }
  for (const dist of Object.keys(projects)) replaceFiles(join(folder, dist), join(root, dist));
  rmSync(folder, { recursive: true });
}

/** rekey-local has the licence of the root: npm packs no file from outside of a package, and no link. */
function copyLicense() {
  cpSync(join(root, "LICENSE"), join(root, "local/LICENSE"));
}

function compile(project, ...options) {
  exitUnlessZero(run(process.execPath, [bin("typescript/bin/tsc"), "-p", project, ...options]), "the build");
}

/** Gives a folder the same files as another one. No file is ever missing or half written. */
function replaceFiles(from, to) {
  for (const path of filesIn(from)) {
    const [source, target] = [join(from, path), join(to, path)];
    if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, `${target}.new`);
    renameSync(`${target}.new`, target);
  }
  for (const path of filesIn(to)) {
    if (!existsSync(join(from, path)) && !path.endsWith(".tsbuildinfo")) rmSync(join(to, path));
  }
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).filter((path) => statSync(join(folder, path)).isFile());
}

function exitUnlessZero(code, what) {
  if (code === 0) return;
  console.error(`${what} failed (exit code ${code}).`);
  process.exit(code);
}
