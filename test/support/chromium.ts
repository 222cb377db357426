import { type Browser, chromium } from "playwright-core";
import { findOnPath } from "./processes";

const executablePath = findOnPath("chromium");

/** Describes specs that need a real Chromium; skips them if there is none. */
export function withChromium(title: string, specs: (this: Mocha.Suite) => void): void {
  if (executablePath !== undefined) describe(title, specs);
  else it.skip(`${title} (skipped: there is no chromium on PATH)`);
}

/** The Chromium on PATH, without a window and without services that call other machines. */
export function openChromium(): Promise<Browser> {
  const quiet = ["disable-background-networking", "disable-component-update", "disable-sync", "no-first-run"];
  const args = ["no-sandbox", "disable-gpu", "disable-quic", ...quiet].map((flag) => `--${flag}`);
  return chromium.launch({ ...(executablePath && { executablePath }), headless: true, args, timeout: 120_000 });
}
