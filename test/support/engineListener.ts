import { createServer, type ServerHttp2Session } from "node:http2";
import { type AddressInfo } from "node:net";

/** What an adapter knows of its engine: a gRPC server that responds to every call with "unimplemented". */
export class EngineListener {
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #server = createServer();
  /** Calls so far. */
  calls = 0;
  /** All bytes of the calls so far: the texts in them are readable. */
  received = "";
  /** Connections so far. */
  connections = 0;

  /** Kept after the listener is closed. */
  port = 0;

  private constructor() {
    this.#server.on("session", (session) => {
      this.connections++;
      this.#sessions.add(session.on("close", () => this.#sessions.delete(session)));
    });
    this.#server.on("stream", (stream) => {
      this.calls++;
      stream.on("data", (bytes: Buffer) => (this.received += bytes.toString("latin1")));
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "12" }, { endStream: true });
    });
  }

  static async start(port = 0): Promise<EngineListener> {
    const listener = new EngineListener();
    await new Promise<void>((resolve) => listener.#server.listen(port, "127.0.0.1", resolve));
    listener.port = (listener.#server.address() as AddressInfo).port;
    return listener;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Closes all connections, as if the engine was killed. */
  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
