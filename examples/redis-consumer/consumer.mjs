// A consumer of the database: it counts once a second. It reads its credentials from a file, such as a mounted Secret
// of Kubernetes, whenever it connects.
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";

const file = process.argv[2] ?? "url";

/** The current address in the file, as options of the client. */
function address() {
  const { protocol, hostname, port, username, password } = new URL(readFileSync(file, "utf8").trim());
  const [user, secret] = [username, password].map(decodeURIComponent);
  const tls = protocol === "rediss:" ? {} : undefined;
  return { host: hostname, port: Number(port), username: user, password: secret, tls };
}

const client = new Redis({
  ...address(),
  retryStrategy: () => {
    Object.assign(client.options, address());
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
