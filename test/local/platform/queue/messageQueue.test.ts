import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type Draft } from "../../../../local/platform/queue/messages";
import { MessageQueue } from "../../../../local/platform/queue/messageQueue";
import { publishSettings, type SentHeaders } from "../../../../local/platform/queue/publishHeaders";
import { type Delivery, Destination } from "./destination";
import { FakeClock } from "./fakeClock";

describe("Local platform: the message queue", () => {
  let destination: Destination;
  let queue: MessageQueue;
  let clock: FakeClock;
  const start = async (react?: (delivery: Delivery) => void): Promise<void> => {
    destination = await new Destination(react).start();
    clock = new FakeClock();
    queue = new MessageQueue({ flowControlKeys: [], signingKey: () => "sig" }, clock);
  };
  afterEach(async () => {
    queue.close();
    await destination.close();
  });

  const draft = (body: string, headers: SentHeaders = {}): Draft => ({
    ...publishSettings(headers),
    destination: destination.url,
    body: Buffer.from(body),
  });
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

  it("never exceeds the parallelism at a slow destination, and delivers all messages in order", async () => {
    const [count, parallelism] = [500, 10];
    const held: Delivery[] = [];
    await start((delivery) => {
      held.push(delivery);
      assert.ok(destination.atOnce <= counters().parallelismCount!);
      // Slow: it responds to one only once as many have arrived as the limit allows.
      if (destination.deliveries.length === count) held.splice(0).forEach((one) => one.respond());
      else if (held.length === parallelism) held.shift()!.respond();
    });
    publishMany(count, `parallelism=${parallelism}`);
    await seen("DELIVERED", count);
    assert.equal(destination.mostAtOnce, parallelism);
    const idsOf = (state: string) => events(state).map(({ messageId }) => messageId);
    assert.deepEqual(idsOf("ACTIVE"), idsOf("CREATED"), "dispatched in the order in which they came");
    assert.deepEqual(counters(), { arrived: count, waitListSize: 0, parallelismCount: 0, rateCount: 0 });
  });

  it("never delivers more than the rate in a period, and the next ones at once after a reset", async () => {
    await start();
    publishMany(20, "rate=5, period=10s");
    await seen("DELIVERED", 5);
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

  it("retries with waits that double, sends the number of the retry, and calls back after the delivery", async () => {
    let failures = 2;
    await start((delivery) => delivery.respond(failures-- > 0 && delivery.path === "/" ? 500 : 200, "done"));
    const callback = { "upstash-callback": `${destination.url}/callback`, "upstash-callback-forward-x-secret": "s" };
    const { messageId } = queue.publish([draft("x", callback)])[0]!;
    for (const [retries, delay] of [1_000, 2_000].entries()) {
      await seen("RETRY", retries + 1);
      clock.move(delay - 1);
      assert.equal(destination.deliveries.length, retries + 1);
      clock.move(1);
    }
    await seen("DELIVERED", 2);
    assert.equal(states(messageId).join(" "), "CREATED ACTIVE RETRY ACTIVE RETRY ACTIVE DELIVERED");
    const [first, , third, called] = destination.deliveries as [Delivery, Delivery, Delivery, Delivery];
    assert.equal(first.headers["upstash-callback"], undefined, "the platform's own headers are not forwarded");
    assert.equal(third.headers["upstash-retried"], "2");
    assert.deepEqual([called.path, called.method, called.headers["x-secret"]], ["/callback", "POST", "s"]);
    const { header, ...told } = JSON.parse(called.body) as { header: Record<string, unknown> };
    const expected = { status: 200, retried: 2, sourceMessageId: messageId, body: btoa("done"), sourceBody: btoa("x") };
    assert.deepEqual({ ...told, ...expected }, told);
    assert.deepEqual(header["x-from"], ["destination"]);
  });

  it("delivers the messages of a queue one by one, in order through retries", async () => {
    let failures = 1;
    await start((delivery) => delivery.respond(failures-- > 0 ? 500 : 200));
    queue.publish(["a", "b", "c"].map((body) => ({ ...draft(body), queue: "q" })));
    await seen("RETRY", 1);
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    clock.move(1_000);
    await seen("DELIVERED", 3);
    assert.deepEqual(destination.bodies, ["a", "a", "b", "c"]);
    assert.equal(destination.mostAtOnce, 1);
  });

  const queued = (...bodies: string[]) => bodies.map((body) => ({ ...draft(body), queue: "q" }));

  it("cancels a message wherever it waits, once", async () => {
    const held: Delivery[] = [];
    await start((delivery) => (delivery.body === "a" ? void held.push(delivery) : delivery.respond()));
    queue.pauseFlowControl("orders");
    publishMany(3, "parallelism=1");
    const inKey = events("CREATED")[1];
    const [, inQueue] = queue.publish(queued("a", "b", "c"));
    const [delayed] = queue.publish([draft("later", { "upstash-delay": "1h" })]);
    for (const { messageId } of [inKey!, inQueue!, delayed!]) {
      assert.deepEqual([queue.cancel(messageId), queue.cancel(messageId)], [true, false]);
      assert.deepEqual(states(messageId), ["CREATED", "CANCELED"]);
    }
    assert.equal(counters().waitListSize, 2);
    queue.resumeFlowControl("orders");
    await destination.arrived(2);
    held[0]?.respond();
    await seen("DELIVERED", 4);
    clock.move(3_600_000);
    assert.deepEqual(destination.bodies.sort(), ["0", "2", "a", "c"]);
  });

  for (const { when, moment } of [
    { when: "is being sent", moment: () => destination.arrived(1) },
    { when: "waits for a retry", moment: () => seen("RETRY", 1) },
  ]) {
    it(`does not send a canceled message again that ${when}, and continues with the next of its queue`, async () => {
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

  it("forgets everything by restore(), aborts deliveries that are under way, and calls no callback", async () => {
    await start(() => {});
    const failed = { "upstash-failure-callback": `${destination.url}/failed` };
    queue.publish([draft("x", failed), draft("y", { "upstash-delay": "1s" })]);
    await destination.arrived(1);
    queue.restore();
    clock.move(3_600_000);
    await turn();
    assert.equal(destination.deliveries.length, 1);
    assert.equal(queue.globalParallelism.parallelismCount, 0);
    assert.equal(events().length, 0);
  });
});
