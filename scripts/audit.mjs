// npm run audit: known vulnerabilities of the shipped dependencies. Not every registry supports audits.
import { spawnSync } from "node:child_process";
import { root } from "./lib.mjs";

const { status, stdout, stderr } = spawnSync("npm", ["audit", "--omit=dev", "--audit-level=low", "--loglevel=error"], {
  cwd: root,
  encoding: "utf8",
  shell: true,
});
if (/audit endpoint returned an error|ENOAUDIT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED/.test(stderr)) {
  console.log("skipped: the package registry in use does not support audits. Run this with one that does.");
} else {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
}
