import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { type Writable } from "node:stream";

/** A Redis server that ends with this process, even if this process is killed. */
export interface RedisServer {
  /** URL with the administrator's password. */
  readonly url: string;
  close(): Promise<void>;
}

// Pipe 3 closes when this process ends, even by SIGKILL. The watcher then kills the shell's process, which has become
// Redis. It uses -9 because a Redis that hangs ignores other signals, and there is nothing to save.
const script = "(read -r _ <&3; kill -9 $$) >/dev/null 2>&1 & exec redis-server - 3<&-";

/**
 * Starts `redis-server` on a free port of the loopback address. It persists nothing.
 *
 * @throws Error with the reason
 */
export async function startRedisServer(attempts = 3): Promise<RedisServer> {
  const port = await freePort();
  const password = randomBytes(24).toString("hex");
  // Detached, so that Ctrl+C in a terminal reaches only this process, which stops Redis at its end.
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
  const lifeline = child.stdio[3] as Writable;
  const ended = once(child, "close");
  // Fails if there is no shell. problemOfStart reports the reason.
  ended.catch(() => undefined);
  child.once("exit", () => lifeline.destroy());
  for (const pipe of [child.stdin, lifeline]) {
    pipe.on("error", () => undefined);
  }
  // The configuration goes through a pipe, because every user of the machine can read arguments.
  child.stdin.end(`bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\nappendonly no\n`);
  const problem = await problemOfStart(child);
  if (problem?.includes("in use") && attempts > 1) {
    return startRedisServer(attempts - 1);
  }
  if (problem !== undefined) {
    throw new Error(problem);
  }
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const advice = "fix that, or pass the URL of a running Redis (redis://…)";

/** Waits until the server accepts connections. @returns the reason if it cannot start */
function problemOfStart(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  let output = "";
  return new Promise((resolve) => {
    const read = (text: string) => {
      output += text;
      if (output.includes("Ready to accept connections")) {
        resolve(undefined);
        // Later output is discarded, but must be read: a full pipe would block the server.
        output = "";
      }
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.once("error", (error) => resolve(`redis-server cannot be started: ${error.message}; ${advice}`));
    child.once("close", (code) =>
      resolve(
        code === 127
          ? "redis-server is not on PATH: install it (Debian and Ubuntu: apt-get install redis-server), or pass the URL of a running Redis (redis://…)"
          : `redis-server ended immediately (exit code ${code}): ${output.trim().split("\n").at(-1)}; ${advice}`,
      ),
    );
  });
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
