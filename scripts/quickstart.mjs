// npm run quickstart: a rotation and a flow-control reset on this machine, with no account.
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
  credentialsInAnswer: "always",
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
  // Credentials from the environment stand in no state; addresses and names are configuration.
  REKEY_USERNAME: platform.username,
  REKEY_PASSWORD: platform.password,
  REKEY_QUEUE_TOKEN: platform.queueToken,
};
const hasPulumi = spawnSync("pulumi", ["version"], { stdio: "ignore" }).status === 0;

try {
  say(`A platform runs on this machine at ${platform.url}; it ends with this script.`);
  say(
    hasPulumi ? "The engine is `pulumi`, from your PATH." : "There is no `pulumi` on PATH: the engine is Rekey's own.",
  );
  await publish(platform, {
    flowControlKey: "orders",
    limits: "parallelism=5, rate=100, period=1d",
    destination: consumer.url,
    count: 12,
  });
  await consumer.took(5);
  say("12 messages are published, of which 5 may run at once. Their consumer hangs: 5 run for ever, 7 wait.");
  if (hasPulumi) await engine("stack", "init", stack);
  await engine("config", "set", "rekey:baseUrl", platform.url, "--stack", stack);
  await engine("config", "set", "rekey:queueUrl", platform.url, "--stack", stack);
  await engine("config", "set", "databaseId", "cache", "--stack", stack);
  await engine("config", "set", "flowControlKey", "orders", "--stack", stack);

  say("1. Preview: shows what would be done. Nothing is sent.");
  await engine("preview", "--stack", stack);
  expectResets(0);
  say("2. Up: the password is reset, and the flow-control key: its next 5 messages are dispatched.");
  await up();
  expectResets(1);
  await consumer.took(10);
  console.log("   (the consumer was handed 10 of the 12 messages)");
  say("3. Up again: nothing has changed, so nothing is rotated twice.");
  await up();
  expectResets(1);
  say("4. A new version asks for one more reset.");
  await engine("config", "set", "version", "2", "--stack", stack);
  await up();
  expectResets(2);
  say("The stack's outputs, with the counters of the flow-control key before its reset and now:");
  await engine(...(hasPulumi ? ["stack", "output"] : ["output"]), "--stack", stack);
} finally {
  await platform.close();
  consumer.close();
}
say(`That was all of it: ${platform.resetCount} password resets, as counted by the platform.

With your own account, in your own Pulumi project:
  npm install pulumi-rekey
  pulumi config set rekey:baseUrl https://…            the platform's management interface
  pulumi config set rekey:queueUrl https://…           its message queue
  pulumi config set rekey:username you@example.com
  pulumi config set --secret rekey:password …          or REKEY_PASSWORD in the environment
  pulumi config set --secret rekey:queueToken …        or REKEY_QUEUE_TOKEN
The program is examples/quickstart/index.ts; README.md says what rotates, and what never does.`);

function up() {
  return engine("up", "--yes", "--skip-preview", "--stack", stack);
}

/**
 * Runs a command of `pulumi`, or the same of the local engine; not synchronously, because the platform runs in here.
 */
async function engine(...args) {
  const local = [join(root, "local", "dist", "cli", "main.js"), ...args, "--state-dir", folder];
  const [command, all] = hasPulumi ? ["pulumi", args] : [process.execPath, local];
  const [code] = await once(spawn(command, all, { cwd: root, env: environment, stdio: "inherit" }), "close");
  if (code !== 0) fail(`${[command, ...all].join(" ")} failed (exit code ${code}).`);
}

function expectResets(count) {
  if (platform.resetCount !== count) {
    fail(`The platform counts ${platform.resetCount} password resets; ${count} were expected.`);
  }
  console.log(`   (the platform counts ${count} password reset${count === 1 ? "" : "s"})`);
}

function say(text) {
  console.log(`\n${text}\n`);
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
