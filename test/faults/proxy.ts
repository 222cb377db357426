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
  readonly #waiting = new Set<Socket>();

  private constructor(private readonly behaviour: ProxyBehaviour) {
    super(createServer((client) => client.once("data", (head) => void this.#serve(client, head.toString("latin1")))));
  }

  static start(behaviour: ProxyBehaviour = {}): Promise<Proxy> {
    return new Proxy(behaviour).listen(0, behaviour.host);
  }

  /** Clients that wait for their tunnel. */
  get waiting(): number {
    return this.#waiting.size;
  }

  async #serve(client: Socket, head: string): Promise<void> {
    const { answers = 200, beforeOpening } = this.behaviour;
    this.heads.push(head);
    if (answers === "silent") return;
    if (answers !== 200) return void client.end(`HTTP/1.1 ${answers} No\r\ncontent-length: 3\r\n\r\nno\n`);
    this.#waiting.add(client.once("close", () => this.#waiting.delete(client)));
    await beforeOpening?.();
    this.#waiting.delete(client);
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
