import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type Draft } from "../../../../local/platform/queue/messages";
import { MessageQueue } from "../../../../local/platform/queue/messageQueue";
import { publishSettings, type SentHeaders } from "../../../../local/platform/queue/publishHeaders";
import { SigningKeyStore } from "../../../../local/platform/signingKeys";
import { startServer } from "../../../support/httpServer";
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
    const signingKeys = new SigningKeyStore();
    queue = new MessageQueue({ flowControlKeys: [], globalParallelism, retryDelay: 1, signingKeys }, clock);
  };
  afterEach(async () => {
    queue.close();
    await destination.close();
  });

  const draft = (body: string, headers: SentHeaders = {}): Draft => ({
    ...publishSettings(headers, "loopback"),
    destination: destination.url,
    body: Buffer.from(body),
  });
  const queued = (...bodies: string[]): Draft[] => bodies.map((body) => ({ ...draft(body), queue: "q" }));
  const noRetries = { "upstash-retries": "0" };
  /** Publishes messages of the flow-control key `orders`. */
  const publishMany = (count: number, limits: string): void => {
    const headers = { "upstash-flow-control-key": "orders", "upstash-flow-control-value": limits };
    queue.publish(Array.from({ length: count }, (_, index) => draft(String(index), headers)));
  };
  /** The newest events first. */
  const events = (state?: string, messageId?: string) => {
    const isWanted = (event: { state: string; messageId: string }) =>
      event.state === (state ?? event.state) && event.messageId === (messageId ?? event.messageId);
    return queue.events.page(isWanted, 100_000, clock.now()).events;
  };
  const states = (messageId: string): string[] =>
    events(undefined, messageId)
      .map(({ state }) => state)
      .reverse();
  /** Waits until the queue itself has seen so many messages of this state. */
  const seen = async (state: string, count: number): Promise<void> => {
    while (events(state).length < count) await turn();
  };
  /** The counters of `orders`, and how many messages have arrived. */
  const counters = () => {
    const { waitListSize, parallelismCount, rateCount } = queue.flowControlKey("orders")!;
    return { arrived: destination.deliveries.length, waitListSize, parallelismCount, rateCount };
  };

  it("never exceeds the parallelism at a slow destination, delivers all messages in order, and counts right", async () => {
    const [count, parallelism] = [1_000, 10];
    const held: Delivery[] = [];
    let samples = 0;
    await start((delivery) => {
      held.push(delivery);
      const done = destination.deliveries.length - held.length;
      const { waitListSize = 0, parallelismCount = 0 } = counters();
      assert.ok(destination.atOnce <= parallelismCount && parallelismCount <= parallelism);
      assert.equal(queue.globalParallelism.parallelismCount, parallelismCount);
      // A response may still be on its way to the queue.
      assert.ok(waitListSize + parallelismCount + done >= count, "each message waits, runs or is done");
      assert.equal(waitListSize + events("ACTIVE").length, count);
      samples++;
      // Slow: it responds to one only once as many have arrived as the limit allows.
      if (destination.deliveries.length === count) held.splice(0).forEach((one) => one.respond());
      else if (held.length === parallelism) held.shift()!.respond();
    });
    publishMany(count, `parallelism=${parallelism}`);
    await seen("DELIVERED", count);
    assert.deepEqual({ samples, most: destination.mostAtOnce }, { samples: count, most: parallelism });
    const idsOf = (state: string) => events(state).map(({ messageId }) => messageId);
    assert.deepEqual(idsOf("ACTIVE"), idsOf("CREATED"), "dispatched in the order in which they came");
    // On several connections two messages may overtake each other, but only within what is under way.
    destination.bodies.forEach((body, index) => assert.ok(Math.abs(Number(body) - index) <= parallelism));
    assert.deepEqual(counters(), { arrived: count, waitListSize: 0, parallelismCount: 0, rateCount: 0 });
  });

  it("never delivers more than the rate in a period, and the next ones at once after a reset", async () => {
    await start();
    publishMany(20, "rate=5, period=10s");
    await seen("DELIVERED", 5);
    assert.deepEqual(counters(), { arrived: 5, waitListSize: 15, parallelismCount: 0, rateCount: 5 });
    clock.move(9_999);
    assert.deepEqual(counters(), { arrived: 5, waitListSize: 15, parallelismCount: 0, rateCount: 5 });
    clock.move(1);
    const dispatched = { arrived: 5, waitListSize: 10, parallelismCount: 5, rateCount: 5 };
    assert.deepEqual(counters(), dispatched, "counted from the moment of dispatch");
    await seen("DELIVERED", 10);
    assert.equal(queue.resetFlowControl("orders"), true);
    assert.deepEqual(counters(), { arrived: 10, waitListSize: 5, parallelismCount: 5, rateCount: 5 });
    await seen("DELIVERED", 15);
    clock.move(9_999);
    assert.deepEqual(counters(), { arrived: 15, waitListSize: 5, parallelismCount: 0, rateCount: 5 });
    assert.equal(queue.resetRate("orders"), true);
    await seen("DELIVERED", 20);
    assert.equal(destination.bodies.length, 20);
  });

  it("dispatches what was stuck behind a destination that does not respond when its key is reset", async () => {
    await start(() => {});
    publishMany(6, "parallelism=2");
    await destination.arrived(2);
    queue.resetFlowControl("orders");
    await destination.arrived(4);
    assert.equal(counters().parallelismCount, 2);
    assert.equal(queue.globalParallelism.parallelismCount, 4, "all four really run");
  });

  it("waits for a delay, or until a time", async () => {
    await start();
    const inOneMinute = String(clock.now() / 1000 + 60);
    queue.publish([draft("1h30m", { "upstash-delay": "1h30m" }), draft("at", { "upstash-not-before": inOneMinute })]);
    clock.move(60_000);
    await seen("DELIVERED", 1);
    clock.move(5_339_999);
    assert.deepEqual(destination.bodies, ["at"]);
    clock.move(1);
    await seen("DELIVERED", 2);
    assert.deepEqual(destination.bodies, ["at", "1h30m"]);
  });

  it("retries with waits that double, sends the number of the retry, and calls back after the delivery", async () => {
    let failures = 2;
    await start((delivery) => delivery.respond(failures-- > 0 && delivery.path === "/" ? 500 : 200, "done"));
    const { messageId } = queue.publish([
      draft("x", {
        "upstash-callback": `${destination.url}/callback`,
        "upstash-callback-forward-x-secret": "s",
      }),
    ])[0]!;
    for (const [retries, delay] of [1_000, 2_000].entries()) {
      await seen("RETRY", retries + 1);
      clock.move(delay - 1);
      assert.equal(destination.deliveries.length, retries + 1);
      clock.move(1);
    }
    await seen("DELIVERED", 2);
    assert.deepEqual(states(messageId).join(" "), "CREATED ACTIVE RETRY ACTIVE RETRY ACTIVE DELIVERED");
    const [first, , third, callback] = destination.deliveries as [Delivery, Delivery, Delivery, Delivery];
    assert.equal(first.headers["upstash-callback"], undefined, "the platform's own headers are not forwarded");
    assert.equal(third.headers["upstash-retried"], "2");
    const { path, method, headers } = callback;
    assert.deepEqual({ path, method, secret: headers["x-secret"] }, { path: "/callback", method: "POST", secret: "s" });
    const { header, ...told } = JSON.parse(callback.body) as { header: Record<string, unknown> };
    const expected = { status: 200, retried: 2, sourceMessageId: messageId, body: btoa("done"), sourceBody: btoa("x") };
    assert.deepEqual({ ...told, ...expected }, told);
    assert.deepEqual(header["x-from"], ["destination"]);
  });

  it("gives up after the last retry, and calls the failure callback alone", async () => {
    await start((delivery) => delivery.respond(delivery.path === "/failed" ? 200 : 404));
    const callbacks = {
      "upstash-callback": `${destination.url}/callback`,
      "upstash-failure-callback": `${destination.url}/failed`,
    };
    const [message] = queue.publish([draft("x", { ...noRetries, ...callbacks })]);
    await seen("DELIVERED", 1);
    assert.deepEqual(states(message!.messageId), ["CREATED", "ACTIVE", "FAILED"]);
    const paths = destination.deliveries.map(({ path }) => path);
    assert.deepEqual(paths, ["/", "/failed"]);
    assert.equal((JSON.parse(destination.bodies[1]!) as { status: number }).status, 404);
  });

  describe("fails a delivery", () => {
    const errorAt = async (url: string): Promise<string> => {
      queue.publish([{ ...draft("x", noRetries), destination: url }]);
      await seen("FAILED", 1);
      return events("FAILED")[0]?.error ?? "";
    };

    it("to a destination that cannot be reached, with the reason", async () => {
      await start();
      const gone = await new Destination().start();
      const { url } = gone;
      await gone.close();
      assert.match(await errorAt(url), /ECONNREFUSED/);
    });

    it("to a destination that switches the protocol", async () => {
      await start();
      const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
      const server = await startServer(({ socket }) => socket.write(switching));
      assert.match(await errorAt(server.url), /101/);
      await server.close();
    });

    it("that is redirected, without following", async () => {
      await start((delivery) => delivery.respond(307));
      await errorAt(destination.url);
      assert.equal(destination.deliveries.length, 1);
    });
  });

  it("keeps the order of a queue through retries", async () => {
    let failures = 1;
    await start((delivery) => delivery.respond(failures-- > 0 ? 500 : 200));
    queue.publish(queued("a", "b", "c"));
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
    queue.publish(queued("a", "b"));
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    queue.setQueue("q", { parallelism: 2, isPaused: false });
    assert.equal(queue.globalParallelism.parallelismCount, 2);
    await seen("DELIVERED", 2);
    queue.setQueue("q", { isPaused: true });
    queue.publish(queued("c"));
    assert.equal(queue.deleteQueue("q"), true);
    await seen("CANCELED", 1);
    assert.equal(queue.deleteQueue("q"), false);
  });

  it("runs schedules by cron, except while they are paused or after they are deleted", async () => {
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
    assert.deepEqual(
      destination.bodies,
      ["night", "berlin", "night"],
      "runs missed during a pause are not made up for",
    );
  });

  it("cancels a message wherever it waits, once", async () => {
    await start();
    queue.pauseFlowControl("orders");
    publishMany(3, "parallelism=1");
    const [, inKey] = events("CREATED");
    queue.setQueue("q", { isPaused: true });
    const [inQueue] = queue.publish(queued("a", "b"));
    const [delayed] = queue.publish([draft("later", { "upstash-delay": "1h" })]);
    for (const { messageId } of [inKey!, inQueue!, delayed!]) {
      assert.deepEqual([queue.cancel(messageId), queue.cancel(messageId)], [true, false]);
      assert.deepEqual(states(messageId), ["CREATED", "CANCELED"]);
    }
    assert.deepEqual({ waiting: counters().waitListSize, lag: queue.queue("q")?.lag }, { waiting: 2, lag: 1 });
    queue.resumeFlowControl("orders");
    queue.setQueue("q", { isPaused: false });
    await seen("DELIVERED", 3);
    clock.move(3_600_000);
    assert.deepEqual(destination.bodies.sort(), ["0", "2", "b"]);
  });

  for (const { when, moment } of [
    { when: "is being sent", moment: async () => destination.arrived(1) },
    { when: "waits for a retry", moment: async () => seen("RETRY", 1) },
  ]) {
    it(`does not send a canceled message again that ${when}, and releases its turn`, async () => {
      const held: Delivery[] = [];
      await start((delivery) => {
        if (delivery.body === "b") delivery.respond();
        else if (when === "is being sent") held.push(delivery);
        else delivery.respond(500);
      });
      const [message] = queue.publish(queued("a", "b"));
      await moment();
      assert.equal(queue.cancel(message!.messageId), true);
      held[0]?.respond(500);
      await seen("DELIVERED", 1);
      clock.move(3_600_000);
      assert.deepEqual(destination.bodies, ["a", "b"]);
      assert.equal(states(message!.messageId).at(-1), "CANCELED");
      assert.equal(queue.queue("q")?.lag, 0);
      assert.equal(queue.globalParallelism.parallelismCount, 0);
    });
  }

  it("keeps events for 14 days, however many", async () => {
    await start();
    queue.pauseFlowControl("orders");
    publishMany(12_000, "parallelism=1");
    clock.move(14 * 86_400_000);
    assert.equal(events().length, 12_000);
    clock.move(1);
    assert.equal(events().length, 0);
  });

  it("keeps at most 32 MiB of events, the newest", async () => {
    await start();
    const label = (nth: number) => ({ "upstash-label": `${nth}-${"x".repeat(1024 * 1024)}`, "upstash-delay": "1s" });
    for (let nth = 0; nth < 40; nth++) queue.publish([draft("x", label(nth))]);
    const kept = events().map(({ label = "" }) => Number.parseInt(label));
    assert.ok(kept.length >= 28 && kept.length < 32, String(kept.length));
    assert.deepEqual([kept[0], kept.at(-1)], [39, 40 - kept.length]);
  });

  it("forgets everything by restore(), aborts what is under way, and calls no callback", async () => {
    await start(() => {});
    const failed = { "upstash-failure-callback": `${destination.url}/failed` };
    queue.publish([draft("x", failed), draft("y", { "upstash-delay": "1s" })]);
    queue.addSchedule(undefined, "* * * * *", draft("z"));
    await destination.arrived(1);
    queue.restore();
    clock.move(3_600_000);
    await turn();
    assert.equal(destination.deliveries.length, 1);
    assert.deepEqual(queue.flowControlKeys(), []);
    assert.deepEqual(queue.queues, []);
    assert.equal(queue.schedules.size, 0);
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    assert.equal(events().length, 0);
  });
});
