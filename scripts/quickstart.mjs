// npm run quickstart: a rotation and a flow-control reset on this machine, without an account.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { publish, startConsumer } from "./consumer.mjs";
import { build, ensureInstalled, repositoryOf, root } from "./lib.mjs";

const stack = "quickstart";
const folder = join(root, ".rekey", "quickstart");
const databaseId = "96ad0856-03b1-4ee7-9666-e81abd0349e1";

ensureInstalled();
build();

const { startPlatform } = createRequire(import.meta.url)(join(root, "local", "dist"));
// Like Upstash: the response to a reset has no credentials, and a read has them.
const platform = await startPlatform({
  databases: [databaseId],
  flowControlKeys: [],
  databasePath: "/v2/redis/database/{id}",
  credentials: "read",
});
const consumer = await startConsumer();

rmSync(folder, { recursive: true, force: true });
rmSync(join(root, `Pulumi.${stack}.yaml`), { force: true });
mkdirSync(folder, { recursive: true });
const environment = {
  ...process.env,
  PULUMI_CONFIG_PASSPHRASE: "quickstart",
  PULUMI_BACKEND_URL: `file://${folder}`,
  PULUMI_SKIP_UPDATE_CHECK: "true",
  // Credentials from the environment are not saved in the state. Addresses and names are configuration.
  REKEY_USERNAME: platform.username,
  REKEY_PASSWORD: platform.password,
  REKEY_QUEUE_TOKEN: platform.queueToken,
};
const hasPulumi = spawnSync("pulumi", ["version"], { stdio: "ignore" }).status === 0;

try {
  say(`A local platform is running at ${platform.url}. It ends with this script.`);
  say(
    hasPulumi
      ? "The engine is `pulumi` from your PATH."
      : "`pulumi` is not on PATH, so the engine is Rekey's local engine.",
  );
  await publish(platform, {
    flowControlKey: "orders",
    limits: "rate=5, period=1d",
    destination: consumer.url,
    count: 12,
  });
  await consumer.took(5);
  say("12 messages are published, with a limit of 5 per day: 5 are delivered, and 7 wait.");
  if (hasPulumi) await engine("stack", "init", stack);
  await engine("config", "set", "rekey:platform", "upstash", "--stack", stack);
  await engine("config", "set", "rekey:baseUrl", platform.url, "--stack", stack);
  await engine("config", "set", "rekey:queueUrl", platform.url, "--stack", stack);
  await engine("config", "set", "databaseId", databaseId, "--stack", stack);
  await engine("config", "set", "flowControlKey", "orders", "--stack", stack);

  say("1. Preview: shows the planned changes. No reset is sent.");
  await engine("preview", "--stack", stack);
  expectResets(0);
  say("2. Up: resets the password and the flow-control key, whose next 5 messages are delivered.");
  await up();
  expectResets(1);
  await consumer.took(10);
  console.log("   (the consumer has received 10 of the 12 messages)");
  say("3. Up again: nothing has changed, so nothing is reset.");
  await up();
  expectResets(1);
  say("4. A new version requests one more reset. The database then accepts the new password only.");
  await engine("config", "set", "version", "2", "--stack", stack);
  await up();
  expectResets(2);
  say("The stack's outputs, with the counters of the flow-control key before the reset and now:");
  await engine(...(hasPulumi ? ["stack", "output"] : ["output"]), "--stack", stack);
} finally {
  await platform.close();
  consumer.close();
}
const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const install = repositoryOf(about)
  ? "npm install pulumi-rekey"
  : `npm pack --pack-destination <project>/vendor              here, after: mkdir -p <project>/vendor
  npm install ./vendor/pulumi-rekey-${about.version}.tgz           there; commit the folder vendor`;
say(`Done: the platform counted ${platform.resetCount} password resets.

To use it with your own account, in your own Pulumi project:
  ${install}
  pulumi config set rekey:platform upstash
  pulumi config set rekey:username you@example.com     the account's email address
  pulumi config set --secret rekey:password            a management API key, or REKEY_PASSWORD in the environment
  pulumi config set --secret rekey:queueToken          the QStash token, or REKEY_QUEUE_TOKEN
The program is examples/quickstart/index.ts. Read README.md, "Before you use it", first.`);

function up() {
  return engine("up", "--yes", "--skip-preview", "--stack", stack);
}

/** Runs a command of `pulumi` or of the local engine. Not synchronously, because the platform runs in this process. */
async function engine(...args) {
  const local = [join(root, "local", "dist", "cli", "main.js"), ...args, "--state-dir", folder];
  const [command, all] = hasPulumi ? ["pulumi", args] : [process.execPath, local];
  const [code] = await once(spawn(command, all, { cwd: root, env: environment, stdio: "inherit" }), "close");
  if (code !== 0) fail(`${[command, ...all].join(" ")} failed (exit code ${code}).`);
}

function expectResets(count) {
  if (platform.resetCount !== count) {
    fail(`The platform counted ${platform.resetCount} password resets instead of ${count}.`);
  }
  console.log(`   (the platform has counted ${count} password reset${count === 1 ? "" : "s"})`);
}

function say(text) {
  console.log(`\n${text}\n`);
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
