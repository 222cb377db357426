import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, type Server } from "node:net";
import { mock } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { RequestError } from "../../../provider/domain/errors";
import { EngineWatch, freshnessMs } from "../../../provider/engine/liveness";
import { engineAddress } from "../../../provider/engine/pulumiInternals";
import { EngineListener } from "../../support/engineListener";
import { until } from "../../support/results";

const consequences = { unchanged: "nothing changed", unknown: "it may have" };
const facts = { purpose: "reset a password", method: "POST", url: "http://127.0.0.1/", consequences } as const;
const ignore = () => undefined;

async function addressOf(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the engine watch", () => {
  let time = 0;
  before(() => void mock.method(performance, "now", () => time));
  after(() => mock.restoreAll());
  const requireLater = (watch: EngineWatch) => {
    time += freshnessMs + 1;
    return watch.requireEngine(facts);
  };

  it("finds the engine's address behind the switches of a traced or logged run", () => {
    const { argv } = process;
    const engine = "127.0.0.1:4000";
    const traced = ["--tracing", "127.0.0.1:5000", engine];
    const found = [[engine], traced, ["--logtostderr", "-v=9", engine], ["[::1]:4000"]];
    const others = ["test/a.test.ts", "tcp://127.0.0.1:5000", "127.0.0.1:4000/", "[engine]:4000"].map((one) => [one]);
    try {
      for (const args of [...found, ...others]) {
        process.argv = ["node", "dynamic-provider", ...args];
        assert.equal(engineAddress(), found.includes(args) ? args.at(-1) : undefined, args.join(" "));
      }
    } finally {
      process.argv = argv;
    }
  });

  it("makes one call for all that ask, goes on for a short time so that no reset waits, and all on one connection", async () => {
    const engine = await EngineListener.start();
    const watch = new EngineWatch(engine.address, ignore);
    await Promise.all(Array.from({ length: 8 }, () => watch.requireEngine(facts)));
    assert.equal(engine.calls, 1);
    // While the time stands still, a reset was just sent.
    await until(() => engine.calls > 3);
    time += 1_000;
    // It stops: at most one call is under way.
    let calls = -1;
    while (calls !== engine.calls) {
      ({ calls } = engine);
      await wait(200);
    }
    await Promise.all(Array.from({ length: 8 }, () => watch.requireEngine(facts)));
    assert.deepEqual({ calls: engine.calls, connections: engine.connections }, { calls: calls + 1, connections: 1 });
    await engine.close();
    const other = await EngineListener.start(engine.port);
    await assert.rejects(requireLater(watch), (error) => {
      assert.ok(error instanceof RequestError);
      assert.match(error.message, /the engine that requested it has ended.*Run again\. \[REKEY_ENGINE_GONE\]$/);
      return true;
    });
    assert.equal(other.connections, 0, "another server at its port is not asked");
    await other.close();
  });

  it("does not count a fresh response of an engine that has closed its connection since", async () => {
    const engine = await EngineListener.start();
    let isGone = false;
    const watch = new EngineWatch(engine.address, () => (isGone = true));
    await watch.requireEngine(facts);
    await engine.close();
    await until(() => isGone);
    // The time stands still: the response is as fresh as it can be.
    await assert.rejects(watch.requireEngine(facts), /has ended.*REKEY_ENGINE_GONE/);
  });

  it("reports that the engine is gone only if it does not respond on a new connection", async () => {
    const engine = await EngineListener.start();
    let isGone = false;
    new EngineWatch(engine.address, () => (isGone = true));
    for (const connection of [1, 2]) {
      await until(() => engine.connections === connection && engine.calls === connection - 1);
      // Longer than it takes to connect again, which it must not do before.
      await wait(200);
      assert.equal(engine.connections, connection);
      engine.closeIdle();
    }
    await until(() => engine.calls === 2);
    assert.equal(isGone, false);
    await engine.close();
    // Another server that takes its port is left alone.
    const sessions = new Set<ServerHttp2Session>();
    const other = createHttp2Server()
      .on("session", (session) => sessions.add(session.once("close", () => sessions.delete(session))))
      .on("stream", (stream) => stream.respond({ ":status": 200 }, { endStream: true }));
    await once(other.listen(engine.port, "127.0.0.1"), "listening");
    await until(() => isGone && sessions.size === 0);
    other.close();
  });

  const responded = (type: string) => (stream: ServerHttp2Stream) =>
    stream.respond({ ":status": 200, "grpc-status": "12", "content-type": type }, { endStream: true });
  const responses: Readonly<Record<string, readonly [(stream: ServerHttp2Stream) => void, isEngine: boolean]>> = {
    "a gRPC response of another encoding": [responded("application/grpc+proto"), true],
    "a response that is not gRPC": [responded("text/html"), false],
    "a call that is closed without a response": [(stream) => stream.close(), false],
    "a call that fails": [(stream) => stream.close(2), false],
  };
  for (const [what, [respond, isEngine]] of Object.entries(responses)) {
    it(`takes ${what} for ${isEngine ? "the engine" : "no engine"}`, async () => {
      const paths: unknown[] = [];
      const sessions: ServerHttp2Session[] = [];
      const server = createHttp2Server().on("stream", (stream, headers) => {
        paths.push(headers[":path"]);
        respond(stream.on("error", ignore));
      });
      server.on("session", (session) => sessions.push(session));
      const watch = new EngineWatch(await addressOf(server), ignore);
      if (isEngine) await watch.requireEngine(facts);
      else await assert.rejects(watch.requireEngine(facts), RequestError);
      assert.deepEqual(paths, ["/grpc.health.v1.Health/Check"]);
      server.close();
      sessions.forEach((session) => session.destroy());
    });
  }
});
