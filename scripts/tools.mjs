// Programs that some tests need and that no npm package holds.
import { spawnSync } from "node:child_process";

/** Installs Redis where that can be done without asking (as root, with apt-get), and says what is skipped where it cannot. */
export function ensureRedis() {
  if (has("redis-server")) return;
  if (process.getuid?.() === 0 && has("apt-get")) {
    console.log("Installing the Debian package redis-server …");
    // RUNLEVEL=1: the package is not to start a Redis of its own.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    const apt = (...args) => spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 120_000 });
    apt("update");
    apt("install", "--yes", "--no-install-recommends", "redis-server");
    if (has("redis-server")) return;
  }
  console.log(
    "There is no redis-server, and it could not be installed (that takes root and apt-get): the tests that need a Redis are skipped.",
  );
}

function has(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
