import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { Redis } from "ioredis";
import { findOnPath } from "./processes";
import { until } from "./results";
import { SocketServer } from "./socketServer";

/** `REKEY_REDIS` names another one, such as `valkey-server`. */
const program = process.env["REKEY_REDIS"] ?? "redis-server";
export const hasRedis = findOnPath(program) !== undefined;

/** Describes specs that need a real Redis server; skips them if there is none. */
export function withRedis(title: string, specs: (this: Mocha.Suite) => void): void {
  if (hasRedis) describe(title, specs);
  else it.skip(`${title} (skipped: there is no ${program} on PATH)`);
}

/** A real Redis, and its URL with the administrator's password. */
export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

/**
 * Starts the `redis-server` on PATH at a free port. It saves nothing, and ends with this process.
 *
 * @param more arguments of it
 */
export async function startRedisServer(...more: readonly string[]) {
  const port = await freePort();
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--requirepass", "admin", "--save", "", ...more];
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = (): void => void server.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(server, "close").then(() => process.off("exit", kill));
  let printed = "";
  server.stdout.on("data", (data: Buffer) => (printed += data.toString()));
  await until(() => printed.includes("Ready to accept connections") || server.exitCode !== null);
  if (server.exitCode !== null) throw new Error(`${program} ended: ${printed}`);
  const close = async (): Promise<void> => {
    kill();
    await ended;
  };
  return { url: `redis://:admin@127.0.0.1:${port}`, port, close };
}

/** A port at which nothing listens. */
export async function freePort(): Promise<number> {
  const server = await new SocketServer(createServer()).listen();
  await server.close();
  return server.port;
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

/** A proxy between the platform and its Redis, which can close, open again at the same port, and lose responses. */
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
}
