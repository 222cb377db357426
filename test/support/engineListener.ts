import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { LogRequest, type LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { freshnessMs } from "../../provider/engine/liveness";
import { SocketServer } from "./socketServer";

/** What an adapter knows of its engine: a gRPC server that shows lines to the user, and implements nothing else. */
export class EngineListener extends SocketServer {
  /** Calls so far. */
  calls = 0;
  /** All bytes of the calls so far: the texts in them are readable. */
  received = "";
  /** The lines that it was told to show. */
  readonly said: { urn: string; line: string; severity: LogSeverity }[] = [];
  readonly #sessions: ServerHttp2Session[] = [];

  private constructor() {
    super(createServer());
    this.server.on("session", (session: ServerHttp2Session) => {
      // A host may end with open connections.
      session.on("error", () => undefined);
      this.#sessions.push(session);
    });
    this.server.on("stream", (stream: ServerHttp2Stream, { ":path": path = "" }: { readonly ":path"?: string }) => {
      this.calls++;
      stream.on("error", () => undefined);
      void this.#respond(stream, path).catch(() => undefined);
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

  async #respond(stream: ServerHttp2Stream, path: string): Promise<void> {
    const headers = { ":status": 200, "content-type": "application/grpc" };
    const isLog = path === "/pulumirpc.Engine/Log";
    if (!isLog) stream.respond({ ...headers, "grpc-status": "12" }, { endStream: true });
    const sent = await buffer(stream);
    this.received += sent.toString("latin1");
    if (!isLog) return;
    // Five bytes of a frame are before each message.
    const request = LogRequest.deserializeBinary(sent.subarray(5));
    this.said.push({ urn: request.getUrn(), line: request.getMessage(), severity: request.getSeverity() });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.respond(headers, { waitForTrailers: true });
    stream.end(Buffer.alloc(5));
  }
}
