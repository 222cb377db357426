import { type AddressInfo, type Server, type Socket } from "node:net";

/** A server of a test: it listens on a free port, counts its connections, and ends them when it closes. */
export class SocketServer {
  /** Connections so far. */
  connections = 0;
  /** Kept after the server is closed. */
  port = 0;
  readonly #sockets = new Set<Socket>();

  constructor(readonly server: Server) {
    server.on("connection", (socket: Socket) => {
      this.connections++;
      this.keep(socket);
    });
    // A client that breaks off a TLS handshake does not fail the test.
    server.on("tlsClientError", () => undefined);
  }

  /** Sockets that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** @param port default: a free one, and after it was closed the same as before */
  async listen(port = this.port, host = "127.0.0.1"): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, host, resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Ends a socket with the server, too. Its errors are ignored. */
  protected keep(socket: Socket): Socket {
    this.#sockets.add(socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket)));
    return socket;
  }
}
