import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Result } from "../support/host";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { Proxy } from "./proxy";
import { type Behaviour, type Exchange, type ServerOptions } from "./rawServer";
import { type Fixture } from "./fixture";

const maxConcurrency = 4;
/** Connections that are open at most: under way, ready, and being opened. */
const mostOpen = 4 * maxConcurrency;
const plain = {};
const secure = { tls: certificate("good") };

describe("faults: connections opened ahead of resets", function () {
  this.timeout(180_000);
  const start = (fixture: Fixture, server: Partial<ServerOptions>, more: Record<string, string | number> = {}) =>
    fixture.start({ server, settings: () => ({ maxConcurrency, ...(server.tls && { caFile }), ...more }) });

  const resetAll = ({ host }: Fixture, count: number): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${nth}`))));

  /** Starts 40 resets, and holds their responses until the maximum number of connections is open. */
  async function heldResets(fixture: Fixture) {
    const { server } = fixture;
    const held: Exchange[] = [];
    server.behave("POST", "reset-password", (exchange) => void held.push(exchange));
    const results = resetAll(fixture, 40);
    await until(() => held.length === maxConcurrency && server.open === mostOpen);
    const release = (behaviour: Behaviour = ({ answer }) => answer(200)): Promise<Result[]> => {
      server.behave("POST", "reset-password", behaviour);
      held.forEach(({ answer }) => answer(200));
      return results;
    };
    return { held, release };
  }

  function expectAllDone(results: readonly Result[], { server }: Fixture): void {
    for (const result of results) expectKind("done", result);
    assert.equal(server.requests.length, results.length);
  }

  const passes = "passes; 1 sent";
  const unconfirmed = "may have been applied: saved by an init error; 1 sent";
  for (const [kind, platform] of Object.entries({ http: plain, TLS: secure })) {
    testRow([8, `connections opened ahead close while ready (${kind})`, "create", passes], async (fixture) => {
      const sockets: Socket[] = [];
      const { server } = await start(fixture, { ...platform, onConnection: (socket) => void sockets.push(socket) });
      const { held, release } = await heldResets(fixture);
      const used = held.map(({ socket }) => socket.remotePort);
      for (const socket of sockets) if (!used.includes(socket.remotePort)) socket.destroy();
      await until(() => server.open === maxConcurrency);
      expectAllDone(await release(), fixture);
    });

    const closes = `a connection opened ahead closes as the request is written (${kind})`;
    testRow([8, closes, "create", unconfirmed], async (fixture) => {
      const { server } = await start(fixture, platform);
      const { release } = await heldResets(fixture);
      let closed: string | undefined;
      const results = await release(({ socket, path, answer }) => {
        if (closed !== undefined) return answer(200);
        closed = path.split("/").at(-1);
        socket.destroy();
      });
      assert.equal(results.filter(({ kind }) => kind === "done").length, 39);
      const unknown = results.findIndex(({ kind }) => kind === "init error");
      assert.equal(`db-${unknown}`, closed);
      assert.equal(server.count("POST", `db-${unknown}`), 1);
    });

    const killed = `the engine is killed while connections are ready (${kind})`;
    testRow([53, killed, "create", "only those in flight are sent"], async (fixture) => {
      const { host, server } = await start(fixture, platform);
      const { release } = await heldResets(fixture);
      await host.engine.kill();
      const failed = (await release()).filter((result) => result.kind !== "done");
      assert.equal(failed.length, 40 - maxConcurrency);
      for (const result of failed) {
        const { message } = expectKind("failed", result);
        assert.match(message, /the engine that requested it has ended.*not changed: nothing was sent/s);
      }
      assert.equal(server.requests.length, maxConcurrency);
      await until(() => server.open === 0);
    });
  }

  const unused = "the server closes connections that are unused for one second";
  testRow([59, unused, "create", passes], async (fixture) => {
    const onConnection = (socket: Socket): void => {
      const close = (): unknown => socket.bytesRead === 0 && socket.destroy();
      // What has arrived is read first, however late the timer is.
      setTimeout(() => setImmediate(close), 1000).unref();
    };
    const { host, server } = await start(fixture, { onConnection }, { maxConcurrency: 8 });
    let nth = 0;
    // Now and then all are slow at once, so that connections are ready for longer than they may.
    server.behave("POST", "reset-password", async ({ answer }) => {
      await wait(nth++ % 100 < 8 ? 1200 : 10);
      answer(200);
    });
    const results: Result[] = [];
    const ids = Array.from({ length: 1000 }, (_, index) => `db-${index}`);
    const worker = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        results.push(await host.create(rotation(id)));
      }
    };
    await Promise.all(Array.from({ length: 40 }, worker));
    expectAllDone(results, fixture);
    assert.ok(server.connections > 1000, "some were closed unused");
  });

  testRow([60, "the server limits connections, and closes those above", "create", passes], async (fixture) => {
    let open = 0;
    const onConnection = (socket: Socket): void => {
      if (++open > maxConcurrency + 2) socket.destroy();
      socket.once("close", () => open--);
    };
    await start(fixture, { ...secure, onConnection });
    expectAllDone(await resetAll(fixture, 100), fixture);
  });

  testRow([61, "connections above a limit are half-open", "create", passes], async (fixture) => {
    let accepted = 0;
    let open = 0;
    const onConnection = (socket: Socket): void => {
      accepted++;
      open++;
      socket.once("close", () => open--);
    };
    let allowed = 0;
    let last = Promise.resolve();
    const isFree = (): boolean => accepted === allowed && open < maxConcurrency;
    const proxy = fixture.closes(
      await Proxy.start({
        beforeOpening: () =>
          (last = last.then(async () => {
            await until(isFree);
            allowed++;
          })),
      }),
    );
    await start(fixture, { ...secure, onConnection }, { proxy: `http://127.0.0.1:${proxy.port}` });
    expectAllDone(await resetAll(fixture, 100), fixture);
  });
});
