import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface ProxyBehaviour {
  /** Status of the response to CONNECT; 200 opens the tunnel. `silent` never responds. Default: 200. */
  readonly answers?: number | "silent";
  /** The address to listen at. Default: 127.0.0.1. */
  readonly host?: string;
  /** Awaited before a tunnel is opened. */
  readonly beforeOpening?: () => Promise<void>;
}

/** A real CONNECT proxy. */
export class Proxy {
  /** The heads of the requests it was sent. */
  readonly heads: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(private readonly behaviour: ProxyBehaviour) {
    this.#server = createServer((client) => {
      this.#keep(client).once("data", (head) => void this.#serve(client, head.toString("latin1")));
    });
  }

  static async start(behaviour: ProxyBehaviour = {}): Promise<Proxy> {
    const proxy = new Proxy(behaviour);
    await new Promise<void>((resolve) => proxy.#server.listen(0, behaviour.host ?? "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections from clients and to the platform that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(client: Socket, head: string): Promise<void> {
    const { answers = 200, beforeOpening } = this.behaviour;
    this.heads.push(head);
    if (answers === "silent") return;
    if (answers !== 200) return void client.end(`HTTP/1.1 ${answers} No\r\ncontent-length: 3\r\n\r\nno\n`);
    await beforeOpening?.();
    const [, host = "", port = ""] = /^CONNECT (\S+):(\d+) /.exec(head) ?? [];
    const target = this.#keep(connect(Number(port), host.replace("platform.test", "127.0.0.1")));
    target.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(target).pipe(client);
    });
    target.once("close", () => client.resetAndDestroy());
    client.once("close", () => target.destroy());
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket)));
    return socket;
  }
}
