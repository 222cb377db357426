// Takes each of the nine rules about failures out of a copy of the code, and shows that a test of the fault table notices.
// Ends with 1 where a removal goes unnoticed, or can no longer be made. An argument limits it to one rule: `-- 5`.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { removals } from "./rules.mjs";

const root = join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);
const copied = ["provider", "sdk", "local", "test/faults", "test/support", "test/fixtures"];
const files = ["package.json", "tsconfig.json", "tsconfig.build.json", "Pulumi.yaml"];
const only = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
const copy = mkdtempSync(join(tmpdir(), "without-rules-"));
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));

/** Runs one of the project's tools in the copy. */
function run(script, ...args) {
  const child = spawn(process.execPath, [script, ...args], { cwd: copy, stdio: ["ignore", "pipe", "inherit"] });
  const chunks = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, text: Buffer.concat(chunks).toString() }));
  });
}

/** A copy of the project in which the package's own name leads to the copy. */
async function makeCopy() {
  for (const one of [...copied, ...files]) cpSync(join(root, one), join(copy, one), { recursive: true });
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    const target = name === "pulumi-rekey" ? copy : join(root, "node_modules", name);
    symlinkSync(target, join(copy, "node_modules", name), "junction");
  }
  const { code, text } = await run(require.resolve("typescript/bin/tsc"), "-p", "tsconfig.build.json");
  if (code !== 0) throw new Error(`the copy could not be built\n${text}`);
}

/** Writes a source file and what is built of it. */
function write(file, source) {
  writeFileSync(join(copy, file), source);
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true };
  const { outputText } = ts.transpileModule(source, { compilerOptions, fileName: file });
  writeFileSync(join(copy, "dist", file.replace(/\.ts$/, ".js")), outputText);
}

function change({ file, from, to }) {
  const source = readFileSync(join(root, file), "utf8");
  if (source.split(from).length !== 2) throw new Error(`${file} no longer holds this exactly once: ${from}`);
  write(
    file,
    source.replace(from, () => to),
  );
  return () => write(file, source);
}

/** How many of these tests failed, up to the first; a harness that broke is no finding. */
async function failuresOf([file, pattern]) {
  const args = [
    `test/faults/${file}.test.ts`,
    "--grep",
    pattern,
    "--reporter=json",
    "--timeout=20000",
    "--bail",
    "--exit",
  ];
  const requires = ["--no-config", "--require=ts-node/register/transpile-only", "--extension=ts"];
  const { text } = await run(require.resolve("mocha/bin/mocha.js"), ...args, ...requires);
  const { stats, failures } = JSON.parse(text.slice(text.indexOf("{")));
  const broken = failures.find(({ title }) => title.startsWith('"'));
  if (broken) throw new Error(`${broken.title}: ${broken.err.message}`);
  if (stats.tests === 0) throw new Error(`no test is called ${pattern}`);
  return failures.length;
}

async function tryRemoval({ rule, what, also, tests, ...edit }) {
  const undo = [];
  let result;
  try {
    for (const one of [edit, also].filter(Boolean)) undo.push(change(one));
    const failed = await failuresOf(tests);
    result = failed > 0 ? "noticed" : "NOT NOTICED";
  } catch (error) {
    result = `NOT TRIED: ${error.message}`;
  }
  for (const restore of undo) restore();
  console.log(`rule ${rule}  ${what.padEnd(55)} ${result}`);
  return result === "noticed";
}

await makeCopy();
const chosen = removals.filter(({ rule }) => only === undefined || rule === only);
const selections = new Map(chosen.map(({ tests }) => [tests.join(" "), tests]));
let sound = true;
for (const tests of selections.values()) {
  const failed = await failuresOf(tests);
  if (failed > 0) console.log(`${failed} of ${tests.join(": ")} fail with all rules in place`);
  sound &&= failed === 0;
}
for (const removal of chosen) sound = (await tryRemoval(removal)) && sound;
process.exitCode = sound ? 0 : 1;
