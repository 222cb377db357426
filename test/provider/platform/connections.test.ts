import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { mock } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { caFile, certificate } from "../../faults/certificates";
import { databaseText } from "../../support/platformBodies";
import { type ServerOptions } from "../../support/httpServer";
import { until } from "../../support/results";
import { plain, requestsOf, secure, seen, withRealSockets } from "./realSockets";

const maxConcurrency = 8;
const tls = (version: "TLSv1.2" | "TLSv1.3"): ServerOptions => ({
  tls: { ...certificate("good"), minVersion: version, maxVersion: version },
});
const protocols = { HTTP: {}, "TLS 1.2": tls("TLSv1.2"), "TLS 1.3": tls("TLSv1.3") };

describe("platform: kept connections, over real sockets", () => {
  const { startServer } = withRealSockets();
  /** The time of the monotonic clock. It stands still, because a busy machine may take longer than connections live. */
  let timeMs = 0;
  before(() => void mock.method(performance, "now", () => timeMs));
  after(() => mock.restoreAll());

  /** Starts a server, and a client of it. `asked` is called before each reset is sent, with how often it was called. */
  async function start(options: ServerOptions = {}, asked: (nth: number) => unknown = () => undefined) {
    const server = await startServer(options);
    const sockets: Socket[] = [];
    server.behave("POST", "reset-password", ({ socket, answer }) => {
      sockets.push(socket);
      answer(200);
    });
    let times = 0;
    const settings = { maxConcurrency: `${maxConcurrency}`, ...(options.tls && { caFile }) };
    const requests = requestsOf(
      (options.tls ? secure : plain)(server),
      settings,
      async () => void (await asked(++times)),
    );
    const counts = () => ({ requests: server.requests.length, connections: server.connections, asked: times });
    return { server, sockets, counts, ...requests };
  }

  it("are kept only after a response that was recognized", async () => {
    const server = await startServer();
    const { read, reset } = requestsOf(plain(server));
    await read();
    for (const { status = 200, body, opened = 1 } of [
      { opened: 0 },
      { status: 403 },
      { body: "{}" },
      { body: databaseText({ database_id: "another" }) },
      { body: '{"password":"without-an-id"}' },
    ]) {
      server.behave("POST", "db", ({ answer }) => answer(status, {}, body));
      const before = server.connections;
      await reset().catch(() => undefined);
      await read();
      assert.equal(server.connections - before, opened, `${status} ${body}`);
    }
  });

  it("are kept for each origin", async () => {
    const [management, queue] = [await startServer(), await startServer()];
    const { read, reset } = requestsOf(plain(management), { queueUrl: plain(queue) });
    await read();
    await reset();
    const other = requestsOf(plain(queue));
    await other.read();
    assert.deepEqual(
      [management, queue].map(({ requests, connections }) => ({ requests: requests.length, connections })),
      [
        { requests: 1, connections: 1 },
        { requests: 2, connections: 2 },
      ],
    );
  });

  for (const [protocol, options] of Object.entries(protocols)) {
    describe(`with ${protocol}`, () => {
      it("are replaced at once if they close while the engine is asked", async () => {
        const { sockets, reset, counts } = await start(options, async (nth) => {
          if (nth !== 2) return;
          sockets[0]?.destroy();
          await seen();
        });
        await reset();
        await reset();
        assert.deepEqual(counts(), { requests: 2, connections: 2, asked: 3 });
      });

      it("are not used once the server has spoken on them", async () => {
        const { sockets, reset, counts } = await start(options);
        await reset();
        sockets[0]?.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
        await seen();
        await reset();
        assert.deepEqual(counts(), { requests: 2, connections: 2, asked: 2 });
      });
    });
  }

  it("are not used if they were free for 800 ms, also if the process was too busy to close them", async () => {
    for (const { freeMs, connections } of [
      { freeMs: 800, connections: 1 },
      { freeMs: 801, connections: 2 },
    ]) {
      const { sockets, reset, counts } = await start();
      await reset();
      await wait(1);
      timeMs += freeMs;
      await reset();
      assert.deepEqual(counts(), { requests: 2, connections, asked: 2 });
      if (connections > 1) await until(() => sockets[0]?.destroyed === true);
    }
  });

  it("are not used if they were free, or are new, for 800 ms once the engine has responded", async () => {
    const free = await start({}, (nth) => nth === 2 && (timeMs += 801));
    await free.reset();
    await free.reset();
    assert.deepEqual(free.counts(), { requests: 2, connections: 2, asked: 3 });
    const opened = await start(protocols["TLS 1.3"], (nth) => nth === 1 && (timeMs += 801));
    await opened.reset();
    assert.deepEqual(opened.counts(), { requests: 1, connections: 2, asked: 2 });
  });

  it("carry nothing if the engine is gone", async () => {
    const { reset, counts } = await start({}, (nth) => {
      if (nth === 2) throw new Error("the engine is gone");
    });
    await reset();
    await assert.rejects(reset());
    assert.deepEqual(counts(), { requests: 1, connections: 1, asked: 2 });
  });
});
