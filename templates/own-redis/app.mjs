// An application that counts in the Redis. It reads the address with the password from a file, such as a mounted Secret
// of Kubernetes. When that has changed, it connects again, and confirms that it uses the new password.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";

const [, , file = "credential"] = process.argv;

mkdirSync(`${file}.used`, { recursive: true });
const confirm = (hash) => writeFileSync(`${file}.used/${process.pid}`, hash);
// Before it reads the file: from now on, a deployment waits for this application.
confirm("");

async function connect(url) {
  const client = new Redis(url, { lazyConnect: true });
  // Only the message: the error contains the command, and so the password.
  client.on("error", ({ message }) => console.log(`refused: ${message}`));
  await client.connect();
  return client;
}

let used;
let client;
for (;;) {
  const url = readFileSync(file, "utf8");
  if (url !== used) {
    const former = client;
    client = await connect(url);
    used = url;
    confirm(createHash("sha256").update(url).digest("hex"));
    console.log("uses a new password");
    // A connection with the former password would stay open after that is retired.
    former?.disconnect();
  }
  console.log(`counted ${await client.incr("app:count")}`);
  await wait(100);
}
