import assert from "node:assert/strict";
import {
  type SecretKind,
  databasePassword,
  searchToken,
  vectorToken,
  queueToken,
  signingKeys,
} from "../../../provider/domain/secretKind";
import { FlowControl, type KeyOperation } from "../../../provider/platform/flowControl";
import { presets } from "../../../provider/settings/presets";
import { FakeRequester } from "../../support/fakeRequester";
import { clientOf, withRealSockets } from "./realSockets";

const basic = `Basic ${Buffer.from("ops:pä:ss").toString("base64")}`;
const index = {
  id: "x",
  name: "n",
  endpoint: "bold-fox",
  token: "t",
  read_only_token: "r",
  creation_time: 1_752_451_200,
  region: "eu-west-1",
  type: "free",
};
const queueUser = {
  id: "x",
  customer_id: "you@example.com",
  token: "t",
  read_only_token: "r",
  region: "eu-central-1",
  state: "active",
  creation_time: 1_752_451_200,
  max_parallelism: 10,
  max_global_parallelism: 100,
  max_requests_per_second: 100,
};
const tokens = { token: "t", readOnlyToken: "r" };
const listedIndex = { id: "x", name: "n", creationTime: 1_752_451_200 };

/** The operations on secrets as the vendor's description of August 2026 has them, with responses of its shape. */
const described: readonly {
  readonly kind: SecretKind;
  readonly authorization: string;
  readonly reset: readonly [path: string, response: unknown, credentials: object];
  readonly read: readonly [path: string, response: unknown, credentials: object];
  readonly list?: readonly [path: string, response: unknown, shown: object];
}[] = [
  {
    kind: databasePassword,
    authorization: basic,
    reset: [
      "/v2/redis/reset-password/x",
      { database_id: "x", password: "p", rest_token: "t", read_only_rest_token: "r" },
      { password: "p", restToken: "t", readOnlyRestToken: "r" },
    ],
    read: [
      "/v2/redis/database/x",
      { database_id: "x", password: "p", rest_token: "t" },
      { password: "p", restToken: "t" },
    ],
    list: [
      "/v2/redis/databases",
      [{ database_id: "x", database_name: "n", state: "active", password: "p", rest_token: "t", port: 6379 }],
      [{ databaseId: "x", databaseName: "n", state: "active" }],
    ],
  },
  {
    kind: vectorToken,
    authorization: basic,
    reset: ["/v2/vector/index/x/reset-password", "OK", {}],
    read: ["/v2/vector/index/x", index, tokens],
    list: ["/v2/vector/index", [index], [listedIndex]],
  },
  {
    kind: searchToken,
    authorization: basic,
    reset: ["/v2/search/x/reset-password", "OK", {}],
    read: ["/v2/search/x", index, tokens],
    list: ["/v2/search", [index], [listedIndex]],
  },
  {
    kind: queueToken,
    authorization: basic,
    reset: ["/v2/qstash/rotate-token/x", queueUser, tokens],
    read: ["/v2/qstash/user/x", queueUser, tokens],
    list: ["/v2/qstash/users", [queueUser], [{ id: "x", region: "eu-central-1", creationTime: 1_752_451_200 }]],
  },
  {
    kind: signingKeys,
    authorization: "Bearer token",
    reset: ["/v2/keys/rotate", { current: "c", next: "n" }, { currentKey: "c", nextKey: "n" }],
    read: ["/v2/keys", { current: "c", next: "n" }, { currentKey: "c", nextKey: "n" }],
  },
];

describe("platform: the operations that the vendor describes", () => {
  const { startServer } = withRealSockets();

  for (const { kind, authorization, reset, read, list } of described) {
    it(`${kind.noun}: the requests and the responses agree`, async () => {
      const responses = [reset[1], read[1], list?.[1]];
      const server = await startServer({ bodyOf: () => JSON.stringify(responses.shift()) });
      const client = clientOf(server.url, {
        platform: "upstash",
      });
      const operations = client.operations(kind);
      assert.deepEqual((await operations.reset("x")).credentials, reset[2]);
      const shown = await operations.read("x");
      assert.deepEqual(shown.credentials, read[2]);
      assert.deepEqual(shown.problems, []);
      if (list) assert.deepEqual(await client.list(kind), list[2]);
      const sent = server.requests.map(({ method, path, body, headers }) => {
        return [method, path, body, headers["content-type"], headers.authorization];
      });
      assert.deepEqual(sent, [
        ["POST", reset[0], "", undefined, authorization],
        ["GET", read[0], "", undefined, authorization],
        ...(list ? [["GET", list[0], "", undefined, authorization]] : []),
      ]);
    });
  }

  it("the queue: the requests for keys, and no others", async () => {
    const requester = new FakeRequester(() => ({ status: 403 }));
    const flowControl = new FlowControl(requester, {
      resetAction: presets.upstash.values.flowControlResetAction ?? "",
    });
    const consequences = { unchanged: "", unknown: "" };
    const change = (action: KeyOperation["action"], query = {}) =>
      flowControl.change("x", { action, query }, consequences);
    await Promise.allSettled([
      flowControl.list("orders"),
      flowControl.get("x"),
      flowControl.globalParallelism(),
      flowControl.reset("x", true),
      new FlowControl(requester, { resetAction: "resetRate" }).reset("x", true),
      change("pause"),
      change("resume"),
      change("pin", { parallelism: "1", rate: "1", period: "1" }),
      change("unpin", { parallelism: "true", rate: "true" }),
    ]);
    const sent = requester.sent.map(({ method, path, query = {} }) => [method, path, ...Object.keys(query)].join(" "));
    // The description has neither `search` nor `reset`, which the vendor's changelog announced: docs/guide.md.
    assert.deepEqual(sent, [
      "GET /v2/flowControl search",
      "GET /v2/flowControl/x",
      "GET /v2/globalParallelism",
      "POST /v2/flowControl/x/reset",
      "POST /v2/flowControl/x/resetRate",
      "POST /v2/flowControl/x/pause",
      "POST /v2/flowControl/x/resume",
      "POST /v2/flowControl/x/pin parallelism rate period",
      "POST /v2/flowControl/x/unpin parallelism rate",
    ]);
  });
});
