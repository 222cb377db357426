import { createServer, type ServerHttp2Stream } from "node:http2";
import { SocketServer } from "./socketServer";

/** What an adapter knows of its engine: a gRPC server that responds to every call with "unimplemented". */
export class EngineListener extends SocketServer {
  /** Calls so far. */
  calls = 0;
  /** All bytes of the calls so far: the texts in them are readable. */
  received = "";

  private constructor() {
    super(createServer());
    this.server.on("stream", (stream: ServerHttp2Stream) => {
      this.calls++;
      stream.on("data", (bytes: Buffer) => (this.received += bytes.toString("latin1")));
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "12" }, { endStream: true });
    });
  }

  static start(port = 0): Promise<EngineListener> {
    return new EngineListener().listen(port);
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }
}
