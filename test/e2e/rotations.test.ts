import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { Search } from "@upstash/search";
import { Index } from "@upstash/vector";
import {
  FlowControlReset,
  getGlobalParallelism,
  PasswordRotation,
  type PasswordRotationArgs,
  QueueTokenRotation,
  SearchTokenRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, Consumer, TestStack } from "../support/memory";
import { databasePath } from "../support/resources";
import { assertFields } from "../support/results";

const isReset = /reset-password/;
const lost = { path: isReset, dropConnection: "after-apply" } as const;
const queueUserId = "00000000-0000-4000-8000-000000000001";

describe("A program with a PasswordRotation", () => {
  afterEach(closePlatforms);

  const start = async (first: Partial<PasswordRotationArgs>, more?: (rotation: PasswordRotation) => void) => {
    let args = first;
    const stack = await TestStack.start(
      () => {
        const rotation = new PasswordRotation("cache", { databaseId: "cache", ...args });
        more?.(rotation);
        return rotation;
      },
      { databases: ["cache", "other"], credentials: "always" },
    );
    return { stack, platform: stack.platform, change: (next: Partial<PasswordRotationArgs>) => void (args = next) };
  };

  it("resets once for one trigger, and never in preview, refresh or destroy", async () => {
    const { stack, platform, change } = await start({ version: 1 });
    assert.deepEqual((await stack.preview()).changes, { create: 2 });
    assert.equal(platform.requests.length, 0);
    const first = await succeeds(stack.up());
    assertFields(valuesOf(first), { outcome: "reset", rotationCount: 1 });
    assert.deepEqual(first.outputs["password"], { value: platform.database("cache").password, secret: true });
    for (const same of [{ version: 1 }, { version: "1", triggers: {} }]) {
      change(same);
      assert.deepEqual((await stack.up()).changes, { same: 2 });
    }
    const { config } = stack;
    const former = { ...config };
    Object.assign(config, {
      "rekey:baseUrl": "https://elsewhere.example.com",
      "rekey:password": { secret: "another" },
    });
    assert.equal((await stack.up()).changes["same"], 2, "another address or credentials ask for no reset");
    Object.assign(config, former);
    change({ version: 2 });
    assert.deepEqual((await stack.preview()).changes, { same: 1, update: 1 });
    await succeeds(stack.refresh());
    assert.equal(platform.resetCount, 1);
    assertFields(valuesOf(await stack.up()), { rotationReason: "trigger", rotationCount: 2 });
    change({});
    assert.deepEqual((await stack.up()).changes, { same: 2 }, "removing the trigger resets nothing");
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 2);
  });

  it("recovers from a lost response with one more reset", async () => {
    const { stack, platform, change } = await start({ version: 1 });
    await succeeds(stack.up());
    change({ version: 2 });
    platform.failNext(lost);
    await fails(stack.up(), /may have been changed/);
    assert.equal(stack.saved("cache")?.["outcome"], "unknown");
    const { password, rotationReason } = valuesOf(await succeeds(stack.up()));
    assert.deepEqual([password, rotationReason], [platform.database("cache").password, "unconfirmed"]);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    assert.equal(platform.resetCount, 3);
  });

  it("adopts without a request, and resets when a schedule is due", async () => {
    const { stack, platform, change } = await start({ initialRotation: false });
    assert.equal(valuesOf(await succeeds(stack.up()))["outcome"], "adopted");
    assert.equal(platform.requests.length, 0);
    change({ initialRotation: false, rotateEvery: "PT0.001S" });
    assert.equal(valuesOf(await succeeds(stack.up()))["rotationReason"], "schedule");
    assert.equal(platform.resetCount, 1);
  });

  it("gives a consumer the new password in the same up; if that fails, the next up updates the consumer alone", async () => {
    let broken = false;
    const more = ({ password }: PasswordRotation) => void new Consumer("consumer", { password, broken });
    const { stack, platform, change } = await start({ version: 1 }, more);
    const assertConsumed = async () => {
      await succeeds(stack.up());
      assert.equal(stack.saved("consumer")?.["password"], platform.database("cache").password);
    };
    await assertConsumed();
    change({ version: 2 });
    broken = true;
    await fails(stack.up(), /the consumer is away/);
    assert.equal(platform.resetCount, 2);
    broken = false;
    await assertConsumed();
    assert.equal(platform.resetCount, 2);
  });
});

