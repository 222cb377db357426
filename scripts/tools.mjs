// Programs that some tests need and that no npm package holds.
import { spawnSync } from "node:child_process";

/** Installs Redis, and says what is skipped where that cannot be done. */
export function ensureRedis() {
  if (has("redis-server") || installed("redis-server")) return;
  console.log(
    "There is no redis-server, and it could not be installed (that takes root and apt-get): the tests that need a Redis are skipped.",
  );
}

/** Installs Chromium on a machine of CI; it is too large to be put on somebody's own without asking. */
export function ensureChromium() {
  if (has("chromium") || (process.env.CI === "true" && installed("chromium"))) return;
  console.log(
    "There is no chromium on PATH (it is installed only where CI=true, which takes root and apt-get): the tests of the console's page are skipped.",
  );
}

/** Installs a Debian package where that can be done without asking: as root, with apt-get. */
function installed(name) {
  if (process.getuid?.() !== 0 || !has("apt-get")) return false;
  console.log(`Installing the Debian package ${name} …`);
  // RUNLEVEL=1: the package is not to start a server of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (...args) => spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 300_000 });
  apt("update");
  apt("install", "--yes", "--no-install-recommends", name);
  return has(name);
}

function has(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
