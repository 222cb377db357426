import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../../../local/platform/index";
import { mostBytes } from "../../../../local/platform/queue/bodies";
import { startRedisServer } from "../../../../local/platform/redisServer";
import { withRedis } from "../../../support/redis";
import { type Answer, basic, bearer, send } from "../client";
import { assertDescribed, type Described, operations } from "./document";

interface Sent {
  readonly values?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

type Encode = (part: string) => string;

/** Nobody listens there, so that deliveries fail at once. */
const nowhere = "http://127.0.0.1:1/";
const values: Record<string, string> = {
  id: "db-quickstart",
  flowControlKey: "orders",
  queue: "q",
  queueName: "q",
  scheduleId: "s",
  destination: nowhere,
};
const unknown = Object.fromEntries(Object.keys(values).map((name) => [name, "nobody"]));

/** What makes each operation succeed, where its path alone does not. */
const succeeding: Readonly<Record<string, Sent>> = {
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

/** What makes an operation without a name in its path answer 400. */
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

describe("local platform: answers, held to the description", () => {
  let platform: Platform;
  let limited: Platform;
  before(async () => {
    platform = await startPlatform({ retryDelay: 0.01 });
    limited = await startPlatform({ requestsPerSecond: 1 });
  });
  after(() => Promise.all([platform.close(), limited.close()]));
  beforeEach(async () => {
    await platform.reset();
    await prepare(platform);
  });

  const makers: Readonly<Record<string, (operation: Described) => Promise<Answer>>> = {
    200: (operation) => call(platform, operation, succeeding[operation.operationId]),
    201: (operation) => call(platform, operation, succeeding[operation.operationId]),
    400(operation) {
      const malformed = Object.fromEntries(Object.keys(values).map((name) => [name, "%zz"]));
      const sent = refused[operation.operationId];
      return sent ? call(platform, operation, sent) : call(platform, operation, { values: malformed }, (part) => part);
    },
    401: (operation) => send(platform, operation.method, target(operation, {})),
    403(operation) {
      const headers = { origin: "https://example.com", host: "elsewhere.example.com" };
      return call(platform, operation, { ...succeeding[operation.operationId], headers });
    },
    404: (operation) => call(platform, operation, { values: unknown }),
    413(operation) {
      const sent = succeeding[operation.operationId];
      return call(platform, operation, {
        ...sent,
        headers: { ...sent?.headers, "content-length": String(mostBytes + 1) },
      });
    },
    async 429(operation) {
      for (;;) {
        const answer = await call(limited, operation);
        if (answer.status === 429) return answer;
      }
    },
  };

  for (const operation of operations) {
    for (const status of Object.keys(operation.responses).filter((status) => status !== "503")) {
      it(`${operation.operationId} answers ${status} as described`, async () => {
        const answer = await makers[status]!(operation);
        assert.equal(answer.status, Number(status), answer.text);
        assertDescribed(operation, answer);
      });
    }
  }

  it("describes what happened to a message", async () => {
    const [operation] = operations.filter(({ operationId }) => operationId === "listEvents") as [Described];
    const seen = new Set<string>();
    while (!seen.has("FAILED")) {
      const answer = await call(platform, operation);
      assertDescribed(operation, answer);
      for (const { state } of (answer.body as { events: { state: string }[] }).events) seen.add(state);
      await sleep(10);
    }
  });

  const shapes: [options: PlatformOptions, operationIds: string[]][] = [
    [
      { flowControlListShape: "object", globalParallelismShape: "old" },
      ["listFlowControlKeys", "getGlobalParallelism"],
    ],
    [{ credentialsInResponse: "always" }, ["resetPassword", "resetPasswordByPublicName"]],
    [{ globalParallelism: { parallelismMax: 3, parallelismCount: 1 } }, ["getGlobalParallelism", "readState"]],
  ];
  for (const [options, ids] of shapes) {
    it(`describes the answers of a platform with ${JSON.stringify(options)}`, async () => {
      const other = await startPlatform(options);
      for (const operation of operations.filter(({ operationId }) => ids.includes(operationId))) {
        const answer = await call(other, operation);
        assert.equal(answer.status, 200);
        assertDescribed(operation, answer);
      }
      await other.close();
    });
  }
});

withRedis("local platform: answers with a Redis, held to the description", () => {
  const operationsOn = (part: string) => operations.filter(({ path }) => path.includes(part));

  it("describes the Redis user, and a Redis that is away", async () => {
    const redis = await startRedisServer();
    const platform = await startPlatform({ redis: redis.url });
    for (const operation of [...operationsOn("reset-password"), ...operationsOn("/local/databases")]) {
      const answer = await call(platform, operation);
      assert.equal(answer.status, 200);
      assertDescribed(operation, answer);
    }
    await redis.close();
    for (const operation of operationsOn("reset-password")) {
      const answer = await call(platform, operation);
      assert.equal(answer.status, 503);
      assertDescribed(operation, answer);
    }
    await platform.close();
  });
});

/** A queue, a schedule, and a message that cannot be delivered. */
async function prepare(platform: Platform): Promise<void> {
  const options = { "Upstash-Retries": "1", "Upstash-Label": "l" };
  const schedule = { "Upstash-Cron": "0 4 * * *", "Upstash-Schedule-Id": "s", "Upstash-Callback": nowhere };
  const limits = { "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "rate=9, parallelism=9" };
  const post = (path: string, headers: Record<string, string>) =>
    send(platform, "POST", `/v2/${path}/${nowhere}`, bearer(platform), {
      headers: { ...headers, ...limits },
      body: "x",
    });
  const answers = [await post("enqueue/q", options), await post("schedules", { ...options, ...schedule })];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201],
  );
}

function target(
  { path, method }: Described,
  { values: given = {}, query = "" }: Sent,
  encode: Encode = encodeURIComponent,
) {
  const named = path.replace("{idOrDestination}", method === "POST" ? "{destination}" : "{scheduleId}");
  return named.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(given[name] ?? values[name]!)) + query;
}

function call(
  platform: Platform,
  operation: Described,
  sent: Sent = {},
  encode: Encode = encodeURIComponent,
): Promise<Answer> {
  const authorization = operation.security ? basic(platform) : bearer(platform);
  const { headers = {}, body } = sent;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  return send(platform, operation.method, target(operation, sent, encode), authorization, {
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
}
