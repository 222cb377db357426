import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { mostBytes } from "../../../../local/platform/queue/bodies";
import { responseBytes } from "../../../../local/platform/queue/publishRoutes";
import { queue } from "../client";

const here = "http://127.0.0.1:1/";
const flow = (value: string) => ({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": value });
const batchOf = (...messages: unknown[]) => JSON.stringify(messages);

interface Case {
  /** Default: a publish to this machine. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** Default: `x`. */
  readonly body?: string;
  /** How the error begins: it names the parameter. */
  readonly error: RegExp;
}

/** Requests that are refused, by what is wrong with them. */
const refused: Readonly<Record<string, Case>> = {
  "a delayed callback": {
    headers: { "Upstash-Callback": here, "Upstash-Callback-Delay": "1s" },
    error: /^Upstash-Callback-Delay: .*delayed callback/,
  },
  "a callback that waits until a time": {
    headers: { "Upstash-Callback": here, "Upstash-Callback-Not-Before": "1" },
    error: /^Upstash-Callback-Not-Before: /,
  },
  "a delayed failure callback": {
    headers: { "Upstash-Failure-Callback-Delay": "1s" },
    error: /^Upstash-Failure-Callback-Delay: /,
  },
  "a callback to another machine": { headers: { "Upstash-Callback": "https://a.test" }, error: /^Upstash-Callback: / },
  "another machine": { path: "publish/https://example.com/", error: /^destination: example.com / },
  "another machine with a similar name": { path: "publish/http://127.0.0.1.example.com/", error: /^destination: / },
  "another machine after an @": { path: "publish/http://127.0.0.1@example.com/", error: /^destination: / },
  "a destination that is not a URL": { path: "publish/topic", error: /^destination: "topic"/ },
  "a destination of another scheme": { path: "publish/file:///etc/passwd", error: /^destination: / },
  "a missing destination": { path: "publish/", error: /^destination: / },
  "an unreadable user name": { path: "publish/http://%zz@127.0.0.1:1/", error: /^destination: .*user name/ },
  "an unreadable password": { path: "publish/http://a:%ff@127.0.0.1:1/", error: /^destination: .*password/ },
  "an invalid delay": { headers: { "Upstash-Delay": "soon" }, error: /^Upstash-Delay: "soon"/ },
  "text after a delay": { headers: { "Upstash-Delay": "1s x" }, error: /^Upstash-Delay: / },
  "a negative number of retries": { headers: { "Upstash-Retries": "-1" }, error: /^Upstash-Retries: / },
  "an unknown method": { headers: { "Upstash-Method": "FETCH" }, error: /^Upstash-Method: "FETCH"/ },
  "an unsupported header": {
    headers: { "Upstash-Deduplication-Id": "1" },
    error: /^Upstash-Deduplication-Id: .*not support/,
  },
  "a key without limits": { headers: { "Upstash-Flow-Control-Key": "k" }, error: /^Upstash-Flow-Control-Value: / },
  "limits without a key": { headers: { "Upstash-Flow-Control-Value": "rate=1" }, error: /^Upstash-Flow-Control-Key: / },
  "parallelism of 0": { headers: flow("parallelism=0"), error: /^Upstash-Flow-Control-Value: "0"/ },
  "a period above a week": { headers: flow("rate=1, period=8d"), error: /^Upstash-Flow-Control-Value: .*604800/ },
  "a period below a second": { headers: flow("rate=1, period=0.5s"), error: /^Upstash-Flow-Control-Value: / },
  "a period without a rate": {
    headers: flow("parallelism=1, period=1m"),
    error: /^Upstash-Flow-Control-Value: .*rate/,
  },
  "an unknown limit": { headers: flow("speed=1"), error: /^Upstash-Flow-Control-Value: "speed=1"/ },
  "an invalid name of a queue": { path: `enqueue/a%20b/${here}`, error: /^queue: must consist of letters/ },
  "an invalid name of a new queue": { path: "queues", body: '{"queueName":"a/b"}', error: /^queueName: / },
  "a queue's parallelism of 0": { path: "queues", body: '{"queueName":"q","parallelism":0}', error: /^parallelism: / },
  "a queue that is not JSON": { path: "queues", body: "{", error: /^body: / },
  "an invalid id of a schedule": {
    path: `schedules/${here}`,
    headers: { "Upstash-Cron": "* * * * *", "Upstash-Schedule-Id": "a b" },
    error: /^Upstash-Schedule-Id: /,
  },
  ...Object.fromEntries(
    [undefined, "61 * * * *", "2030-01-01T00:00:00", "CRON_TZ=Mars/Base 0 4 * * *"].map((cron) => [
      `a schedule with the cron expression ${cron}`,
      { path: `schedules/${here}`, headers: { ...(cron && { "Upstash-Cron": cron }) }, error: /^Upstash-Cron: / },
    ]),
  ),
  "a batch that is not an array": { path: "batch", body: "{}", error: /^body: must be an array/ },
  "an invalid message": { path: "batch", body: batchOf({ destination: here }, null), error: /^\[1\]\.destination: / },
  ...Object.fromEntries(
    [
      { headers: { a: 1 }, error: /^\[0\]\.headers\.a: must be text/ },
      { headers: { "Upstash-Forward-A": "x\ny" }, error: /^\[0\]\.Upstash-Forward-a: / },
      { headers: { "Content-Type": "x\ny" }, error: /^\[0\]\.Content-Type: / },
    ].map(({ headers, error }) => [
      `a message with the headers ${JSON.stringify(headers)}`,
      { path: "batch", body: batchOf({ destination: here, headers }), error },
    ]),
  ),
  "a pin of nothing": { path: "flowControl/k/pin", error: /^parallelism: is missing/ },
  "a pin of a period alone": { path: "flowControl/k/pin?period=1", error: /^rate: / },
  "a pin of a period without a rate": { path: "flowControl/k/pin?parallelism=1&period=1", error: /^rate: / },
  "a pin of a period above a week": { path: "flowControl/k/pin?rate=1&period=604801", error: /^period: / },
  "a flag other than true or false": { path: "flowControl/k/unpin?rate=yes", error: /^rate: must be true or false/ },
};

describe("local platform: what the message queue refuses", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ flowControlKeys: [] })));
  after(() => platform.close());

  for (const [what, { path = `publish/${here}`, headers = {}, body = "x", error }] of Object.entries(refused)) {
    it(`refuses ${what}, and names the parameter`, async () => {
      const response = await queue(platform, "POST", `/${path}`, { headers, body });
      assert.equal(response.status, 400, response.text);
      assert.match(response.error, error);
      assert.deepEqual((await queue(platform, "GET", "/events")).body, { events: [] }, "no message was inserted");
    });
  }

  it("refuses a batch whose response would be larger than 100 MB", () => {
    const response = (count: number) => JSON.stringify(Array(count).fill({ messageId: `msg_${crypto.randomUUID()}` }));
    assert.equal(responseBytes(1_000), response(1_000).length);
    assert.ok(responseBytes(1_800_000) < mostBytes && responseBytes(2_000_000) > mostBytes);
  });

  it("refuses a body of more than 100 MB before reading it", async () => {
    const headers = { "content-length": String(mostBytes + 1) };
    const { status, error } = await queue(platform, "POST", `/publish/${here}`, { headers, body: "x" });
    assert.deepEqual({ status, field: error.slice(0, 5) }, { status: 413, field: "body:" });
  });

  it("sends to other machines if the option allows it", async () => {
    const open = await startPlatform({ destinations: "any", flowControlKeys: [] });
    const delayed = { headers: { "Upstash-Delay": "1d" }, body: "x" };
    assert.equal((await queue(open, "POST", "/publish/https://example.com/x", delayed)).status, 201);
    await open.close();
  });

  for (const [value, expected] of Object.entries({
    "parallelism=10, rate=5, period=1m": { parallelismMax: 10, rateMax: 5, ratePeriod: 60 },
    "rate=3 per 1d": { parallelismMax: undefined, rateMax: 3, ratePeriod: 86_400 },
    "rate=3 per 1h30m,parallelism=2": { parallelismMax: 2, rateMax: 3, ratePeriod: 5_400 },
    "rate=3": { parallelismMax: undefined, rateMax: 3, ratePeriod: 1 },
    "rate=1, period=604800": { parallelismMax: undefined, rateMax: 1, ratePeriod: 604_800 },
  })) {
    it(`reads the limits ${JSON.stringify(value)}`, async () => {
      const headers = { ...flow(value), "Upstash-Delay": "1d" };
      assert.equal((await queue(platform, "POST", `/publish/${here}`, { headers, body: "x" })).status, 201);
      const { parallelismMax, rateMax, ratePeriod } = platform.flowControlKeys.get("k") ?? {};
      assert.deepEqual({ parallelismMax, rateMax, ratePeriod }, expected);
      await platform.reset();
    });
  }
});
