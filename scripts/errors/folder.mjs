// A project's folder for samples; what is said of it, is said of /home/you/caches.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "./samples.mjs";

/** What the act says that gets a folder with these files. */
export async function saidIn(files, act) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "errors-")));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return asExample(await messageOf(() => act(folder)), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A message in which nothing is left of this machine. */
export function asExample(text, folder) {
  return text
    .replaceAll(folder, "/home/you/caches")
    .replaceAll(process.execPath, "node")
    .replaceAll(`.${process.pid}`, ".4242")
    .replaceAll(`process ${process.pid} on ${hostname()}`, "process 4242 on laptop");
}
