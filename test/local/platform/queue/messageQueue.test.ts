import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { type Draft } from "../../../../local/platform/queue/messages";
import { MessageQueue } from "../../../../local/platform/queue/messageQueue";
import { publishSettings, type SentHeaders } from "../../../../local/platform/queue/publishHeaders";
import { type Delivery, Destination } from "./destination";
import { FakeClock } from "./fakeClock";

describe("local platform: the message queue", () => {
  let destination: Destination;
  let queue: MessageQueue;
  let clock: FakeClock;
  const start = async (react?: (delivery: Delivery) => void): Promise<void> => {
    destination = await new Destination(react).start();
    clock = new FakeClock();
    const globalParallelism = { parallelismMax: 100 };
    queue = new MessageQueue({ flowControlKeys: [], globalParallelism, retryDelay: 1 }, clock);
  };
  afterEach(async () => {
    queue.close();
    await destination.close();
  });

  const draft = (body: string, headers: SentHeaders = {}, path = ""): Draft => ({
    ...publishSettings(headers, "loopback"),
    destination: destination.url + path,
    body: Buffer.from(body),
  });
  const flowControl = (value: string) => ({
    "upstash-flow-control-key": "orders",
    "upstash-flow-control-value": value,
  });
  const many = (count: number, headers: SentHeaders): Draft[] =>
    Array.from({ length: count }, (_, index) => draft(String(index), headers));
  const states = (messageId: string): string[] => {
    const { events } = queue.events.page((event) => event.messageId === messageId, 100, clock.now());
    return events.map(({ state }) => state).reverse();
  };
  /** Waits until the queue itself has seen so many messages of this state. */
  const seen = async (state: string, count: number): Promise<void> => {
    while (queue.events.page((event) => event.state === state, 100_000, clock.now()).events.length < count) {
      await turn();
    }
  };

  it("never has more than the parallelism at a slow destination, delivers all, keeps order and counts truly", async () => {
    const [count, parallelism] = [1_000, 10];
    const held: Delivery[] = [];
    let samples = 0;
    await start((delivery) => {
      held.push(delivery);
      const done = destination.deliveries.length - held.length;
      const { waitListSize = 0, parallelismCount = 0 } = queue.flowControlKey("orders")!;
      assert.ok(destination.atOnce <= parallelismCount && parallelismCount <= parallelism);
      assert.equal(queue.globalParallelism.parallelismCount, parallelismCount);
      // An answer may still be on its way to the queue.
      assert.ok(waitListSize + parallelismCount + done >= count, "each message waits, runs or is done");
      assert.equal(
        waitListSize + queue.events.page(({ state }) => state === "ACTIVE", 10_000, clock.now()).events.length,
        count,
      );
      samples++;
      // Slow: it answers one only when as many are there as can be.
      if (destination.deliveries.length === count) {
        held.splice(0).forEach((one) => one.answer());
      } else if (held.length === parallelism) {
        held.shift()!.answer();
      }
    });
    queue.publish(many(count, flowControl(`parallelism=${parallelism}`)));
    await seen("DELIVERED", count);
    assert.deepEqual([samples, destination.mostAtOnce], [count, parallelism]);
    const { events } = queue.events.page(({ state }) => state === "ACTIVE", 10_000, clock.now());
    const { events: created } = queue.events.page(({ state }) => state === "CREATED", 10_000, clock.now());
    assert.deepEqual(
      events.map(({ messageId }) => messageId),
      created.map(({ messageId }) => messageId),
      "dispatched in the order in which they came",
    );
    // On several connections two messages may overtake each other, but none by more than what was under way.
    destination.bodies.forEach((body, index) => assert.ok(Math.abs(Number(body) - index) <= parallelism));
    const { waitListSize, parallelismCount } = queue.flowControlKey("orders")!;
    assert.deepEqual([waitListSize, parallelismCount], [0, 0]);
  });

  it("delivers strictly in order with a parallelism of 1", async () => {
    await start();
    queue.publish(many(50, flowControl("parallelism=1")));
    await seen("DELIVERED", 50);
    assert.deepEqual(
      destination.bodies,
      Array.from({ length: 50 }, (_, index) => String(index)),
    );
  });

  it("never delivers more than the rate in a period, and the next ones at once after a reset", async () => {
    await start();
    queue.publish(many(20, flowControl("rate=5, period=10s")));
    await seen("DELIVERED", 5);
    const record = () => {
      const { waitListSize, parallelismCount, rateCount } = queue.flowControlKey("orders")!;
      return [waitListSize, parallelismCount, rateCount];
    };
    assert.deepEqual(record(), [15, 0, 5]);
    clock.move(9_999);
    assert.deepEqual([destination.bodies.length, ...record()], [5, 15, 0, 5]);
    clock.move(1);
    assert.deepEqual(record(), [10, 5, 5], "counted from the moment of dispatch");
    await seen("DELIVERED", 10);
    assert.equal(queue.resetFlowControl("orders"), true);
    assert.deepEqual(record(), [5, 5, 5]);
    await seen("DELIVERED", 15);
    clock.move(9_999);
    assert.deepEqual([destination.bodies.length, ...record()], [15, 5, 0, 5]);
    assert.equal(queue.resetRate("orders"), true);
    await seen("DELIVERED", 20);
    assert.equal(destination.bodies.length, 20);
  });

  it("lets go what was stuck at a destination that does not answer, when its key is reset", async () => {
    await start(() => {});
    queue.publish(many(6, flowControl("parallelism=2")));
    await destination.arrived(2);
    queue.resetFlowControl("orders");
    await destination.arrived(4);
    assert.equal(queue.flowControlKey("orders")?.parallelismCount, 2);
    assert.equal(queue.globalParallelism.parallelismCount, 4, "all four really run");
  });

  it("waits for a delay, or until a time", async () => {
    await start();
    const seconds = clock.now() / 1000;
    queue.publish([
      draft("1h30m", { "upstash-delay": "1h30m" }),
      draft("at", { "upstash-not-before": String(seconds + 60) }),
    ]);
    clock.move(60_000);
    await seen("DELIVERED", 1);
    clock.move(5_339_999);
    assert.deepEqual(destination.bodies, ["at"]);
    clock.move(1);
    await seen("DELIVERED", 2);
    assert.deepEqual(destination.bodies, ["at", "1h30m"]);
  });

  it("tries again with waits that double, tells which retry it is, and calls back once it is delivered", async () => {
    let failures = 2;
    await start((delivery) => delivery.answer(failures-- > 0 && delivery.path === "/" ? 500 : 200, "done"));
    const [message] = queue.publish([
      draft("x", {
        "content-type": "text/plain",
        "upstash-method": "PUT",
        "upstash-forward-x-custom": "1",
        "upstash-callback": `${destination.url}/callback`,
        "upstash-callback-forward-x-secret": "s",
      }),
    ]);
    await seen("RETRY", 1);
    clock.move(999);
    assert.equal(destination.deliveries.length, 1);
    clock.move(1);
    await seen("RETRY", 2);
    clock.move(1_999);
    assert.equal(destination.deliveries.length, 2);
    clock.move(1);
    await seen("DELIVERED", 2);
    assert.deepEqual(states(message!.messageId), [
      "CREATED",
      "ACTIVE",
      "RETRY",
      "ACTIVE",
      "RETRY",
      "ACTIVE",
      "DELIVERED",
    ]);
    const [first, , third, callback] = destination.deliveries;
    assert.deepEqual(
      [first?.method, first?.headers["x-custom"], first?.headers["content-type"]],
      ["PUT", "1", "text/plain"],
    );
    assert.equal(first?.headers["upstash-message-id"], message!.messageId);
    assert.equal(first?.headers["upstash-callback"], undefined, "the platform's own headers stay with it");
    assert.equal(third?.headers["upstash-retried"], "2");
    assert.deepEqual([callback?.path, callback?.method, callback?.headers["x-secret"]], ["/callback", "POST", "s"]);
    const told = JSON.parse(callback!.body) as Record<string, unknown>;
    assert.deepEqual([told["status"], told["retried"], told["sourceMessageId"]], [200, 2, message!.messageId]);
    assert.deepEqual([told["body"], told["sourceBody"]], [btoa("done"), btoa("x")]);
    assert.deepEqual((told["header"] as Record<string, unknown>)["x-from"], ["destination"]);
  });

  it("gives up after the last retry, and calls the failure callback alone", async () => {
    await start((delivery) => delivery.answer(delivery.path === "/failed" ? 200 : 404));
    const [message] = queue.publish([
      draft("x", {
        "upstash-retries": "0",
        "upstash-callback": `${destination.url}/callback`,
        "upstash-failure-callback": `${destination.url}/failed`,
      }),
    ]);
    await seen("DELIVERED", 1);
    assert.deepEqual(states(message!.messageId), ["CREATED", "ACTIVE", "FAILED"]);
    assert.deepEqual(
      destination.deliveries.map(({ path }) => path),
      ["/", "/failed"],
    );
    assert.equal((JSON.parse(destination.bodies[1]!) as { status: number }).status, 404);
  });

  it("takes a destination that cannot be reached for a failure, and says why", async () => {
    await start();
    const gone = await new Destination().start();
    const { url } = gone;
    await gone.close();
    queue.publish([{ ...draft("x", { "upstash-retries": "0" }), destination: url }]);
    await seen("FAILED", 1);
    const [failed] = queue.events.page(({ state }) => state === "FAILED", 1, clock.now()).events;
    assert.match(failed!.error!, /ECONNREFUSED/);
  });

  it("takes a destination that changes the protocol for a failure", async () => {
    await start();
    const changing = createServer((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
      ),
    ).listen(0, "127.0.0.1");
    await once(changing, "listening");
    const url = `http://127.0.0.1:${(changing.address() as AddressInfo).port}/`;
    queue.publish([{ ...draft("x", { "upstash-retries": "0" }), destination: url }]);
    await seen("FAILED", 1);
    const { events } = queue.events.page(({ state }) => state === "FAILED", 1, clock.now());
    assert.equal(events[0]?.error, "the destination responded with 101");
    changing.close();
  });

  it("does not follow a redirect", async () => {
    await start((delivery) => delivery.answer(307));
    queue.publish([draft("x", { "upstash-retries": "0" })]);
    await seen("FAILED", 1);
    assert.equal(destination.deliveries.length, 1);
  });

  it("keeps the order of a queue through retries", async () => {
    let failures = 1;
    await start((delivery) => delivery.answer(failures-- > 0 ? 500 : 200));
    queue.publish(["a", "b", "c"].map((body) => ({ ...draft(body), queue: "q" })));
    await seen("RETRY", 1);
    assert.equal(queue.queue("q")?.lag, 3);
    clock.move(1_000);
    await seen("DELIVERED", 3);
    assert.deepEqual(destination.bodies, ["a", "a", "b", "c"]);
    assert.equal(queue.queue("q")?.lag, 0);
  });

  it("holds back a paused queue, widens one, and cancels what waits in a deleted one", async () => {
    await start();
    queue.setQueue("q", { isPaused: true });
    queue.publish(["a", "b"].map((body) => ({ ...draft(body), queue: "q" })));
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    queue.setQueue("q", { parallelism: 2, isPaused: false });
    assert.equal(queue.globalParallelism.parallelismCount, 2);
    await seen("DELIVERED", 2);
    queue.setQueue("q", { isPaused: true });
    queue.publish([{ ...draft("c"), queue: "q" }]);
    assert.equal(queue.deleteQueue("q"), true);
    await seen("CANCELED", 1);
    assert.equal(queue.deleteQueue("q"), false);
  });

  it("runs schedules by cron, and none that is paused or deleted", async () => {
    await start();
    clock.move(-clock.now() + Date.UTC(2026, 0, 1, 3, 58));
    queue.addSchedule("nightly", "0 4 * * *", draft("night"));
    queue.addSchedule("berlin", "CRON_TZ=Europe/Berlin 0 6 * * *", draft("berlin"));
    clock.move(119_999);
    assert.equal(destination.deliveries.length, 0);
    clock.move(1);
    await seen("DELIVERED", 1);
    assert.equal(destination.deliveries[0]?.headers["upstash-schedule-id"], "nightly");
    clock.move(3_600_000);
    await seen("DELIVERED", 2);
    queue.pauseSchedule("nightly", true);
    queue.deleteSchedule("berlin");
    clock.move(3 * 86_400_000);
    assert.deepEqual(destination.bodies, ["night", "berlin"]);
    queue.pauseSchedule("nightly", false);
    clock.move(86_400_000);
    await seen("DELIVERED", 3);
    assert.deepEqual(destination.bodies, ["night", "berlin", "night"], "what a pause missed is not made up for");
  });

  it("keeps events up to 14 days, and at least the newest 10,000", async () => {
    await start();
    queue.pauseFlowControl("orders");
    queue.publish(many(12_000, flowControl("parallelism=1")));
    const page = () => queue.events.page(() => true, 100_000, clock.now()).events;
    const kept = page().length;
    assert.ok(kept >= 10_000 && kept <= 11_000, String(kept));
    clock.move(14 * 86_400_000);
    assert.equal(page().length, kept);
    clock.move(1);
    assert.equal(page().length, 0);
  });

  it("forgets everything by restore(), cuts what is under way, and calls nobody back", async () => {
    await start(() => {});
    queue.publish([
      draft("x", { "upstash-failure-callback": `${destination.url}/failed` }),
      draft("y", { "upstash-delay": "1s" }),
    ]);
    queue.addSchedule(undefined, "* * * * *", draft("z"));
    await destination.arrived(1);
    queue.restore();
    clock.move(3_600_000);
    await turn();
    assert.equal(destination.deliveries.length, 1);
    assert.deepEqual([queue.flowControlKeys(), queue.queues, queue.schedules.size], [[], [], 0]);
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    assert.equal(queue.events.page(() => true, 10, clock.now()).events.length, 0);
  });
});
