// A client of the Redis. It reads the address with the password from a file, such as a mounted Secret of Kubernetes,
// once a second, connects for each command, and confirms that it uses a new one.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";

const [, , file = "url"] = process.argv;

mkdirSync(`${file}.used`, { recursive: true });
const confirm = (hash) => writeFileSync(`${file}.used/${process.pid}`, hash);
// Before it reads the file: from now on, a deployment waits for this consumer.
confirm("");

/** Connects with the password, and sends one command. */
async function ping(url) {
  const client = new Redis(url, { lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
  let why = "no reply";
  // Only the message: the error contains the command, and so the password.
  client.on("error", ({ message }) => (why = message));
  const isAccepted = (await client.ping().catch(() => undefined)) === "PONG";
  client.disconnect();
  console.log(isAccepted ? "accepted" : `refused: ${why}`);
  return isAccepted;
}

let used;
for (;;) {
  const url = readFileSync(file, "utf8");
  if (url !== used && (await ping(url))) {
    used = url;
    confirm(createHash("sha256").update(url).digest("hex"));
    console.log("uses a new password");
  }
  // It does not notice a new one at once.
  for (let count = 0; count < 50; count++) {
    await ping(url);
    await wait(20);
  }
}
