import assert from "node:assert/strict";
import { Dispatcher, type Ticket } from "../../../../local/platform/queue/dispatcher";
import { assertFields } from "../../../support/results";

interface Message {
  readonly id: number;
  readonly flowControl?: { key: string; parallelism?: number; rate?: number; period?: number };
}

const ids = (tickets: readonly Ticket<Message>[]): number[] => tickets.map(({ message }) => message.id);
const orders = (limits: object) => ({ flowControl: { key: "orders", ...limits } });

describe("Local platform: the dispatcher", () => {
  let dispatcher: Dispatcher<Message>;
  beforeEach(() => (dispatcher = new Dispatcher<Message>(100)));

  /** Adds `count` messages at once. */
  function add(count: number, more: Omit<Message, "id">): void {
    for (let id = 0; id < count; id++) dispatcher.add({ id, ...more }, 0, 0);
  }
  const take = (now = 0): number[] => ids(dispatcher.take(now));
  const record = () => dispatcher.record("orders", 0)!;

  it("lets keys take turns at the global parallelism", () => {
    dispatcher = new Dispatcher<Message>(3);
    ["a", "b"].forEach((key) => add(4, { flowControl: { key, parallelism: 4 } }));
    const names = (tickets: Ticket<Message>[]) => tickets.map(({ key, message }) => key.name + message.id);
    const taken = dispatcher.take(0);
    assert.deepEqual(names(taken), ["a0", "b0", "a1"]);
    assert.deepEqual(dispatcher.global, { parallelismMax: 3, parallelismCount: 3 });
    dispatcher.end(taken[0]!);
    assert.deepEqual(names(dispatcher.take(0)), ["b1"]);
  });

  it("keeps pinned limits, whatever limits messages ask for", () => {
    dispatcher.changeOrAdd("orders", 0, (key) => key.pin({ parallelism: 1 }, 0));
    add(4, orders({ parallelism: 4, rate: 3, period: 60 }));
    assert.deepEqual(take(), [0]);
    assertFields(record(), { parallelismMax: 1, rateMax: 3, isPinnedParallelism: true, isPinnedRate: false });
    dispatcher.change("orders", (key) => key.unpin({ parallelism: true, rate: false }));
    dispatcher.add({ id: 9, ...orders({ parallelism: 2 }) }, 0, 0);
    assert.deepEqual(take(), [1]);
    assertFields(record(), { parallelismMax: 2, rateMax: undefined });
  });
});
