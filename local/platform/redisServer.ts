import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { type Writable } from "node:stream";

/** A Redis server that ends with this process, however that ends. */
export interface RedisServer {
  /** Its address, with the password of its administrator. */
  readonly url: string;
  close(): Promise<void>;
}

// Pipe 3 ends when this process does, by a SIGKILL too; the watcher then kills the shell's process, which Redis has
// become by then. With -9, because there is nothing to save, and a Redis that hangs hears nothing else.
const script = "(read -r _ <&3; kill -9 $$) >/dev/null 2>&1 & exec redis-server - 3<&-";

/**
 * Starts `redis-server` on a free port of the loopback address; it saves nothing.
 *
 * @throws Error that says why it cannot be started
 */
export async function startRedisServer(attempts = 3): Promise<RedisServer> {
  const port = await freePort();
  const password = randomBytes(24).toString("hex");
  // Detached: Ctrl+C in a terminal then reaches this process alone, which ends Redis when it is done with it.
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
  const lifeline = child.stdio[3] as Writable;
  const ended = once(child, "close");
  // Where there is no shell it fails, too: why, is said below.
  ended.catch(() => undefined);
  child.once("exit", () => lifeline.destroy());
  for (const pipe of [child.stdin, lifeline]) {
    pipe.on("error", () => undefined);
  }
  // The configuration goes through a pipe: arguments can be read by every user of the machine.
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

const instead = "mend that, or name a Redis that runs (redis://…)";

/** Waits until the server takes connections, or ends: then it is why. */
function problemOfStart(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  let output = "";
  return new Promise((resolve) => {
    const read = (text: string) => {
      output += text;
      if (output.includes("Ready to accept connections")) {
        resolve(undefined);
        // What it logs from now on is nobody's concern, but a full pipe would stop it.
        output = "";
      }
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.once("error", (error) => resolve(`redis-server cannot be started: ${error.message}; ${instead}`));
    child.once("close", (code) =>
      resolve(
        code === 127
          ? "there is no redis-server on PATH: install it (Debian and Ubuntu: apt-get install redis-server), or name a Redis that runs (redis://…)"
          : `redis-server ended at once (exit code ${code}): ${output.trim().split("\n").at(-1)}; ${instead}`,
      ),
    );
  });
}

/** A port of this machine at which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