describe("A program at a platform that can be read", () => {
  afterEach(closePlatforms);

  it("needs one up if each reset was applied, and gets what was changed outside by a refresh", async () => {
    const ids = ["plain", "cut", "late"];
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const passwords = ids.map((databaseId) => new PasswordRotation(databaseId, { databaseId, version }).password);
        return Object.fromEntries(ids.map((id, index) => [id, passwords[index]]));
      },
      {
        ...{ databases: ids, credentials: "read", databasePath },
        config: { "rekey:databasePath": databasePath, "rekey:deadlineSeconds": "5" },
      },
    );
    const { platform } = stack;
    const passwords = () => Object.fromEntries(ids.map((id) => [id, platform.database(id).password]));
    assert.deepEqual(valuesOf(await succeeds(stack.up())), passwords());
    version = 2;
    platform.failNext({ ...lost, path: /reset-password\/cut/ });
    platform.failNext({ ...lost, path: /reset-password\/late/, applyAfterMs: 2_000 });
    const second = await succeeds(stack.up());
    assert.deepEqual(valuesOf(second), passwords());
    assert.match(second.printed, /"cut" was not confirmed .* but a read shows other credentials than before it/);
    assert.equal(stack.posts.length, 6);

    await platform.changePassword("plain");
    assert.match((await succeeds(stack.refresh())).printed, /"plain" was changed outside of Rekey: password/);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), passwords());
    const { length } = platform.requests;
    await succeeds(stack.destroy());
    assert.equal(platform.requests.length, length);
    assert.equal(stack.posts.length, 6);
  });

  it("uses the paths of the preset: `rekey:platform: upstash`", async () => {
    const stack = await TestStack.start(
      () => {
        const { password } = new PasswordRotation("cache", { databaseId: "db-1", version: 1 });
        new FlowControlReset("orders", { flowControlKey: "orders", version: 1 });
        return { password };
      },
      {
        ...{ databases: ["db-1"], credentials: "read", databasePath, flowControlKeys: ["orders"] },
        config: { "rekey:platform": "upstash" },
      },
    );
    const { platform } = stack;
    platform.failNext({ path: "/v2/flowControl/orders/reset", status: 404 });
    const { outputs, printed } = await succeeds(stack.up());
    assert.match(printed, /Flow-control key "orders" was reset by `resetRate`, which clears only the rate counter\./);
    assert.equal(outputs["password"]?.value, platform.database("db-1").password);
    const actions = ["reset", "resetRate"].map((action) => `/v2/flowControl/orders/${action}`);
    assert.deepEqual(stack.posts.sort(), [...actions, "/v2/redis/reset-password/db-1"]);
  });
});

describe("A program with the tokens of other resources", () => {
  afterEach(closePlatforms);

  it("replaces those of indexes, also if a response is lost", async () => {
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const vectors = new VectorTokenRotation("vectors", { indexId: "idx-vectors", version });
        const search = new SearchTokenRotation("search", { indexId: "idx-search", version });
        return { vectors: [vectors.restUrl, vectors.token], search: [search.restUrl, search.token] };
      },
      { credentials: "read" },
    );
    const infos = (outputs: Readonly<Record<string, unknown>>) => {
      const [[vectorsUrl = "", vectorsToken = ""], [searchUrl = "", searchToken = ""]] = [
        outputs["vectors"] as string[],
        outputs["search"] as string[],
      ];
      return [
        new Index({ url: vectorsUrl, token: vectorsToken, retry: false }).info(),
        new Search({ url: searchUrl, token: searchToken, retry: false }).info(),
      ];
    };
    const first = valuesOf(await succeeds(stack.up()));
    await Promise.all(infos(first));
    version = 2;
    stack.platform.failNext({ ...lost, path: /vector.*reset-password/ });
    const second = valuesOf(await succeeds(stack.up()));
    await Promise.all(infos(second));
    const refused = infos(first).map((request) => assert.rejects(request, /Authorization: missing or wrong/));
    await Promise.all(refused);
    assert.equal(stack.platform.resetCount, 4);
    assert.deepEqual((await stack.up()).changes, { same: 3 });
  });

  /** Rotates the token with which the program itself reads, before and after it, and with which the provider resets. */
  const queue = (version: () => number) => () => {
    const { token, rotatedAt } = new QueueTokenRotation("queue", { queueUserId, version: version() });
    new FlowControlReset("first", { flowControlKey: "orders", version: version() });
    const before = getGlobalParallelism().then(({ parallelismMax }) => parallelismMax);
    const after = rotatedAt.apply(() => getGlobalParallelism()).apply(({ parallelismMax }) => parallelismMax);
    return { token, before, after };
  };
  const platformOptions = { flowControlKeys: ["orders"], credentials: "always" } as const;

  it("does not rotate that of the queue while it is rekey:queueToken, and resets nothing", async () => {
    const stack = await TestStack.start(
      queue(() => 1),
      platformOptions,
    );
    await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
    assert.equal(stack.platform.resetCount, 0);
  });

  it("rotates that of the queue with rekey:queueUserId, also if a response is lost", async () => {
    let version = 1;
    const stack = await TestStack.start(
      queue(() => version),
      platformOptions,
    );
    const { platform, config } = stack;
    const former = platform.queueToken;
    delete config["rekey:queueToken"];
    config["rekey:queueUserId"] = queueUserId;
    assert.deepEqual(valuesOf(await succeeds(stack.up())), { token: platform.queueToken, before: 100, after: 100 });
    version = 2;
    platform.failNext({ ...lost, path: /rotate-token/ });
    assert.equal(valuesOf(await succeeds(stack.up()))["token"], platform.queueToken);
    assert.equal(platform.resetCount, 2);
    const client = (token: string) => new Client({ baseUrl: platform.url, token, retry: false });
    await client(platform.queueToken).flowControl.getGlobalParallelism();
    await assert.rejects(client(former).flowControl.getGlobalParallelism(), /Authorization: missing or wrong/);
  });
});
