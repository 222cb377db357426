import assert from "node:assert/strict";
import fc from "fast-check";
import { Dispatcher, type Ticket } from "../../../../local/platform/queue/dispatcher";
import { type Limits } from "../../../../local/platform/queue/flowControlKey";

type Name = "a" | "b" | "c";
interface Message {
  readonly id: number;
  readonly flowControl: Limits & { readonly key: Name; readonly period?: number };
}

/** The limits that the messages of each key ask for. */
const asked = { a: { parallelism: 2 }, b: { rate: 2, period: 2 }, c: { parallelism: 3, rate: 3 } };
const names = Object.keys(asked) as Name[];

const limit = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const step = fc.record({
  do: fc.oneof(
    { weight: 6, arbitrary: fc.constant("add") },
    { weight: 5, arbitrary: fc.constantFrom("end", "retry") },
    { weight: 3, arbitrary: fc.constant("wait") },
    { weight: 1, arbitrary: fc.constantFrom("reset", "resetRate", "pause", "resume") },
    { weight: 1, arbitrary: fc.constant("pin") },
  ),
  key: fc.constantFrom(...names),
  delay: fc.constantFrom(0, 0, 0, 1_000),
  which: fc.nat(),
  time: fc.constantFrom(1_000, 2_000, 5_000),
  limits: fc.record({ parallelism: limit, rate: limit }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The expected state of a key. */
class Book {
  /** What runs and was dispatched since the parallelism was last cleared. */
  readonly running = new Set<object>();
  /** When messages were dispatched since the rate was last cleared. */
  times: number[] = [];
  /** The newest message that was dispatched at its first try, of those without a delay. */
  last = -1;
}

/** Runs the steps with its own bookkeeping in addition to the dispatcher's. */
function keepsItsInvariants(steps: readonly Step[], parallelismMax: number): void {
  const dispatcher = new Dispatcher<Message>(parallelismMax);
  let [now, added, ended] = [0, 0, 0];
  const running: Ticket<Message>[] = [];
  const books = { a: new Book(), b: new Book(), c: new Book() };
  const undelayed = new Set<number>();

  const takeAll = (): void => {
    for (const ticket of dispatcher.take(now)) {
      const { flowControl, id } = ticket.message;
      const book = books[flowControl.key];
      book.running.add(ticket);
      book.times.push(now);
      running.push(ticket);
      const { isPaused, parallelismMax = Infinity } = dispatcher.record(flowControl.key, now)!;
      assert.ok(!isPaused, "no message of a paused key is dispatched");
      assert.ok(book.running.size <= parallelismMax, "never over the parallelism");
      if (undelayed.delete(id)) {
        assert.ok(id > book.last, "first tries are dispatched in the order of the messages");
        book.last = id;
      }
    }
    assert.ok(running.length <= parallelismMax, "never over the global parallelism");
    assert.equal(dispatcher.global.parallelismCount, running.length);
    names.forEach(checkRecord);
  };

  function checkRecord(key: Name): void {
    const record = dispatcher.record(key, now);
    if (record === undefined) return;
    const { waitListSize = 0, parallelismCount = 0, rateCount = 0, rateMax, ratePeriodStart, isPaused } = record;
    assert.equal(parallelismCount, books[key].running.size, "the counter is what runs");
    if (rateMax !== undefined) {
      // Everything here happens at whole seconds, the unit of the start of a period.
      const began = (ratePeriodStart ?? 0) * 1000;
      const inPeriod = books[key].times.filter((time) => time >= began).length;
      const isCurrent = ratePeriodStart === undefined || began + record.ratePeriod! * 1000 > now;
      assert.ok(isCurrent, "the period is the current one");
      assert.equal(rateCount, inPeriod, "the counter is what was dispatched in the period");
      assert.ok(inPeriod <= rateMax, "never over the rate in a period");
    }
    // What waits has a reason: the parallelism, the rate, whose period ends some time, or the global parallelism.
    const hasPlace = waitListSize > 0 && !isPaused && parallelismCount < (record.parallelismMax ?? Infinity);
    if (!hasPlace || running.length === parallelismMax) return;
    assert.ok(rateCount >= (rateMax ?? Infinity), "no message waits while there is capacity");
    assert.notEqual(dispatcher.wakeAt, undefined);
  }

  const finish = (ticket: Ticket<Message>): void => {
    books[ticket.message.flowControl.key].running.delete(ticket);
    dispatcher.end(ticket);
    ended++;
  };

  for (const { do: action, key, delay, which, time, limits } of steps) {
    const book = books[key];
    if (action === "add") {
      const id = added++;
      dispatcher.add({ id, flowControl: { key, ...asked[key] } }, now + delay, now);
      if (delay === 0) undelayed.add(id);
    } else if (action === "end" || action === "retry") {
      const [ticket] = running.splice(which % Math.max(running.length, 1), 1);
      if (ticket !== undefined && action === "end") finish(ticket);
      if (ticket !== undefined && action === "retry") {
        books[ticket.message.flowControl.key].running.delete(ticket);
        dispatcher.retry(ticket, now + 1_000);
      }
    } else if (action === "wait") {
      now += time;
    } else if (action === "pin") {
      dispatcher.changeOrAdd(key, now, (found) => found.pin({ period: 1, ...limits }, now));
      book.times = [];
    } else if (action === "pause" || action === "resume") {
      dispatcher.change(key, (found) => (found.isPaused = action === "pause"));
    } else {
      dispatcher.change(key, (found) => {
        found.clearRate(now);
        book.times = [];
        if (action === "resetRate") return;
        found.clearParallelism();
        book.running.clear();
      });
    }
    takeAll();
  }

  // At the end all is resumed and each message ends: none is lost, none is left.
  names.forEach((key) => dispatcher.change(key, (found) => (found.isPaused = false)));
  for (let rounds = 0; ended < added; rounds++) {
    assert.ok(rounds < 1_000, `${added - ended} messages are stuck`);
    takeAll();
    running.splice(0).forEach(finish);
    now = Math.max(now, dispatcher.wakeAt ?? now);
  }
  takeAll();
  assert.equal(dispatcher.global.parallelismCount, 0);
}

describe("Local platform: the dispatcher, as properties", () => {
  it("keeps its invariants for any sequence of steps", () => {
    const sequence = fc.array(step, { maxLength: 80 });
    const property = fc.property(sequence, fc.integer({ min: 1, max: 6 }), keepsItsInvariants);
    fc.assert(property, { numRuns: 2_000 });
  });
});
