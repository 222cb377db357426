// npm run quickstart: a rotation and a flow-control reset on this machine, without an account.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { publish, startHangingConsumer } from "./hanging-consumer.mjs";
import { build, ensureInstalled, root } from "./lib.mjs";

const stack = "quickstart";
const folder = join(root, ".rekey", "quickstart");

ensureInstalled();
build();

const { startPlatform } = createRequire(import.meta.url)(join(root, "local", "dist"));
const platform = await startPlatform({
  databases: ["cache"],
  flowControlKeys: [],
  credentialsInResponse: "always",
});
const consumer = await startHangingConsumer();

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
    limits: "parallelism=5, rate=100, period=1d",
    destination: consumer.url,
    count: 12,
  });
  await consumer.took(5);
  say("12 messages are published, of which 5 may run at the same time. Their consumer hangs: 5 never end, and 7 wait.");
  if (hasPulumi) await engine("stack", "init", stack);
  await engine("config", "set", "rekey:baseUrl", platform.url, "--stack", stack);
  await engine("config", "set", "rekey:queueUrl", platform.url, "--stack", stack);
  await engine("config", "set", "databaseId", "cache", "--stack", stack);
  await engine("config", "set", "flowControlKey", "orders", "--stack", stack);

  say("1. Preview: shows the planned changes. No reset is sent.");
  await engine("preview", "--stack", stack);
  expectResets(0);
  say("2. Up: resets the password and the flow-control key, whose next 5 messages are dispatched.");
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
say(`Done: the platform counted ${platform.resetCount} password resets.

To use it with your own account, in your own Pulumi project:
  npm install pulumi-rekey
  pulumi config set rekey:baseUrl https://…            the platform's management interface
  pulumi config set rekey:queueUrl https://…           its message queue
  pulumi config set rekey:databaseHost …               host of a database, such as {endpoint}.example.com
  pulumi config set rekey:username you@example.com
  pulumi config set --secret rekey:password …          or REKEY_PASSWORD in the environment
  pulumi config set --secret rekey:queueToken …        or REKEY_QUEUE_TOKEN
The program is examples/quickstart/index.ts. README.md describes what triggers a reset.`);

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
