import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { titled } from "./describeFaults";
import { act } from "./phases";
import { World, type WorldOptions } from "./world";

describe("faults: the line of requests", () => {
  let world: World;
  const start = async (options: WorldOptions) => (world = await World.start(options));
  const reset = (id: string) => world.host.create(rotation(id));
  const posts = () => world.server.requests.filter(({ method }) => method === "POST").length;
  afterEach(() => world.close());

  it(titled(8, "stale keep-alive socket", "read, counter reset", "bounded retry, then passes; 2 sent"), async () => {
    await start({});
    const { server, flowControl } = world;
    const used = new WeakSet<Socket>();
    const stale = ["orders", "emails"];
    for (const key of stale) {
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
      world.server.behave("POST", id, ({ socket, answer }) => {
        sockets.add(socket);
        answer(200, { connection: "keep-alive" });
      });
      expectKind("done", await reset(id));
    }
    assert.equal(sockets.size, 3);
  });

  it(titled(25, "429 with 1 second", "all requests", "the whole line waits"), async () => {
    await start({ deadlineSeconds: 8, settings: () => ({ maxConcurrency: 1 }) });
    let limitedAt = 0;
    const times: number[] = [];
    world.server.behave("POST", "limited", ({ nth, answer }) => {
      if (nth > 1) return answer(200);
      limitedAt = performance.now();
      answer(429, { "retry-after": "1" }, "{}");
    });
    for (const id of ["b", "c"]) {
      world.server.behave("POST", id, ({ answer }) => {
        times.push(performance.now());
        answer(200);
      });
    }
    const first = reset("limited");
    await until(() => limitedAt > 0);
    for (const result of await Promise.all([first, reset("b"), reset("c")])) expectKind("done", result);
    for (const time of times) assert.ok(time - limitedAt > 950, `sent ${time - limitedAt} ms after the answer`);
    assert.equal(posts(), 4);
  });

  it(titled(25, "429 once more and more", "create", "at most 3 tries, within one deadline"), async () => {
    await start({ deadlineSeconds: 2 });
    world.server.behave("POST", "db", ({ answer }) => answer(429, { "retry-after": "1" }, "{}"));
    const begin = performance.now();
    expectKind("failed", await reset("db"));
    assert.ok(performance.now() - begin < 12_000);
    assert.ok(posts() <= 2);
  });

  it(titled(10, "slow answers", "queued", "a deadline starts when a request is first sent"), async () => {
    await start({ deadlineSeconds: 3, settings: () => ({ maxConcurrency: 1 }) });
    for (const id of ["a", "b", "c"]) {
      world.server.behave("POST", id, ({ answer }) => void setTimeout(() => answer(200), 1_500));
    }
    const results = await Promise.all(["a", "b", "c"].map(reset));
    for (const result of results) expectKind("done", result);
  });

  it(titled(53, "engine killed while resets are queued", "create", "only those in flight are sent"), async () => {
    await start({ settings: () => ({ maxConcurrency: 2 }) });
    const ids = Array.from({ length: 10 }, (_, nth) => `db-${nth}`);
    const held: (() => void)[] = [];
    for (const id of ids) world.server.behave("POST", id, ({ answer }) => void held.push(() => answer(200)));
    const results = ids.map(reset);
    await until(() => held.length === 2);
    await world.host.engine.close();
    for (const release of held) release();
    const kinds = (await Promise.all(results)).map((result) => {
      if (result.kind === "failed") assert.match(result.message, /engine.*is gone.*not changed: nothing was sent/s);
      return result.kind;
    });
    assert.deepEqual(kinds.sort(), [...Array<string>(2).fill("done"), ...Array<string>(8).fill("failed")]);
    assert.equal(posts(), 2);
  });

  it(titled(52, "more resets than maxResetsPerRun", "create", "fails, state kept; 0 sent"), async () => {
    await start({ settings: () => ({ maxResetsPerRun: 2 }) });
    for (const id of ["a", "b"]) expectKind("done", await reset(id));
    const { message } = expectKind("failed", await reset("c"));
    assert.match(message, /nothing was sent.*rekey:maxResetsPerRun/);
    assert.equal(posts(), 2);
  });
});
