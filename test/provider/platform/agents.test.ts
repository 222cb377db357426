import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { NotSentError, UnconfirmedError } from "../../../provider/platform/errors";
import { caFile, certificate } from "../../faults/certificates";
import { databaseText } from "../../support/platformBodies";
import { type Exchange, type ServerOptions } from "../../support/httpServer";
import { until } from "../../support/results";
import { clientOf, plain, secure, seen, withRealSockets } from "./realSockets";

const maxConcurrency = 8;
const tls = (version: "TLSv1.2" | "TLSv1.3"): ServerOptions => ({
  tls: { ...certificate("good"), minVersion: version, maxVersion: version },
});
const protocols = { HTTP: {}, "TLS 1.2": tls("TLSv1.2"), "TLS 1.3": tls("TLSv1.3") };

describe("platform: kept connections, over real sockets", () => {
  const { startServer } = withRealSockets();

  /** Starts a server, and a client that sends it resets. `asked` is called before each is sent. */
  async function start(options: ServerOptions = {}, asked: () => Promise<unknown> = async () => undefined) {
    const server = await startServer(options);
    const sockets: Socket[] = [];
    server.behave("POST", "reset-password", ({ socket, answer }) => {
      sockets.push(socket);
      answer(200);
    });
    const url = options.tls ? secure(server) : plain(server);
    const settings = { maxConcurrency: `${maxConcurrency}`, ...(options.tls && { caFile }) };
    const client = clientOf(url, settings, async () => void (await asked()));
    const reset = (id = "db") => client.operations(databasePassword).reset(id);
    const resetAll = (count: number) =>
      Promise.allSettled(Array.from({ length: count }, (_, nth) => reset(`db-${nth}`)));
    const counts = () => ({ requests: server.requests.length, connections: server.connections });
    return { server, sockets, client, reset, resetAll, counts };
  }

  function assertAllDone(results: readonly PromiseSettledResult<unknown>[]): void {
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  function requestsOf(...given: Parameters<typeof clientOf>) {
    const client = clientOf(...given);
    return {
      reset: () => client.operations(databasePassword).reset("db"),
      read: () => client.flowControl.get("orders"),
    };
  }

  for (const [protocol, url, options] of [
    ["HTTP", plain, {}],
    ["HTTPS", secure, { tls: certificate("good") }],
  ] as const) {
    it(`over ${protocol} serve reads and resets one after the other`, async () => {
      const server = await startServer(options);
      const { read, reset } = requestsOf(url(server), { caFile });
      for (const send of [read, reset, reset, read]) await send();
      assert.deepEqual(
        { requests: server.requests.length, connections: server.connections },
        { requests: 4, connections: 1 },
      );
    });
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

  it("carry no request whose response has no id", async () => {
    const server = await startServer({ bodyOf: () => '{"current":"a","next":"b"}' });
    server.behave("POST", "idx", ({ answer }) => answer(200, {}, '"OK"'));
    const client = clientOf(plain(server));
    await client.operations(signingKeys).read("keys");
    await client.operations(signingKeys).reset("keys");
    for (const id of ["idx", "idx"]) await client.operations(vectorToken).reset(id);
    assert.equal(server.connections, 4);
    while (server.open > 0) await wait(1);
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

  it("of a read that are found cut are opened again", async () => {
    const server = await startServer();
    const used = new WeakSet<Socket>();
    server.behave("GET", "orders", ({ socket, answer }) => {
      if (used.has(socket)) return void socket.resetAndDestroy();
      used.add(socket);
      answer(200);
    });
    const { read } = requestsOf(plain(server));
    await read();
    assert.equal((await read()).exists, true);
    assert.deepEqual(
      { requests: server.requests.length, connections: server.connections },
      { requests: 3, connections: 2 },
    );
  });

  it("are never more than the requests that may be under way", async () => {
    const { server, client, resetAll } = await start(protocols["TLS 1.3"]);
    const reads = Array.from({ length: 50 }, (_, nth) => client.flowControl.get(`key-${nth}`));
    assertAllDone(await resetAll(50));
    await Promise.all(reads);
    assert.equal(server.connections, maxConcurrency);
  });

  for (const [protocol, options] of Object.entries(protocols)) {
    describe(`with ${protocol}`, () => {
      it("are replaced at once if the server has closed them", async () => {
        let asked = 0;
        const { sockets, reset, counts } = await start(options, async () => void asked++);
        await reset();
        sockets[0]?.end();
        await reset();
        sockets[1]?.destroy();
        await reset();
        assert.deepEqual({ ...counts(), asked }, { requests: 3, connections: 3, asked: 3 });
      });

      it("are replaced at once if they close while the engine is asked", async () => {
        let asked = 0;
        const { sockets, reset, counts } = await start(options, async () => {
          if (++asked !== 2) return;
          sockets[0]?.destroy();
          await seen();
        });
        await reset();
        await reset();
        assert.deepEqual({ ...counts(), asked }, { requests: 2, connections: 2, asked: 3 });
      });

      it("leave it unknown whether a reset was applied if they close as it is written", async () => {
        let asked = 0;
        const { sockets, reset, counts } = await start(options, async () => {
          // The client writes before it can see this: it does not return to its event loop in between.
          if (++asked === 2) sockets[0]?.destroy();
        });
        await reset();
        await assert.rejects(reset(), UnconfirmedError);
        assert.equal(counts().connections, 1);
      });

      it("are not used once the server has spoken on them", async () => {
        const { sockets, reset, counts } = await start(options);
        await reset();
        sockets[0]?.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
        await seen();
        await reset();
        assert.deepEqual(counts(), { requests: 2, connections: 2 });
      });

      const closings: Readonly<Record<string, (exchange: Exchange, nth: number) => void>> = {
        "announces that it closes each": ({ socket, answer }) => {
          answer(200, { connection: "close" });
          socket.end();
        },
        "closes each after its response": ({ socket, answer }) => {
          answer(200);
          socket.end();
        },
        "announces that it closes each after ten requests": ({ socket, answer }, nth) => {
          answer(200, nth === 10 ? { connection: "close" } : {});
          if (nth === 10) socket.end();
        },
      };
      for (const [what, close] of Object.entries(closings)) {
        it(`make no reset fail if the server ${what}`, async () => {
          const { server, resetAll } = await start(options);
          const counts = new Map<Socket, number>();
          server.behave("POST", "reset-password", (exchange) => {
            const nth = (counts.get(exchange.socket) ?? 0) + 1;
            counts.set(exchange.socket, nth);
            close(exchange, nth);
          });
          assertAllDone(await resetAll(100));
          assert.equal(server.requests.length, 100);
          const [fewest, most] = what.includes("ten") ? [10, 9 + maxConcurrency] : [100, 100];
          assert.ok(server.connections >= fewest && server.connections <= most, `${server.connections}`);
        });
      }

      it("make no reset fail if the server closes those that are free for a second", async () => {
        const { server, resetAll } = await start(options);
        const closing = new Map<Socket, NodeJS.Timeout>();
        server.behave("POST", "reset-password", ({ socket, answer }) => {
          clearTimeout(closing.get(socket));
          answer(200);
          const close = (): unknown => socket.destroy();
          // What has arrived is read first, however late the timer is.
          closing.set(socket, setTimeout(() => setImmediate(close), 1000).unref());
        });
        for (const pauseMs of [0, 950, 1050]) {
          await wait(pauseMs);
          assertAllDone(await resetAll(maxConcurrency));
        }
        assert.ok(server.connections > maxConcurrency, `${server.connections}`);
      });
    });
  }

  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    it(`that a server with ${version} refuses leave no reset unconfirmed`, async () => {
      const limit = maxConcurrency - 1;
      const onConnection = (socket: Socket): void => void (server.open > limit && socket.destroy());
      const { server, resetAll } = await start({ ...tls(version), onConnection });
      const results = await resetAll(100);
      const failed = results.filter((result) => result.status === "rejected");
      for (const { reason } of failed) assert.ok(reason instanceof NotSentError, String(reason));
      assert.equal(server.requests.length, 100 - failed.length);
    });
  }

  for (const [how, pause] of Object.entries({
    "": () => wait(850),
    ", also if the process was busy": async () => {
      for (const end = performance.now() + 850; performance.now() < end;);
    },
  })) {
    it(`are not used if they were free for 800 ms${how}`, async () => {
      const { sockets, reset, counts } = await start();
      await reset();
      await wait(1);
      await pause();
      await reset();
      assert.deepEqual(counts(), { requests: 2, connections: 2 });
      await until(() => sockets[0]?.destroyed === true);
    });
  }

  it("are not used if they were free for 800 ms once the engine has responded", async () => {
    let asked = 0;
    const { reset, counts } = await start({}, async () => ++asked === 2 && wait(850));
    await reset();
    await reset();
    assert.deepEqual({ ...counts(), asked }, { requests: 2, connections: 2, asked: 3 });
  });

  it("that are new are not used if the engine has responded after 800 ms", async () => {
    let asked = 0;
    const { reset, counts } = await start(protocols["TLS 1.3"], async () => ++asked === 1 && wait(850));
    await reset();
    assert.deepEqual({ ...counts(), asked }, { requests: 1, connections: 2, asked: 2 });
  });

  it("carry nothing if the engine is gone", async () => {
    let asked = 0;
    const { reset, server, counts } = await start({}, async () => {
      if (++asked === 2) throw new Error("the engine is gone");
    });
    await reset();
    await assert.rejects(reset());
    assert.deepEqual(counts(), { requests: 1, connections: 1 });
    server.cut();
  });
});
