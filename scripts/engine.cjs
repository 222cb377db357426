// node scripts/engine.cjs: builds the `pulumi` that tests run, if there is none and Go can build it.
const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { existsSync, mkdirSync, readFileSync, renameSync } = require("node:fs");
const { homedir } = require("node:os");
const { delimiter, dirname, join } = require("node:path");

const folder = join(__dirname, "..", "test", "engine");
const read = (name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n");
const [, version] = /^\s*github\.com\/pulumi\/pulumi\/pkg\/v3 (v\S+)/m.exec(read("go.mod"));
const digest = createHash("sha256").update(read("go.sum")).digest("hex").slice(0, 12);

/** In the user's cache, which `npm ci` does not delete. */
const built = join(
  process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
  "rekey",
  `pulumi-${version}-${digest}`,
  "pulumi",
);

/** The path of the `pulumi` that tests run: that on PATH, else the one that was built. Undefined if there is none. */
function findPulumi() {
  if (process.platform === "win32") return undefined;
  const onPath = (process.env.PATH ?? "").split(delimiter).map((one) => join(one, "pulumi"));
  return [...onPath, built].find((path) => existsSync(path));
}

/** Why `findPulumi` finds none, and what brings one. */
const whyNoPulumi =
  process.platform === "win32"
    ? "the providers' scripts in test/engine/bin need a shell"
    : "no `pulumi` on PATH; `node scripts/engine.cjs` builds one with Go, in about four minutes";

/** Builds it into the cache. @returns whether that succeeded */
function build() {
  const unfinished = `${built}.${process.pid}`;
  const flags = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${version}`;
  const args = ["build", "-ldflags", flags, "-o", unfinished, "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"];
  mkdirSync(dirname(built), { recursive: true });
  const { status, error } = spawnSync("go", args, {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, GOWORK: "off" },
  });
  if (status === 0) renameSync(unfinished, built);
  else console.log(`No engine was built: ${error?.message ?? `go build ended with ${status}`}.`);
  return status === 0;
}

module.exports = { findPulumi, whyNoPulumi };

if (require.main === module && !findPulumi()) {
  console.log(`Building pulumi ${version} …`);
  process.exitCode = build() ? 0 : 1;
}
