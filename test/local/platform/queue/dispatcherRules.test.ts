import assert from "node:assert/strict";
import fc from "fast-check";
import { Dispatcher, type Ticket } from "../../../../local/platform/queue/dispatcher";
import { type Limits } from "../../../../local/platform/queue/flowControlKey";

interface Message {
  readonly id: number;
  readonly flowControl?: { key: string; parallelism?: number; rate?: number; period?: number };
}

const keyName = fc.constantFrom("a", "b", "c");
const limits = fc.record({
  parallelism: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  rate: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});
interface Step {
  readonly do: string;
  readonly key: string;
  readonly delay: number;
  readonly which: number;
  readonly time: number;
  readonly limits: Limits;
}
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("add"), key: keyName, delay: fc.constantFrom(0, 0, 0, 1_000) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("end", "retry"), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait"), time: fc.constantFrom(1_000, 2_000, 5_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("reset", "resetRate", "pause", "resume"), key: keyName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pin"), key: keyName, limits }) },
) as fc.Arbitrary<Step>;

/** The limits that the messages of each key ask for. */
const asked: Record<string, object> = {
  a: { parallelism: 2 },
  b: { rate: 2, period: 2 },
  c: { parallelism: 3, rate: 3 },
};

/** Runs the steps, with a bookkeeping of its own beside the dispatcher's. */
function holdsItsRules(steps: readonly Step[], parallelismMax: number): void {
  const dispatcher = new Dispatcher<Message>({ parallelismMax });
  let now = 0;
  let added = 0;
  let ended = 0;
  const running: Ticket<Message>[] = [];
  /**
   * Of each key: what runs and was dispatched since the last clearing, the times since then, and the ids that may be
   * next.
   */
  const books = Object.fromEntries(
    ["a", "b", "c"].map((key) => [key, { running: new Set<object>(), times: [] as number[], last: -1 }]),
  );
  const prompt: Set<number> = new Set();

  const takeAll = (): void => {
    for (const ticket of dispatcher.take(now)) {
      const { flowControl, id } = ticket.message;
      const book = books[flowControl!.key]!;
      book.running.add(ticket);
      book.times.push(now);
      running.push(ticket);
      const record = dispatcher.record(flowControl!.key, now)!;
      assert.ok(!record.isPaused, "nothing of a paused key goes");
      assert.ok(book.running.size <= (record.parallelismMax ?? Infinity), "never over the parallelism");
      if (prompt.delete(id)) {
        assert.ok(id > book.last, "first tries go in the order in which they came");
        book.last = id;
      }
    }
    assert.ok(running.length <= parallelismMax, "never over the global parallelism");
    assert.equal(dispatcher.global.parallelismCount, running.length);
    for (const [key, book] of Object.entries(books)) {
      const record = dispatcher.record(key, now);
      if (record === undefined) {
        continue;
      }
      assert.equal(record.parallelismCount, book.running.size, "the counter is what runs");
      if (record.rateMax !== undefined) {
        // Everything here happens at whole seconds, in which the key tells when its period began.
        const began = (record.ratePeriodStart ?? 0) * 1000;
        const inPeriod = book.times.filter((time) => time >= began).length;
        assert.ok(
          record.ratePeriodStart === undefined || began + record.ratePeriod! * 1000 > now,
          "the period is this one",
        );
        assert.equal(record.rateCount, inPeriod, "the counter is what was dispatched in the period");
        assert.ok(inPeriod <= record.rateMax, "never over the rate in a period");
      }
      const isFree =
        record.waitListSize! > 0 &&
        !record.isPaused &&
        record.parallelismCount < (record.parallelismMax ?? Infinity) &&
        record.rateCount! < (record.rateMax ?? Infinity);
      assert.ok(!isFree || running.length === parallelismMax, "nothing waits where there is capacity");
      if (record.waitListSize! > 0 && record.rateMax === record.rateCount && !record.isPaused) {
        const waitsForRateAlone = record.parallelismCount < (record.parallelismMax ?? Infinity);
        assert.ok(!waitsForRateAlone || running.length === parallelismMax || dispatcher.wakeAt !== undefined);
      }
    }
  };

  for (const { do: action, key, delay, which, time, limits } of steps) {
    if (action === "add") {
      const id = added++;
      dispatcher.add({ id, flowControl: { key, ...asked[key] } }, now + delay, now);
      if (delay === 0) {
        prompt.add(id);
      }
    } else if (action === "end" || action === "retry") {
      const [ticket] = running.splice(which % Math.max(running.length, 1), 1);
      if (ticket !== undefined) {
        books[ticket.message.flowControl!.key]!.running.delete(ticket);
        if (action === "end") {
          ended++;
          dispatcher.end(ticket);
        } else {
          dispatcher.retry(ticket, now + 1_000);
        }
      }
    } else if (action === "wait") {
      now += time;
    } else if (action === "pin") {
      dispatcher.changeOrAdd(key, now, (found) => found.pin({ period: 1, ...limits }, now));
      if (limits.parallelism !== undefined) {
        books[key]!.running.clear();
      }
      if (limits.rate !== undefined) {
        books[key]!.times = [];
      }
    } else {
      dispatcher.change(key, (found) => {
        if (action === "reset") {
          found.clearParallelism();
          books[key]!.running.clear();
        }
        if (action === "reset" || action === "resetRate") {
          found.clearRate(now);
          books[key]!.times = [];
        }
        if (action === "pause" || action === "resume") {
          found.isPaused = action === "pause";
        }
      });
    }
    takeAll();
  }

  // At the end all is resumed and each message ends: none is lost, none is left.
  ["a", "b", "c"].forEach((key) => dispatcher.change(key, (found) => (found.isPaused = false)));
  for (let rounds = 0; ended < added; rounds++) {
    assert.ok(rounds < 1_000, `${added - ended} messages are stuck`);
    takeAll();
    running.splice(0).forEach((ticket) => {
      books[ticket.message.flowControl!.key]!.running.delete(ticket);
      dispatcher.end(ticket);
      ended++;
    });
    now = Math.max(now, dispatcher.wakeAt ?? now);
  }
  takeAll();
  assert.equal(dispatcher.global.parallelismCount, 0);
}

describe("local platform: the dispatcher, by a property", () => {
  it("holds its rules whatever happens, in any order", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 6 }), holdsItsRules), {
      numRuns: 2_000,
    });
  });
});
