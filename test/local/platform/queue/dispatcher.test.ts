import assert from "node:assert/strict";
import { Dispatcher, type Ticket } from "../../../../local/platform/queue/dispatcher";

interface Message {
  readonly id: number;
  readonly flowControl?: { key: string; parallelism?: number; rate?: number; period?: number };
  readonly queue?: string;
}

const week = 604_800;
const ids = (tickets: readonly Ticket<Message>[]): number[] => tickets.map(({ message }) => message.id);
const orders = (limits: object) => ({ key: "orders", ...limits });

/** Adds `count` messages at once. */
function add(dispatcher: Dispatcher<Message>, count: number, more: Omit<Message, "id">, now = 0): void {
  for (let id = 0; id < count; id++) {
    dispatcher.add({ id, ...more }, now, now);
  }
}

describe("local platform: the dispatcher", () => {
  it("dispatches no more than the parallelism, and the next in order when one ends", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    add(dispatcher, 5, { flowControl: orders({ parallelism: 2 }) });
    const [first, second] = dispatcher.take(0);
    assert.deepEqual(ids([first!, second!]), [0, 1]);
    assert.deepEqual(ids(dispatcher.take(0)), []);
    assert.deepEqual(dispatcher.record("orders", 0), {
      flowControlKey: "orders",
      waitListSize: 3,
      parallelismMax: 2,
      parallelismCount: 2,
      rateCount: 0,
    });
    dispatcher.end(second!);
    assert.deepEqual(ids(dispatcher.take(0)), [2]);
    assert.equal(dispatcher.wakeAt, undefined);
  });

  for (const period of [1, 10, week]) {
    it(`dispatches no more than the rate in a period of ${period} s, and asks to be woken at its end`, () => {
      const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
      add(dispatcher, 12, { flowControl: orders({ rate: 5, period }) }, 500);
      assert.deepEqual(ids(dispatcher.take(500)), [0, 1, 2, 3, 4]);
      const end = 500 + period * 1000;
      assert.equal(dispatcher.wakeAt, end);
      assert.deepEqual(ids(dispatcher.take(end - 1)), []);
      assert.equal(dispatcher.record("orders", end - 1)?.rateCount, 5);
      assert.equal(dispatcher.record("orders", end)?.rateCount, 0);
      assert.deepEqual(ids(dispatcher.take(end)), [5, 6, 7, 8, 9]);
      assert.deepEqual(ids(dispatcher.take(end + period * 1000)), [10, 11]);
    });
  }

  it("lets the next five go at once when the key is reset, though the first five still run", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    add(dispatcher, 15, { flowControl: orders({ parallelism: 5, rate: 5, period: week }) });
    const first = dispatcher.take(0);
    dispatcher.change("orders", (key) => {
      key.clearParallelism();
      key.clearRate(3_000);
    });
    assert.deepEqual(ids(dispatcher.take(3_000)), [5, 6, 7, 8, 9]);
    first.forEach((ticket) => dispatcher.end(ticket));
    const record = dispatcher.record("orders", 3_000);
    assert.deepEqual([record?.parallelismCount, record?.rateCount, record?.ratePeriodStart], [5, 5, 3]);
    assert.deepEqual(ids(dispatcher.take(3_000)), [], "what was dispatched before the reset frees nothing twice");
    assert.equal(dispatcher.global.parallelismCount, 5);
  });

  it("lets keys take turns at the global parallelism", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 3 });
    ["a", "b"].forEach((key) => add(dispatcher, 4, { flowControl: { key, parallelism: 4 } }));
    const taken = dispatcher.take(0);
    assert.deepEqual(
      taken.map(({ key, message }) => key.name + message.id),
      ["a0", "b0", "a1"],
    );
    assert.deepEqual(dispatcher.global, { parallelismMax: 3, parallelismCount: 3 });
    dispatcher.end(taken[0]!);
    assert.deepEqual(
      dispatcher.take(0).map(({ key, message }) => key.name + message.id),
      ["b1"],
    );
  });

  it("holds back what is delayed, and does not count it as waiting", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    const flowControl = orders({ parallelism: 9 });
    dispatcher.add({ id: 1, flowControl }, 2_000, 0);
    dispatcher.add({ id: 2, flowControl }, 1_000, 0);
    dispatcher.add({ id: 3, flowControl }, 1_000, 0);
    assert.deepEqual([ids(dispatcher.take(0)), dispatcher.wakeAt], [[], 1_000]);
    assert.equal(dispatcher.record("orders", 0)?.waitListSize, 0);
    assert.deepEqual(ids(dispatcher.take(2_500)), [2, 3, 1]);
  });

  it("keeps a message its turn in its queue through its retries", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    add(dispatcher, 2, { queue: "q" });
    const [first] = dispatcher.take(0);
    dispatcher.retry(first!, 5_000);
    assert.deepEqual(ids(dispatcher.take(4_999)), []);
    assert.equal(dispatcher.queues.get("q")?.record().lag, 2);
    const [again] = dispatcher.take(5_000);
    assert.equal(again?.message.id, 0);
    dispatcher.end(again);
    assert.deepEqual(ids(dispatcher.take(5_000)), [1]);
  });

  it("keeps what is pinned, whatever messages say", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    dispatcher.changeOrAdd("orders", 0, (key) => key.pin({ parallelism: 1 }, 0));
    add(dispatcher, 4, { flowControl: orders({ parallelism: 4, rate: 3, period: 60 }) });
    assert.deepEqual(ids(dispatcher.take(0)), [0]);
    const { parallelismMax, rateMax, isPinnedParallelism, isPinnedRate } = dispatcher.record("orders", 0)!;
    assert.deepEqual([parallelismMax, rateMax, isPinnedParallelism, isPinnedRate], [1, 3, true, undefined]);
    dispatcher.change("orders", (key) => key.unpin({ parallelism: true, rate: false }));
    dispatcher.add({ id: 9, flowControl: orders({ parallelism: 2 }) }, 0, 0);
    assert.deepEqual(ids(dispatcher.take(0)), [1]);
    assert.deepEqual(dispatcher.record("orders", 0), {
      flowControlKey: "orders",
      waitListSize: 3,
      parallelismMax: 2,
      parallelismCount: 2,
      rateCount: 0,
    });
  });

  it("holds real messages behind counters that were set by hand, until the reset", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    dispatcher.setKey({ flowControlKey: "orders", waitListSize: 42, parallelismMax: 3, parallelismCount: 3 });
    add(dispatcher, 2, { flowControl: orders({ parallelism: 3 }) });
    assert.deepEqual(ids(dispatcher.take(0)), []);
    assert.equal(dispatcher.record("orders", 0)?.waitListSize, 44);
    assert.equal(dispatcher.global.parallelismCount, 3);
    dispatcher.change("orders", (key) => key.clearParallelism());
    assert.deepEqual(ids(dispatcher.take(0)), [0, 1]);
    assert.deepEqual(dispatcher.global.parallelismCount, 2);
  });

  it("loses no message whose key is set by hand while it waits, is delayed or runs", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    add(dispatcher, 3, { flowControl: orders({ parallelism: 1 }) });
    const [running] = dispatcher.take(0);
    dispatcher.add({ id: 3, flowControl: orders({ parallelism: 1 }) }, 1_000, 0);
    dispatcher.setKey({ flowControlKey: "orders", waitListSize: 7, parallelismMax: 5 });
    assert.equal(dispatcher.record("orders", 0)?.waitListSize, 7);
    assert.deepEqual(ids(dispatcher.take(0)), [1, 2]);
    dispatcher.end(running!);
    assert.equal(dispatcher.record("orders", 0)?.parallelismCount, 2);
    assert.deepEqual(ids(dispatcher.take(1_000)), [3]);
  });

  it("forgets keys with nothing left, the longest idle first, and no key that still counts", () => {
    const dispatcher = new Dispatcher<Message>({ parallelismMax: 100 });
    const send = (key: string, limits: object) => {
      dispatcher.add({ id: 0, flowControl: { key, ...limits } }, 0, 0);
      dispatcher.take(0).forEach((ticket) => dispatcher.end(ticket));
    };
    send("counts", { rate: 1, period: week });
    for (let index = 0; index < 30_000; index++) {
      send(`key-${index}`, { parallelism: 1 });
    }
    const names = [...dispatcher.keyNames];
    assert.ok(names.length < 10_010, String(names.length));
    assert.ok(names.includes("counts"));
    assert.equal(names.at(-1), "key-29999");
  });
});
