import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TlsOptions } from "node:tls";
import { bodyOf } from "./platformBodies";
import { SocketServer } from "./socketServer";

type Headers = Readonly<Record<string, string>>;

/** What a server does with one request, down to the bytes. */
export type Behaviour = (exchange: Exchange) => unknown;

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
  readonly answer: (status: number, headers?: Headers, body?: string | Uint8Array) => void;
}

interface Received {
  readonly method: string;
  /** The unchanged request target: percent-encoded, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ServerOptions {
  readonly tls?: TlsOptions;
  /** Takes the connections over: nothing is read of them. */
  readonly accept?: (socket: Socket) => void;
  /** Returns the body of the usual response for a path. Default: that of a platform. */
  readonly bodyOf?: (method: string, path: string) => string;
  /** What requests meet without a behaviour of their own. Default: the usual response. */
  readonly behaviour?: Behaviour;
}

/** An HTTP server on a real socket, whose responses are bytes that a test defines. */
export class HttpServer extends SocketServer {
  readonly requests: Received[] = [];
  readonly #behaviours = new Map<string, Behaviour>();

  private constructor(private readonly options: ServerOptions) {
    const serve = (request: IncomingMessage): void => void this.#serve(request).catch(() => undefined);
    const { accept, tls } = options;
    super(accept ? createSocketServer(accept) : tls ? createTlsServer(tls, serve) : createServer(serve));
  }

  static start(options: ServerOptions = {}): Promise<HttpServer> {
    return new HttpServer(options).listen();
  }

  get url(): string {
    return `${this.options.tls ? "https" : "http"}://127.0.0.1:${this.port}`;
  }

  /** Requests with this method whose path holds `key` as one of its parts meet this behaviour. */
  behave(method: string, key: string, behaviour: Behaviour): void {
    this.#behaviours.set(`${method} ${key}`, behaviour);
  }

  /** How many requests of this method there were for the key. */
  count(method: string, key: string): number {
    return this.requests.filter((one) => one.method === method && one.path.split("/").includes(key)).length;
  }

  async #serve(request: IncomingMessage): Promise<void> {
    const { method = "", url: path = "", headers, socket } = request;
    this.requests.push({ method, path, headers, body: await text(request) });
    const key = path.split("/").find((part) => this.#behaviours.has(`${method} ${part}`)) ?? "";
    const body = (this.options.bodyOf ?? bodyOf)(method, path);
    const answer: Exchange["answer"] = (status, given = {}, sent = body) => {
      const lines = Object.entries({ "content-type": "application/json", ...given }).map(([n, v]) => `${n}: ${v}\r\n`);
      const length = status === 204 ? "" : `content-length: ${Buffer.byteLength(sent)}\r\n`;
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join("")}${length}\r\n`);
      socket.write(sent);
    };
    const { behaviour = responding(200) } = this.options;
    const meets = this.#behaviours.get(`${method} ${key}`) ?? behaviour;
    await meets({ socket, method, path, nth: this.count(method, key), body, answer });
  }
}

/** Starts a server that does this in turn, and the last of it again and again. */
export function startServer(...script: readonly Behaviour[]): Promise<HttpServer> {
  let nth = 0;
  return HttpServer.start({ behaviour: (exchange) => script[Math.min(nth++, script.length - 1)]?.(exchange) });
}

/** Sends a complete response. @param body default: the ordinary one */
export const responding =
  (status: number, body?: string | Uint8Array, headers: Headers = {}): Behaviour =>
  ({ answer }) =>
    answer(status, headers, body);

/** Sends an error as JSON. */
export const failing = (status: number, error: unknown = "no", headers: Headers = {}): Behaviour =>
  responding(status, JSON.stringify({ error }), headers);

/** Sends bytes of its own making, then closes the connection. */
export const sending =
  (bytes: (body: string) => string): Behaviour =>
  ({ socket, body }) =>
    void socket.end(bytes(body));

/** Resets the connection when the request was read. */
export const resetting: Behaviour = ({ socket }) => void socket.resetAndDestroy();

/** Never responds. */
export const silent: Behaviour = () => undefined;

/** Responds as told to the first request, and well to those after it. */
export const once =
  (behaviour: Behaviour): Behaviour =>
  (exchange) =>
    exchange.nth === 1 ? behaviour(exchange) : exchange.answer(200);

/** Asks to wait a second, by a date. @param offsetMs how far the platform's clock is ahead */
export const limitedByDate =
  (offsetMs: number): Behaviour =>
  ({ answer }) => {
    const dateIn = (milliseconds: number) => new Date(Date.now() + offsetMs + milliseconds).toUTCString();
    answer(429, { date: dateIn(0), "retry-after": dateIn(1000) }, "{}");
  };
