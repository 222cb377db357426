import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { failing, once } from "./behaviours";
import { titled } from "./describeFaults";
import { act } from "./phases";
import { type Behaviour } from "./rawServer";
import { World, type WorldOptions } from "./world";

describe("faults: the request queue", () => {
  let world: World;
  const start = async (options: WorldOptions) => (world = await World.start(options));
  const reset = (id: string) => world.host.create(rotation(id));
  const succeeds = async (ids: readonly string[]) => {
    for (const result of await Promise.all(ids.map(reset))) expectKind("done", result);
  };
  const meet = (ids: readonly string[], behaviour: Behaviour) => {
    for (const id of ids) world.server.behave("POST", id, behaviour);
  };
  const posts = () => world.server.requests.filter(({ method }) => method === "POST").length;
  afterEach(() => world.close());

  it(titled(8, "stale keep-alive socket", "read, counter reset", "bounded retry, then passes; 2 sent"), async () => {
    const { server, flowControl } = await start({});
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
    await flowControl.get("orders");
    assert.equal((await flowControl.get("orders")).exists, true);
    assert.equal(server.count("GET", "orders"), 3);
    expectKind("done", await act("counter reset", world, "emails"));
    assert.equal(server.count("POST", "emails"), 2);
  });

  it(titled(8, "stale keep-alive socket", "create", "cannot be: each reset has a connection of its own"), async () => {
    await start({});
    const sockets = new Set<Socket>();
    for (const id of ["a", "b", "c"]) {
      meet([id], ({ socket, answer }) => {
        sockets.add(socket);
        answer(200, { connection: "keep-alive" });
      });
      await succeeds([id]);
    }
    assert.equal(sockets.size, 3);
  });

  it(titled(25, "429 with 1 second", "all requests", "the whole queue waits"), async () => {
    await start({ deadlineSeconds: 8, settings: () => ({ maxConcurrency: 1 }) });
    let limitedAt = 0;
    const times: number[] = [];
    const limited = once(({ answer }) => {
      limitedAt = performance.now();
      answer(429, { "retry-after": "1" }, "{}");
    });
    meet(["limited"], limited);
    meet(["b", "c"], ({ answer }) => {
      times.push(performance.now());
      answer(200);
    });
    const first = succeeds(["limited"]);
    await until(() => limitedAt > 0);
    await Promise.all([first, succeeds(["b", "c"])]);
    for (const time of times) assert.ok(time - limitedAt > 950, `sent ${time - limitedAt} ms after the response`);
    assert.equal(posts(), 4);
  });

  it(titled(25, "429 again and again", "create", "at most 3 tries, within one deadline"), async () => {
    await start({ deadlineSeconds: 2 });
    meet(["db"], failing(429, "slow down", { "retry-after": "1" }));
    const begin = performance.now();
    expectKind("failed", await reset("db"));
    assert.ok(performance.now() - begin < 12_000);
    assert.ok(posts() <= 2);
  });

  it(titled(10, "slow responses", "queued", "a deadline starts when a request is first sent"), async () => {
    await start({ deadlineSeconds: 3, settings: () => ({ maxConcurrency: 1 }) });
    const ids = ["a", "b", "c"];
    meet(ids, ({ answer }) => void setTimeout(() => answer(200), 1_500));
    await succeeds(ids);
  });

  it(titled(53, "engine killed while resets are queued", "create", "only those in flight are sent"), async () => {
    await start({ settings: () => ({ maxConcurrency: 2 }) });
    const ids = Array.from({ length: 10 }, (_, nth) => `db-${nth}`);
    const held: (() => void)[] = [];
    meet(ids, ({ answer }) => void held.push(() => answer(200)));
    const results = ids.map(reset);
    await until(() => held.length === 2);
    await world.host.engine.close();
    for (const release of held) release();
    const failed = (await Promise.all(results)).flatMap((result) => (result.kind === "failed" ? [result.message] : []));
    for (const message of failed) assert.match(message, /engine.*ended.*not changed: nothing was sent/s);
    assert.deepEqual({ failed: failed.length, sent: posts() }, { failed: 8, sent: 2 });
  });

  it(titled(52, "more resets than maxResetsPerRun", "create", "fails, state kept; 0 sent"), async () => {
    await start({ settings: () => ({ maxResetsPerRun: 2 }) });
    await succeeds(["a", "b"]);
    const { message } = expectKind("failed", await reset("c"));
    assert.match(message, /nothing was sent.*rekey:maxResetsPerRun/);
    assert.equal(posts(), 2);
  });
});
