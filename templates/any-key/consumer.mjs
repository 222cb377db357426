// A client of the key server. It reads the key from a file whenever it connects, and confirms that it uses a new one.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const [, , file = "key", server = "http://127.0.0.1:6391"] = process.argv;

mkdirSync(`${file}.used`, { recursive: true });
const confirm = (hash) => writeFileSync(`${file}.used/${process.pid}`, hash);
// Before it reads the file: from now on, a deployment waits for this consumer.
confirm("");

let used;
for (;;) {
  const key = readFileSync(file, "utf8");
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  const { status } = await fetch(`${server}/orders`, { headers });
  console.log(status === 200 ? "accepted" : `refused: ${status}`);
  if (status === 200 && key !== used) {
    used = key;
    confirm(createHash("sha256").update(key).digest("hex"));
    console.log("uses a new key");
  }
  await wait(20);
}
