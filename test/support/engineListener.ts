import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { freshnessMs } from "../../provider/engine/liveness";
import { SocketServer } from "./socketServer";

/** What an adapter knows of its engine: a gRPC server that responds to every call with "unimplemented". */
export class EngineListener extends SocketServer {
  /** Calls so far. */
  calls = 0;
  /** All bytes of the calls so far: the texts in them are readable. */
  received = "";
  readonly #sessions: ServerHttp2Session[] = [];

  private constructor() {
    super(createServer());
    this.server.on("session", (session: ServerHttp2Session) => this.#sessions.push(session));
    this.server.on("stream", (stream: ServerHttp2Stream) => {
      this.calls++;
      stream.on("data", (bytes: Buffer) => (this.received += bytes.toString("latin1")));
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "12" }, { endStream: true });
    });
  }

  static start(port = 0): Promise<EngineListener> {
    return new EngineListener().listen(port);
  }

  /** Closes the connections after the calls on them, as a server does with those that are not used. */
  closeIdle(): void {
    for (const session of this.#sessions.splice(0)) session.close();
  }

  /** Ends it as a killed engine, and resolves when its last response no longer counts. */
  async kill(): Promise<void> {
    await this.close();
    // A timer may end a millisecond early.
    await wait(freshnessMs + 5);
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }
}
