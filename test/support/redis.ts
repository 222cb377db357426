import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { type Database } from "../../local/platform/index";
import { findOnPath } from "./processes";
import { until } from "./results";
import { SocketServer } from "./socketServer";

/** The program of the server. */
const program = process.env["REKEY_REDIS"] ?? "redis-server";

export const hasRedis = findOnPath(program) !== undefined;

/** Describes specs that need a real Redis server; skips them if there is none. */
export function withRedis(title: string, specs: (this: Mocha.Suite) => void): void {
  if (hasRedis) describe(title, specs);
  else it.skip(`${title} (skipped: there is no ${program} on PATH)`);
}

interface RedisServerOptions {
  /** Path of a file from which it loads its users, and to which ACL SAVE writes them. It is created if necessary. */
  readonly aclFile?: string;
  /** A server that it copies. */
  readonly replicaOf?: { readonly port: number };
  /** Path of the file in which it remembers its cluster, of which it is a node. */
  readonly clusterFile?: string;
  /** Path of the file with the configuration of a Sentinel. */
  readonly sentinelFile?: string;
}

/** A real Redis, and its URL with the administrator's password. */
export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

/** Starts a real Redis at a free port. It saves no data, and ends with this process. */
export async function startRedisServer({ aclFile, replicaOf, clusterFile, sentinelFile }: RedisServerOptions = {}) {
  const port = await freePort();
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--requirepass", "admin"];
  if (sentinelFile !== undefined) args.unshift(sentinelFile, "--sentinel");
  // Replicas are copied at once, and without a file.
  else args.push("--save", "", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db");
  if (aclFile !== undefined) {
    writeFileSync(aclFile, "", { flag: "a" });
    args.push("--aclfile", aclFile);
  }
  if (replicaOf !== undefined) args.push("--replicaof", `127.0.0.1 ${replicaOf.port}`, "--masterauth", "admin");
  if (clusterFile !== undefined) args.push("--cluster-enabled", "yes", "--cluster-config-file", clusterFile);
  const url = `redis://:admin@127.0.0.1:${port}`;
  /** Runs a command as the administrator, in a session of its own. */
  const call = async (name: string, ...words: readonly string[]): Promise<unknown> => {
    const client = await session(url);
    return client.call(name, ...words).finally(() => client.disconnect());
  };
  const isReady = async (): Promise<boolean> =>
    replicaOf === undefined || /^master_link_status:up/m.test(String(await call("INFO", "replication")));
  const start = async (): Promise<() => Promise<void>> => {
    const stop = await startProgram(args);
    while (!(await isReady())) await wait(20);
    return stop;
  };
  let stop = await start();
  return {
    url,
    port,
    call,
    acl: (...words: readonly string[]) => call("ACL", ...words),
    /** Kills it, and starts it at the same port: of its users, those in the ACL file are left. */
    restart: async () => {
      await stop();
      stop = await start();
    },
    close: () => stop(),
  };
}

/** Starts the program, and waits until it accepts connections. @returns kills it */
async function startProgram(args: readonly string[]): Promise<() => Promise<void>> {
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = (): void => void server.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(server, "close").then(() => process.off("exit", kill));
  let printed = "";
  server.stdout.on("data", (data: Buffer) => (printed += data.toString()));
  await until(() => /Ready to accept connections|Sentinel ID is/.test(printed));
  return async () => {
    kill();
    await ended;
  };
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

type Address = Parameters<typeof databaseReply>[0];

/** Whether a server accepts the password of a user. */
export async function acceptsPassword(at: Address, user: string, password: unknown): Promise<boolean> {
  return (await databaseReply(at, ["AUTH", user, String(password)])) === "+OK\r\n";
}

/** Sends ACL commands to a database of the local platform, each in a session of its own. @returns its reply */
export function aclOf({ record, password }: Pick<Database, "record" | "password">) {
  return (...words: readonly string[]): Promise<string> =>
    databaseReply(record, ["AUTH", password], ["ACL", ...words]).then((replies) => replies.replace("+OK\r\n", ""));
}

/** Makes a user of a database of the local platform, with a token and these rules. @returns the token */
export async function addUser(database: Parameters<typeof aclOf>[0], name: string, ...rules: readonly string[]) {
  const acl = aclOf(database);
  const [, token = ""] = (await acl("GENTOKEN", name)).split("\r\n");
  assert.equal(await acl("SETUSER", name, "on", `>${token}`, "+@all", ...rules), "+OK\r\n");
  return token;
}

/** A command in the Redis protocol. */
export function redisCommand(...words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ""].join("\r\n");
}
