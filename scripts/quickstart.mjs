// npm run quickstart: a rotation and a flow-control reset on this machine, without an account.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { publish, startConsumer } from "./consumer.mjs";
import { build, ensureInstalled, root } from "./lib.mjs";
import { inMemory, onPulumi } from "./quickstart-stacks.mjs";

const databaseId = "96ad0856-03b1-4ee7-9666-e81abd0349e1";

process.chdir(root);
ensureInstalled();
if (!build()) process.exit(1);

const require = createRequire(import.meta.url);
const { startPlatform, MemoryStack } = require("../local/dist");
// Like Upstash: the response to a reset has no credentials, and a read has them.
const platform = await startPlatform({
  databases: [databaseId],
  flowControlKeys: [],
  databasePath: "/v2/redis/database/{id}",
  credentials: "read",
});
const consumer = await startConsumer();
const state = mkdtempSync(join(tmpdir(), "rekey-quickstart-"));
const config = {
  databaseId,
  flowControlKey: "orders",
  "rekey:platform": "upstash",
  "rekey:baseUrl": platform.url,
  "rekey:queueUrl": platform.url,
  "rekey:username": platform.username,
  "rekey:password": { secret: platform.password },
  "rekey:queueToken": { secret: platform.queueToken },
};

try {
  say(`A local platform is running at ${platform.url}. It ends with this script.`);
  const pulumi = await onPulumi(program, config, state).catch(() => undefined);
  const stack = pulumi ?? inMemory(new MemoryStack(program, config));
  say(
    pulumi
      ? `Using pulumi ${pulumi.version} (${pulumi.path}). Without \`pulumi\` on your PATH, the program runs in memory.`
      : 'The program runs in memory: `pulumi` is not on PATH, or does not start. With it: npx -p pulumi -c "npm run quickstart"',
  );
  await publish(platform, {
    flowControlKey: "orders",
    limits: "rate=5, period=1d",
    destination: consumer.url,
    count: 12,
  });
  await consumer.took(5);
  say("12 messages are published, with a limit of 5 per day: 5 are delivered, and 7 wait.");

  say("1. Preview: shows the planned changes. No reset is sent.");
  await stack.preview();
  expectResets(0);
  say("2. Up: resets the password and the flow-control key, whose next 5 messages are delivered.");
  await stack.up();
  expectResets(1);
  await consumer.took(10);
  console.log("   (the consumer has received 10 of the 12 messages)");
  say("3. Up again: nothing has changed, so nothing is reset.");
  await stack.up();
  expectResets(1);
  say("4. A new version requests one more reset. The database then accepts the new password only.");
  const old = platform.database(databaseId).password;
  await stack.setVersion("2");
  const { redisUrl } = await stack.up();
  expectResets(2);
  console.log("   The database replies to the old password, and to the one in the stack's outputs:");
  for (const [tried, expected] of [
    [old, "-WRONGPASS"],
    [new URL(redisUrl.value).password, "+OK"],
  ]) {
    const reply = await replyTo(tried);
    console.log(`   ${reply}`);
    if (!reply.startsWith(expected)) throw new Error(`The database did not reply ${expected}.`);
  }
  say("The stack's outputs, with the counters of the flow-control key before the reset and now:");
  for (const [name, { value, secret }] of Object.entries(await stack.outputs())) {
    console.log(`    ${name.padEnd(17)} ${secret ? "[secret]" : value}`);
  }
} finally {
  await platform.close();
  consumer.close();
  rmSync(state, { recursive: true });
}
say(`Done: the platform counted ${platform.resetCount} password resets.

To use it with your own account, install it in your own Pulumi project as README.md describes, and there:
  pulumi config set rekey:platform upstash
  pulumi config set rekey:username you@example.com     the account's email address
  pulumi config set --secret rekey:password            a management API key, or REKEY_PASSWORD in the environment
  pulumi config set --secret rekey:queueToken          the QStash token, or REKEY_QUEUE_TOKEN
The program is examples/quickstart/index.ts. \`pulumi up\` in this folder runs it, too, once databaseId and flowControlKey are set.
Read docs/guide.md first.`);

/** The program of the example. Its file is run again for each operation. */
function program() {
  require("ts-node").register({ transpileOnly: true });
  const file = require.resolve("../examples/quickstart/index.ts");
  delete require.cache[file];
  return require(file);
}

/** What the database replies to a client that authenticates with a password. */
async function replyTo(password) {
  const { endpoint, port } = platform.database(databaseId).record;
  const socket = connect(port, endpoint);
  socket.end(`*2\r\n$4\r\nAUTH\r\n$${password.length}\r\n${password}\r\n`);
  return (await text(socket)).trim();
}

function expectResets(count) {
  if (platform.resetCount !== count) {
    throw new Error(`The platform counted ${platform.resetCount} password resets instead of ${count}.`);
  }
  console.log(`   (the platform has counted ${count} password reset${count === 1 ? "" : "s"})`);
}

function say(text) {
  console.log(`\n${text}\n`);
}
