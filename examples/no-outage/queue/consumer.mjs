// A client of the queue. It reads the token from a file, such as a mounted Secret of Kubernetes, once a second, and
// confirms that it uses a new one.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const [, , file = "token", queueUrl = process.env.REKEY_QUEUE_URL] = process.argv;

mkdirSync(`${file}.used`, { recursive: true });
const confirm = (hash) => writeFileSync(`${file}.used/${process.pid}`, hash);
// Before it reads the file: from now on, a deployment waits for this consumer.
confirm("");

async function request(token) {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${queueUrl}/v2/globalParallelism`, { headers });
  console.log(status === 200 ? "accepted" : `refused: ${status}`);
  return status === 200;
}

let used;
for (;;) {
  const token = readFileSync(file, "utf8");
  if (token !== used && (await request(token))) {
    used = token;
    confirm(createHash("sha256").update(token).digest("hex"));
    console.log("uses a new token");
  }
  // It does not notice a new one at once.
  for (let count = 0; count < 50; count++) {
    await request(token);
    await wait(20);
  }
}
