import * as net from "node:net";
import * as tls from "node:tls";
import { type AddressInfo, type Socket } from "node:net";

/** What a server does with one request, down to the bytes. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** One request, and the socket it came on. */
export interface Exchange {
  readonly socket: Socket;
  readonly method: string;
  readonly path: string;
  /** Which request of this method and key it is, from 1. */
  readonly nth: number;
  /** The body of the usual response. */
  readonly body: string;
  /** Sends a complete HTTP response. */
  readonly answer: (status: number, headers?: Readonly<Record<string, string>>, body?: string | Buffer) => void;
}

export interface ServerOptions {
  readonly tls?: tls.TlsOptions;
  /** Takes the connections over: nothing is read of them. */
  readonly accept?: (socket: Socket) => void;
  /** Called for each TCP connection, before any byte of it is read. */
  readonly onConnection?: (socket: Socket) => void;
  /** Returns the body of the usual response for a path. */
  readonly bodyOf: (method: string, path: string) => string;
}

/** An HTTP server made of plain sockets, which can be wrong in every way that a server can. */
export class RawServer {
  /** Method and path of each request, in the order in which their heads were complete. */
  readonly requests: { readonly method: string; readonly path: string; readonly authorization: string }[] = [];
  connections = 0;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #sockets = new Set<Socket>();
  readonly #server: net.Server;

  private constructor(private readonly options: ServerOptions) {
    const serve = options.accept ?? ((socket: Socket): void => this.#serve(socket));
    this.#server = options.tls ? tls.createServer(options.tls, serve) : net.createServer(serve);
    this.#server.on("connection", (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket)));
      options.onConnection?.(socket);
    });
    this.#server.on("tlsClientError", () => undefined);
  }

  static async start(options: ServerOptions): Promise<RawServer> {
    const server = new RawServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Requests with this method whose path holds `key` as one of its parts meet this behaviour. */
  behave(method: string, key: string, behaviour: Behaviour): void {
    this.#behaviours.set(`${method} ${key}`, behaviour);
  }

  /** How many requests of this method there were for the key. */
  count(method: string, key: string): number {
    return this.requests.filter((one) => one.method === method && one.path.split("/").includes(key)).length;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let head = "";
    socket.on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      head += text;
      for (let end = head.indexOf("\r\n\r\n"); end >= 0; end = head.indexOf("\r\n\r\n")) {
        const request = head.slice(0, end);
        head = head.slice(end + 4);
        void this.#meet(socket, request);
      }
    });
  }

  async #meet(socket: Socket, head: string): Promise<void> {
    const [method = "", path = ""] = head.split(" ", 2);
    const authorization = /^authorization: (.*)$/im.exec(head)?.[1] ?? "";
    this.requests.push({ method, path, authorization });
    const key = path.split("/").find((part) => this.#behaviours.has(`${method} ${part}`)) ?? "";
    const body = this.options.bodyOf(method, path);
    const answer: Exchange["answer"] = (status, headers = {}, sent = body) => {
      const lines = Object.entries({ "content-type": "application/json", ...headers }).map(
        ([n, v]) => `${n}: ${v}\r\n`,
      );
      const length = status === 204 ? "" : `content-length: ${Buffer.byteLength(sent)}\r\n`;
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join("")}${length}\r\n`);
      socket.write(sent);
    };
    const behaviour = this.#behaviours.get(`${method} ${key}`) ?? (() => answer(200));
    await behaviour({ socket, method, path, nth: this.count(method, key), body, answer });
  }
}
