import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../../../local/platform/index";
import { mostBytes } from "../../../../local/platform/queue/bodies";
import { startRedisServer } from "../../../../local/platform/redisServer";
import { withRedis } from "../../../support/redis";
import { basic, bearer, databasePath, type HttpResponse, queue, send } from "../client";
import { assertDescribed, type Described, description, operations } from "./document";

interface Sent {
  readonly values?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Nothing listens there, so that deliveries fail at once. */
const nowhere = "http://127.0.0.1:1/";
const named = { flowControlKey: "orders", queue: "q", queueName: "q", scheduleId: "s" };
const values: Record<string, string> = { ...named, messageId: "msg", destination: nowhere };
/** The ids that paths have, by a part of the path. */
const ids = {
  "/vector/": "idx-vectors",
  "/search/": "idx-search",
  "/qstash/": "00000000-0000-4000-8000-000000000001",
  "/": "db-quickstart",
};
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
const all = (value: string) => Object.fromEntries([...Object.keys(values), "id"].map((name) => [name, value]));

/** What makes an operation succeed in addition to its path. */
const succeeding: Readonly<Record<string, Sent>> = {
  getDatabase: { query: "?credentials=hide" },
  listVectorIndexes: { query: "?credentials=hide" },
  listFlowControlKeys: { query: "?search=ord" },
  pinFlowControlKey: { query: "?parallelism=3&rate=5&period=1h30m" },
  unpinFlowControlKey: { query: "?rate=true&parallelism=false" },
  publish: {
    headers: {
      "Content-Type": "text/plain",
      "Upstash-Method": "PUT",
      "Upstash-Delay": "10s",
      "Upstash-Callback": nowhere,
      "Upstash-Flow-Control-Key": "emails",
      "Upstash-Flow-Control-Value": "parallelism=10, rate=3 per 1d",
      "Upstash-Label": "label",
    },
    body: "message",
  },
  publishBatch: { body: [{ destination: nowhere, headers: { "Upstash-Retries": "0" }, body: "x", queue: "q" }] },
  setQueue: { body: { queueName: "q", parallelism: 2, paused: true } },
  addSchedule: { headers: { "Upstash-Cron": "0 4 * * *" }, body: "message" },
  listEvents: { query: "?count=1&state=CREATED&state=FAILED&fromDate=1" },
  addFault: { body: { path: "/nowhere", status: 503, headers: { "retry-after": "1" }, body: {}, times: 2 } },
};

/** What makes an operation without a name in its path fail with 400. */
const refused: Readonly<Record<string, Sent>> = {
  pinFlowControlKey: {},
  unpinFlowControlKey: { query: "?rate=yes" },
  publish: { values: { destination: "https://example.com" } },
  enqueue: { values: { queue: "a b" } },
  publishBatch: { body: [{}] },
  setQueue: { body: null },
  addSchedule: {},
  listEvents: { query: "?count=0" },
  addFault: { body: { status: 1 } },
};

describe("local platform: responses, compared with the description", () => {
  let platform: Platform;
  let limited: Platform;
  before(async () => {
    platform = await startPlatform({ retryDelay: 0.01, databasePath });
    limited = await startPlatform({ requestsPerSecond: 1 });
  });
  after(() => Promise.all([platform.close(), limited.close()]));
  /** The platform of a single test. */
  let other: Platform | undefined;
  afterEach(() => other?.close());
  beforeEach(async () => {
    await platform.reset();
    await prepare(platform);
  });

  async function succeed(operation: Described): Promise<HttpResponse> {
    const sent = succeeding[operation.operationId];
    if (operation.operationId !== "cancelMessage") return call(platform, operation, sent);
    const delayed = { headers: { "Upstash-Delay": "1d" }, body: "x" };
    const { body } = await queue(platform, "POST", `/publish/${nowhere}`, delayed);
    return call(platform, operation, { values: body as { messageId: string } });
  }
  const makers: Readonly<Record<string, (operation: Described) => Promise<HttpResponse>>> = {
    200: succeed,
    201: succeed,
    // A percent sign alone cannot be decoded.
    400: (operation) => call(platform, operation, refused[operation.operationId] ?? { values: all("%zz") }),
    401: (operation) => send(platform, operation.method, target(operation, {})),
    403(operation) {
      const headers = { origin: "https://example.com", host: "elsewhere.example.com" };
      return call(platform, operation, { ...succeeding[operation.operationId], headers });
    },
    404: (operation) => call(platform, operation, { values: all("unknown") }),
    413(operation) {
      const { headers, ...sent } = succeeding[operation.operationId] ?? {};
      const length = { "content-length": String(mostBytes + 1) };
      return call(platform, operation, { ...sent, headers: { ...headers, ...length } });
    },
    async 429(operation) {
      for (;;) {
        const response = await call(limited, operation);
        if (response.status === 429) return response;
      }
    },
  };
  const assertCall = async (platform: Platform, operation: Described, status = 200) => {
    const response = await call(platform, operation);
    assert.equal(response.status, status, response.text);
    assertDescribed(operation, response);
    return response;
  };

  for (const operation of operations) {
    for (const status of Object.keys(operation.responses).filter((status) => status !== "503")) {
      it(`${operation.operationId} responds with ${status} as described`, async () => {
        const response = await makers[status]!(operation);
        assert.equal(response.status, Number(status), response.text);
        assertDescribed(operation, response);
      });
    }
  }

  for (const path of Object.keys(description.paths)) {
    it(`${path} responds with 405 to all other methods, which change nothing`, async () => {
      const described = operations.filter((operation) => operation.path === path);
      const allowed = described.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      const seen = () => ({ ...platform.state(), flowControlKeys: [platform.flowControlKeys.get("orders")] });
      const before = seen();
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const { status, headers, error } = await call(platform, { ...described[0]!, method });
        assert.equal(status, 405, method);
        assert.deepEqual(new Set(String(headers.allow).split(", ")), new Set(allowed));
        if (method !== "HEAD") assert.match(error, new RegExp(`^method: ${method} is not allowed`));
      }
      assert.deepEqual(seen(), before);
    });
  }

  it("describes what happened to a message", async () => {
    const operation = operations.find(({ operationId }) => operationId === "listEvents")!;
    const seen = new Set<string>();
    while (!seen.has("FAILED")) {
      const { body } = await assertCall(platform, operation);
      for (const { state } of (body as { events: { state: string }[] }).events) seen.add(state);
      await sleep(10);
    }
  });

  for (const { options, path } of [
    { options: { flowControlListShape: "object", globalParallelismShape: "old" }, path: /flowControl$|globalP/ },
    { options: { credentials: "always", databasePath }, path: /v2\/(keyvalue|redis|vector|search|qstash|keys)/ },
    { options: { globalParallelism: { parallelismMax: 3, parallelismCount: 1 } }, path: /globalParallelism|state/ },
  ] satisfies { options: PlatformOptions; path: RegExp }[]) {
    it(`describes the responses of a platform with ${JSON.stringify(options)}`, async () => {
      other = await startPlatform(options);
      for (const operation of operations.filter(({ path: given }) => path.test(given))) {
        await assertCall(other, operation);
      }
    });
  }

  withRedis("with a Redis", () => {
    it("describes the Redis user, and a Redis that is away", async () => {
      const redis = await startRedisServer();
      other = await startPlatform({ redis: redis.url });
      const resets = operations.filter(({ path }) => /(keyvalue|redis)\/reset-password/.test(path));
      const databases = operations.filter(({ path }) => path.includes("/local/databases"));
      for (const operation of [...resets, ...databases]) await assertCall(other, operation);
      await redis.close();
      for (const operation of resets) await assertCall(other, operation, 503);
    });
  });
});

