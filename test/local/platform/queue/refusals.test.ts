import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { mostBytes } from "../../../../local/platform/queue/bodies";
import { responseBytes } from "../../../../local/platform/queue/publishRoutes";
import { bearer, send } from "../client";

const here = "http://127.0.0.1:1/";
const flow = (value: string) => ({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": value });

type Row = [what: string, path: string, headers: Record<string, string>, body: string | undefined, error: RegExp];
const refused: Row[] = [
  [
    "a message with a delayed callback",
    `publish/${here}`,
    { "Upstash-Callback": here, "Upstash-Callback-Delay": "1s" },
    "x",
    /^Upstash-Callback-Delay: .*delayed callback/,
  ],
  [
    "a callback that waits until a time",
    `publish/${here}`,
    { "Upstash-Callback": here, "Upstash-Callback-Not-Before": "1" },
    "x",
    /^Upstash-Callback-Not-Before: /,
  ],
  [
    "a delayed failure callback",
    `publish/${here}`,
    { "Upstash-Failure-Callback-Delay": "1s" },
    "x",
    /^Upstash-Failure-Callback-Delay: /,
  ],
  ["another machine", "publish/https://example.com/", {}, "x", /^destination: example.com is not on this machine/],
  ["another machine that looks like this one", "publish/http://127.0.0.1.example.com/", {}, "x", /^destination: /],
  ["another machine before an @", "publish/http://127.0.0.1@example.com/", {}, "x", /^destination: /],
  [
    "a callback to another machine",
    `publish/${here}`,
    { "Upstash-Callback": "https://example.com" },
    "x",
    /^Upstash-Callback: /,
  ],
  ["a destination that is no URL", "publish/topic", {}, "x", /^destination: "topic" is not an http or https URL/],
  ["a destination of another scheme", "publish/file:///etc/passwd", {}, "x", /^destination: /],
  ["no destination", "publish/", {}, "x", /^destination: /],
  ["a delay that is none", `publish/${here}`, { "Upstash-Delay": "soon" }, "x", /^Upstash-Delay: "soon"/],
  ["a delay with more than a duration", `publish/${here}`, { "Upstash-Delay": "1s x" }, "x", /^Upstash-Delay: /],
  ["retries that are no count", `publish/${here}`, { "Upstash-Retries": "-1" }, "x", /^Upstash-Retries: /],
  ["a method that is none", `publish/${here}`, { "Upstash-Method": "FETCH" }, "x", /^Upstash-Method: "FETCH"/],
  [
    "a key without limits",
    `publish/${here}`,
    { "Upstash-Flow-Control-Key": "k" },
    "x",
    /^Upstash-Flow-Control-Value: is missing/,
  ],
  [
    "limits without a key",
    `publish/${here}`,
    { "Upstash-Flow-Control-Value": "rate=1" },
    "x",
    /^Upstash-Flow-Control-Key: is missing/,
  ],
  ["parallelism of 0", `publish/${here}`, flow("parallelism=0"), "x", /^Upstash-Flow-Control-Value: "0"/],
  [
    "a period of more than a week",
    `publish/${here}`,
    flow("rate=1, period=8d"),
    "x",
    /^Upstash-Flow-Control-Value: .*604800/,
  ],
  [
    "a period of less than a second",
    `publish/${here}`,
    flow("rate=1, period=0.5s"),
    "x",
    /^Upstash-Flow-Control-Value: /,
  ],
  [
    "a period without a rate",
    `publish/${here}`,
    flow("parallelism=1, period=1m"),
    "x",
    /^Upstash-Flow-Control-Value: a period requires a rate/,
  ],
  ["a limit that is none", `publish/${here}`, flow("speed=1"), "x", /^Upstash-Flow-Control-Value: "speed=1"/],
  [
    "what it does not support",
    `publish/${here}`,
    { "Upstash-Deduplication-Id": "1" },
    "x",
    /^Upstash-Deduplication-Id: .*not support/,
  ],
  ["a name of a queue", `enqueue/a%20b/${here}`, {}, "x", /^queue: must consist of/],
  ["a name of a queue that is made", "queues", {}, '{"queueName":"a/b"}', /^queueName: must consist of/],
  ["a parallelism of a queue", "queues", {}, '{"queueName":"q","parallelism":0}', /^parallelism: /],
  ["a queue that is no JSON", "queues", {}, "{", /^body: is not valid JSON/],
  [
    "an id of a schedule",
    `schedules/${here}`,
    { "Upstash-Cron": "* * * * *", "Upstash-Schedule-Id": "a b" },
    "x",
    /^Upstash-Schedule-Id: must consist of/,
  ],
  ["a schedule without cron", `schedules/${here}`, {}, "x", /^Upstash-Cron: is missing/],
  ["a cron expression", `schedules/${here}`, { "Upstash-Cron": "61 * * * *" }, "x", /^Upstash-Cron: "61/],
  [
    "a date for a cron expression",
    `schedules/${here}`,
    { "Upstash-Cron": "2030-01-01T00:00:00" },
    "x",
    /^Upstash-Cron: /,
  ],
  ["a time zone", `schedules/${here}`, { "Upstash-Cron": "CRON_TZ=Mars/Base 0 4 * * *" }, "x", /^Upstash-Cron: /],
  ["a batch that is no array", "batch", {}, "{}", /^body: must be an array/],
  ["a message of a batch", "batch", {}, JSON.stringify([{ destination: here }, null]), /^\[1\]\.destination: /],
  [
    "a header of a batch",
    "batch",
    {},
    JSON.stringify([{ destination: here, headers: { a: 1 } }]),
    /^\[0\]\.headers\.a: must be text/,
  ],
  [
    "a forwarded header that cannot be sent",
    "batch",
    {},
    JSON.stringify([{ destination: here, headers: { "Upstash-Forward-A": "x\ny" } }]),
    /^\[0\]\.Upstash-Forward-a: /,
  ],
  [
    "a content type that cannot be sent",
    "batch",
    {},
    JSON.stringify([{ destination: here, headers: { "Content-Type": "x\ny" } }]),
    /^\[0\]\.Content-Type: /,
  ],
  ["a user name that cannot be read", "publish/http://%zz@127.0.0.1:1/", {}, "x", /^destination: .*user name/],
  ["a password that cannot be read", "publish/http://a:%ff@127.0.0.1:1/", {}, "x", /^destination: .*password/],
  ["pinning nothing", "flowControl/k/pin", {}, undefined, /^parallelism: is missing/],
  ["pinning a period alone", "flowControl/k/pin?period=1", {}, undefined, /^rate: is missing/],
  ["pinning a period without a rate", "flowControl/k/pin?parallelism=1&period=1", {}, undefined, /^rate: is missing/],
  [
    "unpinning by another word than true",
    "flowControl/k/unpin?rate=yes",
    {},
    undefined,
    /^rate: must be true or false/,
  ],
  ["pinning a long period", "flowControl/k/pin?rate=1&period=604801", {}, undefined, /^period: /],
];

describe("local platform: what the message queue refuses", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ flowControlKeys: [] })));
  after(() => platform.close());
  const post = (path: string, headers: Record<string, string>, body = "") =>
    send(platform, "POST", `/v2/${path}`, bearer(platform), { headers, body });

  for (const [what, path, headers, body, error] of refused) {
    it(`refuses ${what}, and names it`, async () => {
      const answer = await post(path, headers, body);
      assert.equal(answer.status, 400, answer.text);
      assert.match((answer.body as { error: string }).error, error);
      const { body: events } = await send(platform, "GET", "/v2/events", bearer(platform));
      assert.deepEqual(events, { events: [] }, "nothing of it was inserted");
    });
  }

  it("refuses a batch whose answer would be larger than 100 MB", () => {
    const answer = (count: number) => JSON.stringify(Array(count).fill({ messageId: `msg_${crypto.randomUUID()}` }));
    assert.equal(responseBytes(1_000), answer(1_000).length);
    assert.ok(responseBytes(1_800_000) < mostBytes && responseBytes(2_000_000) > mostBytes);
  });

  it("refuses a body of more than 100 MB, before it is read", async () => {
    const sent = send(platform, "POST", `/v2/publish/${here}`, bearer(platform), {
      headers: { "content-length": String(mostBytes + 1) },
      body: "x",
    });
    const answer = await sent;
    assert.deepEqual([answer.status, (answer.body as { error: string }).error.slice(0, 5)], [413, "body:"]);
  });

  it("needs the token of the queue", async () => {
    for (const path of ["publish/x", "batch", "queues", "schedules/x"]) {
      assert.equal((await send(platform, "POST", `/v2/${path}`)).status, 401);
    }
  });

  it("answers 405 with what is allowed", async () => {
    for (const [method, path, allow] of [
      ["GET", "batch", "POST"],
      ["PUT", "queues", "GET, HEAD, POST"],
      ["PUT", "schedules/x", "GET, HEAD, DELETE, POST"],
      ["POST", "schedules", "GET, HEAD"],
      ["POST", "events", "GET, HEAD"],
    ] as const) {
      const answer = await send(platform, method, `/v2/${path}`, bearer(platform));
      assert.deepEqual([answer.status, answer.headers["allow"]], [405, allow]);
    }
  });

  it("sends to other machines where the option allows it", async () => {
    const open = await startPlatform({ destinations: "any", flowControlKeys: [] });
    const delayed = { headers: { "Upstash-Delay": "1d" }, body: "x" };
    const answer = await send(open, "POST", "/v2/publish/https://example.com/x", bearer(open), delayed);
    assert.equal(answer.status, 201);
    await open.close();
  });

  for (const [value, expected] of [
    ["parallelism=10, rate=5, period=1m", [10, 5, 60]],
    ["rate=3 per 1d", [undefined, 3, 86_400]],
    ["rate=3 per 1h30m,parallelism=2", [2, 3, 5_400]],
    ["rate=3", [undefined, 3, 1]],
    ["rate=1, period=604800", [undefined, 1, 604_800]],
  ] as const) {
    it(`reads the limits ${JSON.stringify(value)}`, async () => {
      const answer = await post(`publish/${here}`, { ...flow(value), "Upstash-Delay": "1d" }, "x");
      assert.equal(answer.status, 201);
      const record = platform.flowControlKeys.get("k");
      assert.deepEqual([record?.parallelismMax, record?.rateMax, record?.ratePeriod], expected);
      await platform.reset();
    });
  }
});
