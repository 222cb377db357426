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
import { assertFields } from "../support/results";

const lost = { path: /reset-password/, dropConnection: "after-apply" } as const;
const queueUserId = "00000000-0000-4000-8000-000000000001";

describe("A program with a PasswordRotation", () => {
  afterEach(closePlatforms);

  const start = async (first: Partial<PasswordRotationArgs>, more?: (rotation: PasswordRotation) => void) => {
    let args = first;
    const stack = await TestStack.start(
      () => {
        const rotation = new PasswordRotation("cache", { databaseId: "cache", ...args });
        more?.(rotation);
        const { outcome, password, rotationCount, rotationReason, port, connectionUrl } = rotation;
        return { outcome, password, rotationCount, rotationReason, port, connectionUrl };
      },
      { databases: ["cache"], credentials: "always" },
    );
    return { stack, platform: stack.platform, change: (next: Partial<PasswordRotationArgs>) => void (args = next) };
  };

  it("resets once for one trigger, and never in preview, refresh or destroy", async () => {
    const { stack, platform, change } = await start({ version: 1 });
    const planned = await stack.preview();
    assert.deepEqual(planned.changes, { create: 2 });
    assert.match(planned.printed, /Password of database "cache": will be reset, because the resource is new\./);
    assert.equal(platform.requests.length, 0);
    const first = await succeeds(stack.up());
    const { password, record } = platform.database("cache");
    assertFields(valuesOf(first), { outcome: "reset", rotationCount: 1, port: record["port"] });
    assert.deepEqual(first.outputs["password"], { value: password, secret: true });
    const url = `redis://default:${password}@127.0.0.1:${String(record["port"])}`;
    assert.deepEqual(first.outputs["connectionUrl"], { value: url, secret: true });
    for (const same of [{ version: 1 }, { version: "1", triggers: {} }, {}]) {
      change(same);
      assert.deepEqual((await stack.up()).changes, { same: 2 });
    }
    const former = { ...stack.config };
    const elsewhere = { "rekey:baseUrl": "https://elsewhere.example.com", "rekey:password": { secret: "another" } };
    Object.assign(stack.config, elsewhere);
    assert.equal((await stack.up()).changes["same"], 2, "another address or credentials ask for no reset");
    Object.assign(stack.config, former);
    change({ version: 2 });
    assert.deepEqual((await stack.preview()).changes, { same: 1, update: 1 });
    await succeeds(stack.refresh());
    assert.equal(platform.resetCount, 1);
    assertFields(valuesOf(await succeeds(stack.up())), { rotationReason: "trigger", rotationCount: 2 });
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 2);
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
    broken = false;
    await assertConsumed();
    assert.equal(platform.resetCount, 2);
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
      const { vectors, search } = outputs as { vectors: [string, string]; search: [string, string] };
      return [
        new Index({ url: vectors[0], token: vectors[1], retry: false }).info(),
        new Search({ url: search[0], token: search[1], retry: false }).info(),
      ];
    };
    const first = valuesOf(await succeeds(stack.up()));
    await Promise.all(infos(first));
    version = 2;
    stack.platform.failNext({ ...lost, path: /vector.*reset-password/ });
    await Promise.all(infos(valuesOf(await succeeds(stack.up()))));
    await Promise.all(infos(first).map((request) => assert.rejects(request, /Authorization: missing or wrong/)));
    assert.equal(stack.platform.resetCount, 4);
    assert.deepEqual((await stack.up()).changes, { same: 3 });
  });

  it("rotates the queue's with rekey:queueUserId, reads with it before and after, and refuses rekey:queueToken", async () => {
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const { token, rotatedAt } = new QueueTokenRotation("queue", { queueUserId, version });
        new FlowControlReset("first", { flowControlKey: "orders", version });
        const before = getGlobalParallelism().then(({ parallelismMax }) => parallelismMax);
        const after = rotatedAt.apply(() => getGlobalParallelism()).apply(({ parallelismMax }) => parallelismMax);
        return { token, before, after };
      },
      { flowControlKeys: ["orders"], credentials: "always" },
    );
    const { platform, config } = stack;
    await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
    assert.equal(platform.resetCount, 0);
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
