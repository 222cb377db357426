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
import { type World, type WorldOptions } from "./world";

const maxConcurrency = 4;
/** Connections that are open at most: under way, ready, and being opened. */
const mostOpen = 4 * maxConcurrency;
const plain = {};
const secure = { tls: certificate("good") };

describe("faults: connections opened ahead of resets", function () {
  this.timeout(180_000);
  const optionsOf = (server: Partial<ServerOptions>, settings: Record<string, string | number> = {}): WorldOptions => ({
    server,
    settings: () => ({ maxConcurrency, ...(server.tls && { caFile }), ...settings }),
    deadlineSeconds: 60,
  });

  const resetAll = ({ host }: World, count: number): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${nth}`))));

  /** Starts resets, and holds their responses until the maximum number of connections is open. */
  async function heldResets(world: World, count: number) {
    const held: Exchange[] = [];
    world.server.behave("POST", "reset-password", (exchange) => void held.push(exchange));
    const results = resetAll(world, count);
    await until(() => held.length === maxConcurrency && world.server.open === mostOpen);
    const release = (behaviour: Behaviour = ({ answer }) => answer(200)): void => {
      world.server.behave("POST", "reset-password", behaviour);
      held.forEach(({ answer }) => answer(200));
    };
    return { results, release };
  }

  function expectAllDone(results: readonly Result[], { server }: World): void {
    for (const result of results) expectKind("done", result);
    assert.equal(server.requests.length, results.length);
  }

  for (const [kind, platform] of Object.entries({ http: plain, TLS: secure })) {
    testRow(
      [8, `connections opened ahead close while ready (${kind})`, "create", "passes; 1 sent"],
      async ({ start }) => {
        const sockets: Socket[] = [];
        const world = await start(optionsOf({ ...platform, onConnection: (socket) => void sockets.push(socket) }));
        const { results, release } = await heldResets(world, 40);
        for (const socket of sockets.slice(maxConcurrency)) socket.destroy();
        await until(() => world.server.open === maxConcurrency);
        release();
        expectAllDone(await results, world);
      },
    );

    testRow(
      [
        8,
        `a connection opened ahead closes as the request is written (${kind})`,
        "create",
        "may have been applied: saved by an init error; 1 sent",
      ],
      async ({ start }) => {
        const world = await start(optionsOf(platform));
        const { server } = world;
        const { results, release } = await heldResets(world, 40);
        let struck: string | undefined;
        release(({ socket, path, answer }) => {
          if (struck !== undefined) return answer(200);
          struck = path.split("/").at(-1);
          socket.destroy();
        });
        const all = await results;
        assert.equal(all.filter(({ kind }) => kind === "done").length, 39);
        const unknown = all.findIndex(({ kind }) => kind === "init error");
        assert.equal(`db-${unknown}`, struck);
        assert.equal(server.count("POST", `db-${unknown}`), 1);
      },
    );

    testRow(
      [53, `the engine is killed while connections are ready (${kind})`, "create", "only those in flight are sent"],
      async ({ start }) => {
        const world = await start(optionsOf(platform));
        const { results, release } = await heldResets(world, 40);
        await world.host.engine.kill();
        release();
        const all = await results;
        assert.equal(all.filter(({ kind }) => kind === "done").length, maxConcurrency);
        for (const result of all.filter(({ kind }) => kind !== "done")) {
          assert.match(
            expectKind("failed", result).message,
            /the engine that requested it has ended.*nothing was sent/s,
          );
        }
        assert.equal(world.server.requests.length, maxConcurrency);
        await until(() => world.server.open === 0);
      },
    );
  }

  testRow(
    [59, "the server closes connections that are unused for one second", "create", "passes; 1 sent"],
    async ({ start }) => {
      const world = await start(
        optionsOf(
          {
            onConnection: (socket) => {
              const close = (): unknown => socket.bytesRead === 0 && socket.destroy();
              // What has arrived is read first, however late the timer is.
              setTimeout(() => setImmediate(close), 1000).unref();
            },
          },
          { maxConcurrency: 8 },
        ),
      );
      let nth = 0;
      // Now and then all are slow at once, so that connections are ready for longer than they may.
      world.server.behave("POST", "reset-password", async ({ answer }) => {
        await wait(nth++ % 100 < 8 ? 1200 : 10);
        answer(200);
      });
      const results: Result[] = [];
      const ids = Array.from({ length: 1000 }, (_, index) => `db-${index}`);
      const worker = async (): Promise<void> => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop()) results.push(await world.host.create(rotation(id)));
      };
      await Promise.all(Array.from({ length: 40 }, worker));
      expectAllDone(results, world);
      assert.ok(world.server.connections > 1000, "some were thrown away unused");
    },
  );

  testRow(
    [60, "the server limits connections, and closes those above", "create", "passes; 1 sent"],
    async ({ start }) => {
      let open = 0;
      const onConnection = (socket: Socket): void => {
        if (++open > maxConcurrency + 2) socket.destroy();
        socket.once("close", () => open--);
      };
      const world = await start(optionsOf({ ...secure, onConnection }));
      expectAllDone(await resetAll(world, 100), world);
    },
  );

  testRow([61, "connections above a limit are half-open", "create", "passes; 1 sent"], async ({ start, closes }) => {
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
    const proxy = closes(
      await Proxy.start({
        beforeOpening: () =>
          (last = last.then(async () => {
            await until(isFree);
            allowed++;
          })),
      }),
    );
    const world = await start(optionsOf({ ...secure, onConnection }, { proxy: `http://127.0.0.1:${proxy.port}` }));
    expectAllDone(await resetAll(world, 100), world);
  });
});
