import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { assertFields } from "../../../support/results";
import { queue } from "../client";

const here = "http://127.0.0.1:1/";
const flow = (value: string, key = "k") => ({ "Upstash-Flow-Control-Key": key, "Upstash-Flow-Control-Value": value });
const at = (destination: string) => ({ path: `publish/${destination}` });
const batch = (...messages: unknown[]) => ({ path: "batch", body: JSON.stringify(messages) });
const sentIn = (headers: object) => batch({ destination: here, headers });

/** Default: a publish of `x` to this machine. */
interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Requests that are refused, and how the error begins: it names the parameter. */
const refused: readonly (readonly [what: string, error: RegExp, sent: Sent])[] = [
  ...["Callback-Delay", "Callback-Not-Before", "Failure-Callback-Delay"].map((name) => {
    const headers = { "Upstash-Callback": here, [`Upstash-${name}`]: "1" };
    return [`a delayed callback: ${name}`, new RegExp(`^Upstash-${name}: delayed callbacks`), { headers }] as const;
  }),
  ["a callback to another machine", /^Upstash-Callback: /, { headers: { "Upstash-Callback": "https://a.test" } }],
  ["another machine", /^destination: example.com /, at("https://example.com/")],
  ["another machine after an @", /^destination: /, at("http://127.0.0.1@example.com/")],
  ["a destination that is not a URL", /^destination: "topic"/, at("topic")],
  ["an invalid delay", /^Upstash-Delay: "soon"/, { headers: { "Upstash-Delay": "soon" } }],
  ["an unsupported header", /^Upstash-Dedup.*not support/, { headers: { "Upstash-Deduplication-Id": "1" } }],
  ["a key without limits", /^Upstash-Flow-Control-Value: /, { headers: { "Upstash-Flow-Control-Key": "k" } }],
  ["a period above a week", /^Upstash-Flow-Control-Value: .*604800/, { headers: flow("rate=1, period=8d") }],
  ["a period without a rate", /^Upstash-Flow.*: .*rate/, { headers: flow("parallelism=1, period=1m") }],
  ["an unknown limit", /^Upstash-Flow-Control-Value: "speed=1"/, { headers: flow("speed=1") }],
  ["an invalid name of a queue", /^queue: must consist of letters/, { path: `enqueue/a%20b/${here}` }],
  ["a batch that is not JSON", /^body: /, { path: "batch", body: "{" }],
  ["an invalid message", /^\[1\]\.destination: /, batch({ destination: here }, null)],
  ["a header with a line break", /^\[0\]\.Upstash-Forward-a: /, sentIn({ "Upstash-Forward-A": "x\ny" })],
  [
    "an id of a schedule with a space",
    /^Upstash-Schedule-Id: /,
    { path: `schedules/${here}`, headers: { "Upstash-Schedule-Id": "a b" } },
  ],
  ["a pin of a period without a rate", /^rate: /, { path: "flowControl/k/pin?parallelism=1&period=1" }],
  ["a flag other than true or false", /^rate: must be true or false/, { path: "flowControl/k/unpin?rate=yes" }],
];

describe("Local platform: what the message queue refuses", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ flowControlKeys: [] })));
  afterEach(() => platform.reset());
  after(() => platform.close());

  const post = ({ path = `publish/${here}`, headers = {}, body = "x" }: Sent) =>
    queue(platform, "POST", `/${path}`, { headers, body });

  for (const [what, error, sent] of refused) {
    it(`refuses ${what}, and names the parameter`, async () => {
      const response = await post(sent);
      assert.equal(response.status, 400, response.text);
      assert.match(response.error, error);
      assert.deepEqual((await queue(platform, "GET", "/events")).body, { events: [] }, "no message was inserted");
    });
  }

  it("refuses a batch if its response would be larger than 100 MB, not if the batch is", async () => {
    const many = (count: number) => post({ path: "batch", body: `[${"0,".repeat(count - 1)}0]` });
    const { status, error } = await many(1_900_000);
    assert.deepEqual([status, error.slice(0, 28)], [413, "body: has too many messages:"]);
    assert.match((await many(1_800_000)).error, /^\[0\]\.destination: /);
    const large = { destination: here, headers: { "Upstash-Delay": "1d" }, body: "x".repeat(105e6) };
    assert.equal((await post(batch(large))).status, 201);
  });

  it("accepts a schedule, which never runs", async () => {
    const headers = { "Upstash-Cron": "* * * * * *", "Upstash-Schedule-Id": "nightly-1.0_x" };
    const { status, body } = await post({ path: `schedules/${here}`, headers });
    assert.deepEqual({ status, body }, { status: 201, body: { scheduleId: "nightly-1.0_x" } });
    assert.equal((await queue(platform, "GET", "/schedules/nightly-1.0_x")).status, 405);
  });

  for (const [value, expected] of Object.entries({
    "parallelism=10, rate=5, period=1m": { parallelismMax: 10, rateMax: 5, ratePeriod: 60 },
    "rate=3 per 1d": { parallelismMax: undefined, rateMax: 3, ratePeriod: 86_400 },
    "rate=3": { rateMax: 3, ratePeriod: 1 },
    "parallelism=1": { parallelismMax: 1, rateMax: undefined, ratePeriod: 1 },
    "rate=1, period=604800": { rateMax: 1, ratePeriod: 604_800 },
  })) {
    it(`reads the limits ${JSON.stringify(value)}`, async () => {
      assert.equal((await post({ headers: { ...flow(value), "Upstash-Delay": "1d" } })).status, 201);
      assertFields(platform.flowControlKeys.get("k"), expected);
    });
  }
});
