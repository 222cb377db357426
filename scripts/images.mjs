// node scripts/images.mjs: the image in README, recorded from a run of the quickstart.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build, ensureInstalled, root } from "./lib.mjs";
import { terminalSvg } from "./terminal-svg.mjs";

ensureInstalled();
build();
const folder = join(root, "docs", "images");
mkdirSync(folder, { recursive: true });
await recordQuickstart();

async function recordQuickstart() {
  const run = spawn(process.execPath, [join(root, "scripts", "quickstart.mjs")], { cwd: root });
  const lines = [{ text: "$ npm run quickstart", at: Date.now() }];
  createInterface(run.stdout).on("line", (text) => lines.push({ text, at: Date.now() }));
  const [code] = await once(run, "close");
  if (code !== 0) throw new Error(`The quickstart failed (exit code ${code}).`);
  // How to install it depends on whether it is published.
  const end = lines.findIndex(({ text }) => text.startsWith("To use it "));
  if (end < 0) throw new Error("The quickstart does not print how to use it.");
  lines.splice(end);
  const title =
    "npm run quickstart: a password is rotated, waiting messages are delivered, and the stack shows the counters";
  writeFileSync(join(folder, "quickstart.svg"), terminalSvg(title, lines));
}
