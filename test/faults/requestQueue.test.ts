import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { failing, once } from "./behaviours";
import { testRow } from "./describeFaults";
import { act } from "./phases";
import { type Behaviour } from "./rawServer";
import { type World } from "./world";

const reset = ({ host }: World, id: string) => host.create(rotation(id));
const succeeds = async (world: World, ids: readonly string[]) => {
  for (const result of await Promise.all(ids.map((id) => reset(world, id)))) expectKind("done", result);
};
const meet = ({ server }: World, ids: readonly string[], behaviour: Behaviour) => {
  for (const id of ids) server.behave("POST", id, behaviour);
};
const posts = ({ server }: World) => server.requests.filter(({ method }) => method === "POST").length;

describe("faults: the request queue", () => {
  testRow(
    [8, "stale keep-alive socket", "read, counter reset", "bounded retry, then passes; 2 sent"],
    async ({ start }) => {
      const world = await start();
      const { server } = world;
      const used = new WeakSet<Socket>();
      for (const key of ["orders", "emails"]) {
        for (const method of ["GET", "POST"]) {
          server.behave(method, key, ({ socket, answer }) => {
            if (used.has(socket)) return void socket.resetAndDestroy();
            used.add(socket);
            answer(200);
          });
        }
      }
      await world.read("orders");
      assert.equal(expectKind("done", await world.read("orders")).outs["exists"], true);
      assert.equal(server.count("GET", "orders"), 3);
      expectKind("done", await act("counter reset", world, "emails"));
      assert.equal(server.count("POST", "emails"), 2);
    },
  );

  testRow(
    [8, "stale keep-alive socket", "create", "cannot be: each reset has its own connection"],
    async ({ start }) => {
      const world = await start();
      const sockets = new Set<Socket>();
      for (const id of ["a", "b", "c"]) {
        meet(world, [id], ({ socket, answer }) => {
          sockets.add(socket);
          answer(200, { connection: "keep-alive" });
        });
        await succeeds(world, [id]);
      }
      assert.equal(sockets.size, 3);
    },
  );

  testRow([25, "429 with 1 second", "all requests", "the whole queue waits"], async ({ start }) => {
    const world = await start({ settings: () => ({ maxConcurrency: 1 }) });
    let limitedAt = 0;
    const times: number[] = [];
    const limited = once(({ answer }) => {
      limitedAt = performance.now();
      answer(429, { "retry-after": "1" }, "{}");
    });
    meet(world, ["limited"], limited);
    meet(world, ["b", "c"], ({ answer }) => {
      times.push(performance.now());
      answer(200);
    });
    const first = succeeds(world, ["limited"]);
    await until(() => limitedAt > 0);
    await Promise.all([first, succeeds(world, ["b", "c"])]);
    for (const time of times) assert.ok(time - limitedAt > 950, `sent ${time - limitedAt} ms after the response`);
    assert.equal(posts(world), 4);
  });

  testRow([25, "429 again and again", "create", "at most 3 tries, within one deadline"], async ({ start }) => {
    const world = await start({ deadlineSeconds: 2 });
    meet(world, ["db"], failing(429, "slow down", { "retry-after": "1" }));
    expectKind("failed", await reset(world, "db"));
    // A third one would be sent after the deadline.
    assert.ok(posts(world) <= 2);
  });

  testRow([10, "slow responses", "queued", "a deadline starts when a request is first sent"], async ({ start }) => {
    const world = await start({ deadlineSeconds: 4, settings: () => ({ maxConcurrency: 1 }) });
    const ids = ["a", "b", "c"];
    meet(world, ids, ({ answer }) => void setTimeout(() => answer(200), 2_000));
    await succeeds(world, ids);
  });

  testRow(
    [53, "engine killed while resets are queued", "create", "only those in flight are sent"],
    async ({ start }) => {
      const world = await start({ settings: () => ({ maxConcurrency: 2 }) });
      const ids = Array.from({ length: 10 }, (_, nth) => `db-${nth}`);
      const held: (() => void)[] = [];
      meet(world, ids, ({ answer }) => void held.push(() => answer(200)));
      const results = ids.map((id) => reset(world, id));
      await until(() => held.length === 2);
      await world.host.engine.kill();
      for (const release of held) release();
      const failed = (await Promise.all(results)).flatMap((result) =>
        result.kind === "failed" ? [result.message] : [],
      );
      for (const message of failed) assert.match(message, /engine.*ended.*not changed: nothing was sent/s);
      assert.deepEqual({ failed: failed.length, sent: posts(world) }, { failed: 8, sent: 2 });
    },
  );

  testRow([52, "more resets than maxResetsPerRun", "create", "fails, state kept; 0 sent"], async ({ start }) => {
    const world = await start({ settings: () => ({ maxResetsPerRun: 2 }) });
    await succeeds(world, ["a", "b"]);
    const { message } = expectKind("failed", await reset(world, "c"));
    assert.match(message, /nothing was sent.*rekey:maxResetsPerRun/);
    assert.equal(posts(world), 2);
  });
});
