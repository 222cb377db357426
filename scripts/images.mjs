// node scripts/images.mjs: the images in README and docs/, recorded from a run of the quickstart and from the console.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { publish, startConsumer } from "./consumer.mjs";
import { build, ensureInstalled, root } from "./lib.mjs";
import { terminalSvg } from "./terminal-svg.mjs";

ensureInstalled();
build();
const require = createRequire(import.meta.url);
const folder = join(root, "docs", "images");
mkdirSync(folder, { recursive: true });
await photographConsole();
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

/** The console after 90 seconds of messages and actions of an operator. */
async function photographConsole() {
  const { startPlatform } = require("../local/dist");
  require("ts-node/register/transpile-only");
  const { openChromium } = require("../test/support/chromium");
  const platform = await startPlatform({ databases: ["cache", "sessions", "analytics"], flowControlKeys: [] });
  const consumer = await startConsumer();
  // Responds after a delay.
  const slow = createServer((_request, response) => void setTimeout(() => response.end(), 400 + 800 * Math.random()));
  await once(slow.listen(0, "127.0.0.1"), "listening");
  const slowUrl = `http://127.0.0.1:${slow.address().port}`;
  const browser = await openChromium();
  const pages = [];
  for (const colorScheme of ["light", "dark"]) {
    const viewport = { width: 1080, height: 860 };
    const page = await browser.newPage({ colorScheme, viewport });
    await page.goto(platform.consoleUrl);
    pages.push({ colorScheme, page });
  }
  const [{ page }] = pages;
  const send = (flowControlKey, limits, destination, count) =>
    publish(platform, { flowControlKey, limits, destination, count });
  const click = (name) => page.getByRole("button", { name }).click();
  const confirm = () => page.getByRole("dialog").getByRole("button", { name: "Reset password" }).click();
  for (let second = 0; second < 90; second++) {
    await send("reports", "parallelism=6", slowUrl, Math.round(6 + 5 * Math.sin(second / 8)));
    if (second % 15 === 0) await send("orders", "rate=5, period=1d", consumer.url, 8);
    if (second % 10 === 0) await send("emails", "rate=3, period=10s", slowUrl, 4);
    if (second === 20) await send("webhooks", "parallelism=2", slowUrl, 1);
    if (second === 22) await click("Pause delivery of webhooks");
    if (second === 40) await send("webhooks", "parallelism=2", slowUrl, 9);
    if (second === 50) await click("Reset password of cache").then(confirm);
    if (second === 70) await click("Reset flow control of orders");
    await wait(1_000);
  }
  await page.mouse.move(0, 0);
  for (const { colorScheme, page } of pages) {
    await page.screenshot({ path: join(folder, `console-${colorScheme}.png`) });
  }
  await browser.close();
  await platform.close();
  consumer.close();
  slow.close();
  slow.closeAllConnections();
}
