import { spawn } from "node:child_process";
import type * as dns from "node:dns";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { SocketServer } from "../support/socketServer";

export interface ProxyBehaviour {
  /** Status of the response to CONNECT; 200 opens the tunnel. `silent` never responds. Default: 200. */
  readonly answers?: number | "silent";
  /** The address to listen at. Default: 127.0.0.1. */
  readonly host?: string;
  /** Awaited before a tunnel is opened. */
  readonly beforeOpening?: () => Promise<void>;
}

/** A real CONNECT proxy. */
export class Proxy extends SocketServer {
  /** The heads of the requests it was sent. */
  readonly heads: string[] = [];

  private constructor(private readonly behaviour: ProxyBehaviour) {
    super(createServer((client) => client.once("data", (head) => void this.#serve(client, head.toString("latin1")))));
  }

  static start(behaviour: ProxyBehaviour = {}): Promise<Proxy> {
    return new Proxy(behaviour).listen(0, behaviour.host);
  }

  async #serve(client: Socket, head: string): Promise<void> {
    const { answers = 200, beforeOpening } = this.behaviour;
    this.heads.push(head);
    if (answers === "silent") return;
    if (answers !== 200) return void client.end(`HTTP/1.1 ${answers} No\r\ncontent-length: 3\r\n\r\nno\n`);
    await beforeOpening?.();
    const [, host = "", port = ""] = /^CONNECT (\S+):(\d+) /.exec(head) ?? [];
    const target = this.keep(connect(Number(port), host.replace("platform.test", "127.0.0.1")));
    target.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(target).pipe(client);
    });
    target.once("close", () => client.resetAndDestroy());
    client.once("close", () => target.destroy());
  }
}

const program = `
const { connect, createServer } = require("node:net");
const { readSync, writeSync } = require("node:fs");
const join = (client) => client.pipe(connect(Number(process.argv[1]), "127.0.0.1")).pipe(client);
const server = createServer(join);
// The connections that filled its backlog are cut.
process.on("uncaughtException", () => undefined);
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  writeSync(1, String(server.address().port) + "\\n");
  readSync(0, Buffer.alloc(1));
});`;

/**
 * A port on which connecting does not complete: its process accepts no connection, and its backlog is full. Once
 * released, it accepts new attempts, and passes them on to another port.
 */
export async function stuckListener(
  target = 0,
): Promise<{ port: number; release: () => void; close: () => Promise<void> }> {
  const child = spawn(process.execPath, ["-e", program, String(target)], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const filling = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const free = () => filling.forEach((socket) => socket.destroy());
  return {
    port,
    release: () => {
      free();
      child.stdin.write("1");
    },
    close: async () => {
      free();
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** The result of a lookup: the code of an error, or addresses. */
export type LookupAnswer = string | readonly { readonly address: string; readonly family: 4 | 6 }[];

type Callback = (error: Error | null, addresses?: unknown, family?: number) => void;
type Lookup = (host: string, options: { all?: boolean }, callback: Callback) => void;

/**
 * Resolves names that end in `.test`, because a real resolver cannot be made to fail on demand. Its source text also
 * runs in the host.
 */
function patch(module: { lookup: unknown }, answer: LookupAnswer): () => void {
  const ordinary = module.lookup as Lookup;
  module.lookup = (host: string, options: { all?: boolean }, callback: Callback): void => {
    if (!host.endsWith(".test")) return ordinary(host, options, callback);
    setImmediate(() => {
      if (typeof answer === "string") {
        callback(Object.assign(new Error(`getaddrinfo ${answer} ${host}`), { code: answer, syscall: "getaddrinfo" }));
      } else if (options.all) callback(null, answer);
      else callback(null, answer[0]?.address, answer[0]?.family);
    });
  };
  return () => {
    module.lookup = ordinary;
  };
}

/** Patches this process. */
export function patchLookup(answer: LookupAnswer): () => void {
  return patch(require("node:dns") as typeof dns, answer);
}

/** Code that patches another process. */
export function preloadOf(answer: LookupAnswer): string {
  return `import dns from "node:dns";\n(${patch.toString()})(dns, ${JSON.stringify(answer)});`;
}
