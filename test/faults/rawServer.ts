import * as net from "node:net";
import { type Socket } from "node:net";
import * as tls from "node:tls";
import { SocketServer } from "../support/socketServer";

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
export class RawServer extends SocketServer {
  /** Method and path of each request, in the order in which their heads were complete. */
  readonly requests: { readonly method: string; readonly path: string; readonly authorization: string }[] = [];
  readonly #behaviours = new Map<string, Behaviour>();

  private constructor(private readonly options: ServerOptions) {
    const serve = options.accept ?? ((socket: Socket): void => this.#serve(socket));
    super(options.tls ? tls.createServer(options.tls, serve) : net.createServer(serve));
    this.server.on("connection", (socket: Socket) => options.onConnection?.(socket));
  }

  static start(options: ServerOptions): Promise<RawServer> {
    return new RawServer(options).listen();
  }

  /** Requests with this method whose path holds `key` as one of its parts meet this behaviour. */
  behave(method: string, key: string, behaviour: Behaviour): void {
    this.#behaviours.set(`${method} ${key}`, behaviour);
  }

  /** How many requests of this method there were for the key. */
  count(method: string, key: string): number {
    return this.requests.filter((one) => one.method === method && one.path.split("/").includes(key)).length;
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
