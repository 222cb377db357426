// A consumer of the database: it counts once a second. It reads its credentials from a file, such as a mounted Secret
// of Kubernetes, whenever it connects.
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";

const file = process.argv[2] ?? "url";

/** An address as options of the client. */
function optionsOf(url) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const [user, secret] = [username, password].map(decodeURIComponent);
  const tls = protocol === "rediss:" ? {} : undefined;
  return { host: hostname, port: Number(port), username: user, password: secret, tls };
}

const readUrl = () => readFileSync(file, "utf8").trim();

const client = new Redis({
  ...optionsOf(readUrl()),
  retryStrategy: () => {
    const url = readUrl();
    // Otherwise the file is being written, and the next attempt reads it again.
    if (URL.canParse(url)) Object.assign(client.options, optionsOf(url));
    return 250;
  },
});
client.on("ready", () => console.log("connected"));
client.on("close", () => console.log("disconnected"));
// Only the message: the error contains the command, and so the password.
client.on("error", (error) => console.log(`refused: ${error.message}`));

for (;;) {
  // A command fails if the connection is refused. The next round tries again.
  const count = await client.incr("consumer:count").catch(() => undefined);
  if (count !== undefined) console.log(`counted ${count}`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