/** A queue, a schedule, and a message that cannot be delivered. */
async function prepare(platform: Platform): Promise<void> {
  const options = { "Upstash-Retries": "1", "Upstash-Label": "l" };
  const schedule = { "Upstash-Cron": "0 4 * * *", "Upstash-Schedule-Id": "s", "Upstash-Callback": nowhere };
  const limits = { "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "rate=9, parallelism=9" };
  for (const [path, headers] of Object.entries({ "enqueue/q": options, schedules: { ...options, ...schedule } })) {
    const sent = { headers: { ...headers, ...limits }, body: "x" };
    assert.equal((await queue(platform, "POST", `/${path}/${nowhere}`, sent)).status, 201);
  }
}

function target({ path, method }: Described, { values: given = {}, query = "" }: Sent): string {
  const named = path.replace("{idOrDestination}", method === "POST" ? "{destination}" : "{scheduleId}");
  const encode = (value: string) => (value === "%zz" ? value : encodeURIComponent(value));
  const [, id] = Object.entries(ids).find(([part]) => path.includes(part))!;
  return named.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(given[name] ?? values[name] ?? id)) + query;
}

function authorizationOf(platform: Platform, { path, security }: Described): string {
  if (security?.some((scheme) => "index" in scheme)) {
    const indexes = path.includes("/vector/") ? platform.vectorIndexes : platform.searchIndexes;
    const [index] = indexes.values();
    return bearer({ queueToken: index!.readOnlyToken });
  }
  return security ? basic(platform) : bearer(platform);
}

function call(platform: Platform, operation: Described, sent: Sent = {}): Promise<HttpResponse> {
  const authorization = authorizationOf(platform, operation);
  const { headers = {}, body } = sent;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const options = { headers, ...(text !== undefined && { body: text }) };
  return send(platform, operation.method, target(operation, sent), authorization, options);
}
