import assert from "node:assert/strict";
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import { mock } from "node:test";
import { NotSentError } from "../../provider/api/errors";
import { engineAddress, EngineWatch, freshnessMs } from "../../provider/engineWatch";
import { EngineListener } from "../support/engineListener";

const consequences = { "not sent": "nothing changed", rejected: "nothing changed", "maybe applied": "it may have" };
const facts = { purpose: "reset a password", method: "POST", url: "http://127.0.0.1/", consequences } as const;
const later = () => new Promise((resolve) => setTimeout(resolve, 2 * freshnessMs));

/** Starts a server. @returns its address */
async function listen(server: Pick<Server, "listen" | "address">): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the engine watch", () => {
  afterEach(() => mock.restoreAll());

  it("finds the engine's address after the switches of a traced or logged run", () => {
    const { argv } = process;
    const addressIn = (args: string) => {
      process.argv = ["node", "dynamic-provider", ...args.split(" ")];
      return engineAddress();
    };
    try {
      for (const switches of ["", "--tracing tcp://127.0.0.1:5000 ", "--logtostderr -v=9 "]) {
        assert.equal(addressIn(`${switches}127.0.0.1:4000`), "127.0.0.1:4000");
      }
      assert.equal(addressIn("[::1]:4000"), "[::1]:4000");
      for (const other of ["test/a.test.ts", "tcp://127.0.0.1:5000", "127.0.0.1:4000/", "[engine]:4000"]) {
        assert.equal(addressIn(other), undefined, other);
      }
    } finally {
      process.argv = argv;
    }
  });

  it("makes one call for simultaneous requests, and a new call later, on the same connection", async () => {
    const engine = await EngineListener.start();
    const watch = new EngineWatch(engine.address);
    let clock = 0;
    mock.method(performance, "now", () => clock);
    await Promise.all(Array.from({ length: 8 }, () => watch.requireEngine(facts)));
    clock += freshnessMs + 1;
    await watch.requireEngine(facts);
    assert.deepEqual({ calls: engine.calls, connections: engine.connections }, { calls: 2, connections: 1 });
    await engine.close();
    clock += freshnessMs + 1;
    await assert.rejects(watch.requireEngine(facts), {
      name: NotSentError.name,
      message: /engine .* is gone.*Run again\.$/,
    });
  });

  it("does not take another gRPC server at the port of the engine for the engine", async () => {
    const engine = await EngineListener.start();
    const watch = new EngineWatch(engine.address);
    await watch.requireEngine(facts);
    await engine.close();
    const other = await EngineListener.start(engine.port);
    await later();
    await assert.rejects(watch.requireEngine(facts), NotSentError);
    assert.equal(other.connections, 0);
    await other.close();
  });

  it("does not take a server that is not a gRPC server for the engine", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined).resume();
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n\r\n");
    });
    await assert.rejects(new EngineWatch(await listen(server)).requireEngine(facts), NotSentError);
    await new Promise((resolve) => server.close(resolve));
  });

  const grpc = { ":status": 200, "grpc-status": "12", "content-type": "application/grpc+proto" };
  const html = { ":status": 200, "content-type": "text/html" };
  const end = { endStream: true };
  const responses: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
    "a gRPC response of another encoding": (stream) => stream.respond(grpc, end),
    "a response that is not gRPC": (stream) => stream.respond(html, end),
    "a call that is closed without a response": (stream) => stream.close(),
    "a call that fails": (stream) => stream.close(2),
  };
  for (const [title, respond] of Object.entries(responses)) {
    const isEngine = title.startsWith("a gRPC response");
    it(`${isEngine ? "accepts" : "does not accept"} ${title} as the engine's`, async () => {
      const received: IncomingHttpHeaders[] = [];
      const sessions: ServerHttp2Session[] = [];
      const server = createHttp2Server().on("stream", (stream, headers) => {
        received.push(headers);
        respond(stream.on("error", () => undefined));
      });
      server.on("session", (session) => sessions.push(session));
      const watch = new EngineWatch(await listen(server));
      if (isEngine) await watch.requireEngine(facts);
      else await assert.rejects(watch.requireEngine(facts), NotSentError);
      assert.deepEqual(
        received.map((headers) => [headers[":path"], headers["content-type"]]),
        [["/grpc.health.v1.Health/Check", "application/grpc"]],
      );
      server.close();
      sessions.forEach((session) => session.destroy());
    });
  }
});
