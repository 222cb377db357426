import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A real Redis. */
export interface RedisServer {
  /** URL with the administrator's password. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the `redis-server` on PATH at a free port. It saves nothing, and ends with this process.
 *
 * @throws Error with what it printed, if it does not start
 */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await freePort();
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--requirepass", "admin", "--save", ""];
  const server = spawn("redis-server", args);
  const ended = once(server, "close");
  const kill = (): void => void server.kill("SIGKILL");
  process.once("exit", kill);
  let printed = "";
  const ready = new Promise<void>((resolve) => {
    const read = (data: unknown): void => {
      printed += String(data);
      if (printed.includes("Ready to accept connections")) resolve();
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
  });
  const close = async (): Promise<void> => {
    process.off("exit", kill);
    kill();
    await ended;
  };
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(`redis-server has ended: ${printed}`)))]);
  return { url: `redis://:admin@127.0.0.1:${port}`, close };
}

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
