import assert from "node:assert/strict";
import { Dispatcher, type Ticket } from "../../../../local/platform/queue/dispatcher";
import { assertFields } from "../../../support/results";

interface Message {
  readonly id: number;
  readonly flowControl?: { key: string; parallelism?: number; rate?: number; period?: number };
}

const ids = (tickets: readonly Ticket<Message>[]): number[] => tickets.map(({ message }) => message.id);
const orders = (limits: object) => ({ flowControl: { key: "orders", ...limits } });

describe("local platform: the dispatcher", () => {
  let dispatcher: Dispatcher<Message>;
  beforeEach(() => (dispatcher = new Dispatcher<Message>({ parallelismMax: 100 })));

  /** Adds `count` messages at once. */
  function add(count: number, more: Omit<Message, "id">): void {
    for (let id = 0; id < count; id++) dispatcher.add({ id, ...more }, 0, 0);
  }
  const take = (now = 0): number[] => ids(dispatcher.take(now));
  const record = () => dispatcher.record("orders", 0)!;

  it("lets keys take turns at the global parallelism", () => {
    dispatcher = new Dispatcher<Message>({ parallelismMax: 3 });
    ["a", "b"].forEach((key) => add(4, { flowControl: { key, parallelism: 4 } }));
    const names = (tickets: Ticket<Message>[]) => tickets.map(({ key, message }) => key.name + message.id);
    const taken = dispatcher.take(0);
    assert.deepEqual(names(taken), ["a0", "b0", "a1"]);
    assert.deepEqual(dispatcher.global, { parallelismMax: 3, parallelismCount: 3 });
    dispatcher.end(taken[0]!);
    assert.deepEqual(names(dispatcher.take(0)), ["b1"]);
  });

  it("holds back delayed messages, and does not count them as waiting", () => {
    for (const [id, due] of [2_000, 1_000, 1_000].entries()) {
      dispatcher.add({ id, ...orders({ parallelism: 9 }) }, due, 0);
    }
    assert.deepEqual({ take: take(), wakeAt: dispatcher.wakeAt }, { take: [], wakeAt: 1_000 });
    assert.equal(record().waitListSize, 0);
    assert.deepEqual(take(2_500), [1, 2, 0]);
  });

  it("gives a replaced key the messages that wait, which then count", () => {
    add(3, orders({ parallelism: 1 }));
    const [first] = dispatcher.take(0);
    dispatcher.setKey({ flowControlKey: "orders", parallelismMax: 1 });
    const [second] = dispatcher.take(0);
    for (const ticket of [first!, second!]) dispatcher.end(ticket);
    assertFields(record(), { waitListSize: 1, parallelismCount: 0 });
    assert.deepEqual(take(), [2]);
  });

  it("keeps pinned limits, whatever limits messages ask for", () => {
    dispatcher.changeOrAdd("orders", 0, (key) => key.pin({ parallelism: 1 }, 0));
    add(4, orders({ parallelism: 4, rate: 3, period: 60 }));
    assert.deepEqual(take(), [0]);
    const pinned = { isPinnedParallelism: true, isPinnedRate: false };
    assertFields(record(), { parallelismMax: 1, rateMax: 3, ...pinned });
    dispatcher.change("orders", (key) => key.unpin({ parallelism: true, rate: false }));
    dispatcher.add({ id: 9, ...orders({ parallelism: 2 }) }, 0, 0);
    assert.deepEqual(take(), [1]);
    assertFields(record(), { parallelismMax: 2, rateMax: undefined });
  });

  it("counts the running messages on after a pin, which starts a new rate period", () => {
    add(3, orders({ parallelism: 3, rate: 3, period: 60 }));
    assert.deepEqual(take(), [0, 1, 2]);
    dispatcher.change("orders", (key) => key.pin({ parallelism: 2 }, 1_000));
    assertFields(record(), { parallelismMax: 2, parallelismCount: 3, rateCount: 0, ratePeriodStart: 1 });
    add(1, orders({}));
    assert.deepEqual(take(1_000), []);
  });

  it("holds real messages behind counters that were set by hand, until the reset", () => {
    dispatcher.setKey({ flowControlKey: "orders", waitListSize: 42, parallelismMax: 3, parallelismCount: 3 });
    add(2, orders({ parallelism: 3 }));
    assert.deepEqual(take(), []);
    assert.equal(record().waitListSize, 44);
    assert.equal(dispatcher.global.parallelismCount, 3);
    dispatcher.change("orders", (key) => key.clearParallelism());
    assert.deepEqual(take(), [0, 1]);
    assert.equal(dispatcher.global.parallelismCount, 2);
  });

  it("loses no message whose key is set by hand while it waits, is delayed or runs", () => {
    add(3, orders({ parallelism: 1 }));
    const [running] = dispatcher.take(0);
    dispatcher.add({ id: 3, ...orders({ parallelism: 1 }) }, 1_000, 0);
    dispatcher.setKey({ flowControlKey: "orders", waitListSize: 7, parallelismMax: 5 });
    assert.equal(record().waitListSize, 7);
    assert.deepEqual(take(), [1, 2]);
    dispatcher.end(running!);
    assert.equal(record().parallelismCount, 2);
    assert.deepEqual(take(1_000), [3]);
  });

  it("forgets keys with nothing left, the longest idle first, and keeps those that still count", () => {
    const send = (key: string, limits: object) => {
      dispatcher.add({ id: 0, flowControl: { key, ...limits } }, 0, 0);
      dispatcher.take(0).forEach((ticket) => dispatcher.end(ticket));
    };
    send("counts", { rate: 1, period: 604_800 });
    for (let index = 0; index < 30_000; index++) send(`key-${index}`, { parallelism: 1 });
    const names = [...dispatcher.keyNames];
    assert.ok(names.length < 10_010, String(names.length));
    assert.ok(names.includes("counts"));
    assert.equal(names.at(-1), "key-29999");
  });
});
