import { spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { Redis } from "ioredis";
import { SocketServer } from "./socketServer";

export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** Describes specs that need a real Redis server; skips them if there is none. */
export function withRedis(title: string, specs: (this: Mocha.Suite) => void): void {
  if (hasRedis) describe(title, specs);
  else it.skip(`${title} (skipped: there is no redis-server on PATH)`);
}

/** The user that Redis reports to a client with these credentials. */
export async function whoAmI(url: string | undefined): Promise<string> {
  const client = await session(url);
  try {
    return String(await client.call("acl", "whoami"));
  } finally {
    client.disconnect();
  }
}

/** A session of a real Redis client that does not reconnect. @throws Error if it is refused */
export async function session(url: string | undefined): Promise<Redis> {
  let why: Error | undefined;
  const client = new Redis(url ?? "", { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on("error", (error: Error) => (why = error));
  await client.connect().catch((error: unknown) => {
    throw why ?? error;
  });
  return client;
}

/** What the server at the address of a record replies to commands, until it has replied to all of them. */
export async function databaseReply(
  { endpoint, port }: Readonly<Record<string, unknown>>,
  ...commands: readonly (readonly string[])[]
): Promise<string> {
  const socket = connect(Number(port), String(endpoint));
  socket.end(commands.map((words) => redisCommand(...words)).join(""));
  return textOf(socket);
}

/** A command in the Redis protocol. */
export function redisCommand(...words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ""].join("\r\n");
}

/** A proxy between the platform and its Redis, which can close, open again, and lose responses. */
export class RedisLine extends SocketServer {
  loseResponses = false;

  constructor(redisPort: number) {
    super(
      createServer((client) => {
        const redis = this.keep(connect(redisPort, "127.0.0.1"));
        client.pipe(redis);
        redis.on("data", (data: Buffer) => (this.loseResponses ? this.cut() : client.write(data)));
        client.on("close", () => redis.destroy());
        redis.on("close", () => client.destroy());
      }),
    );
  }

  /** Listens, after the first time at the same port. */
  async start(): Promise<void> {
    await this.listen(this.port);
  }
}
