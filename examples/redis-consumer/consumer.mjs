// A consumer of the database: it counts once a second, for ever. Its credentials are in a file, as a mounted Secret of
// Kubernetes is one, and it reads them each time it connects.
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";

const file = process.argv[2] ?? "url";

/** The address as it stands in the file now, as options of the client. */
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
// Only the message: the error itself holds the command, and so the password.
client.on("error", (error) => console.log(`refused: ${error.message}`));

for (;;) {
  // A command that meets a refused connection fails with it, unsent: the next round asks again.
  const count = await client.incr("consumer:count").catch(() => undefined);
  if (count !== undefined) console.log(`counted ${count}`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
