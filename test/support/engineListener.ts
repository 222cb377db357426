import { createServer, type AddressInfo, type Socket } from "node:net";

/** Where a provider host expects its engine: it accepts connections, and says nothing. */
export class EngineListener {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket)));
  });

  static async start(): Promise<EngineListener> {
    const listener = new EngineListener();
    await new Promise<void>((resolve) => listener.#server.listen(0, "127.0.0.1", resolve));
    return listener;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a killed engine looks like from outside. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
