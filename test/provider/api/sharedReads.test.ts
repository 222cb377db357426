import assert from "node:assert/strict";
import fc from "fast-check";
import { UnreadableError } from "../../../provider/api/errors";
import { FlowControl } from "../../../provider/api/flowControl";
import { PlatformClient } from "../../../provider/api/platformClient";
import { maxSingleReads, SharedReads } from "../../../provider/api/sharedReads";
import { Settings } from "../../../provider/settings";
import { type FlowControlRecord } from "../../../local/platform/flowControl";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { FakeRequester } from "../../support/fakeRequester";

const list = "/v2/flowControl";
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`);

/** The client of a platform, over real sockets. */
function clientOf({ url, queueToken }: Platform): FlowControl {
  const given: Record<string, string> = { queueUrl: url, queueToken };
  return new PlatformClient(new Settings((name) => given[name])).flowControl;
}

/** What is known of a result, be it a value or an error. */
async function outcomeOf(reading: Promise<unknown>): Promise<unknown> {
  return reading.catch((error: Error) => `${error.name}: ${error.message}`);
}

describe("api: reads that share their requests", () => {
  const platforms: Platform[] = [];
  const start = async (...args: Parameters<typeof startPlatform>): Promise<Platform> => {
    const platform = await startPlatform(...args);
    platforms.push(platform);
    return platform;
  };
  const paths = (platform: Platform): string[] => platform.requests.map(({ path }) => path);
  afterEach(async () => void (await Promise.all(platforms.splice(0).map((one) => one.close()))));

  it("read 1,000 keys, each twice, and all keys with one request", async () => {
    const keys = names(1000);
    const platform = await start({ flowControlKeys: keys });
    const reads = new SharedReads(clientOf(platform));
    const [all, ...each] = await Promise.all([reads.list(), ...[...keys, ...keys].map((key) => reads.get(key))]);
    assert.deepEqual(each, [...all, ...all]);
    assert.deepEqual(paths(platform), [list]);
  });

  it(`read ${maxSingleReads} keys one by one, and one more by a list`, async () => {
    const keys = names(maxSingleReads + 1);
    const platform = await start({ flowControlKeys: keys });
    const reads = new SharedReads(clientOf(platform));
    await Promise.all(keys.slice(1).map((key) => reads.get(key)));
    assert.deepEqual(
      paths(platform).sort(),
      keys.slice(1).map((key) => `${list}/${key}`),
    );
    await Promise.all(keys.map((key) => reads.get(key)));
    assert.deepEqual(paths(platform).slice(maxSingleReads), [list]);
  });

  it("read the same key, and the global parallelism, once in a turn, and again in the next one", async () => {
    const platform = await start({ flowControlKeys: ["a"] });
    const reads = new SharedReads(clientOf(platform));
    const twice = () =>
      Promise.all([reads.get("a"), reads.get("a"), reads.globalParallelism(), reads.globalParallelism()]);
    const [before, same] = await twice();
    assert.equal(before, same);
    platform.setFlowControlKey({ flowControlKey: "a", waitListSize: 77 });
    assert.equal((await twice())[0].waitListSize, 77);
    assert.equal(platform.requests.length, 4);
  });

  it("read by a search of their own, which single keys do not use", async () => {
    const platform = await start({ flowControlKeys: ["a", "b"] });
    const reads = new SharedReads(clientOf(platform));
    const found = await Promise.all([reads.list("a"), reads.list("a"), reads.list(""), reads.get("b")]);
    assert.deepEqual(
      found.flat().map(({ flowControlKey }) => flowControlKey),
      ["a", "a", "a", "b", "b"],
    );
    assert.equal(platform.requests.length, 3);
    assert.notEqual(found[0], found[1], "a program may sort its own list");
  });

  it("read singly only what the list does not have, or not twice", async () => {
    const keys = names(12);
    const records = [...keys.slice(2), "key-3"].map((flowControlKey) => ({ flowControlKey }));
    const requester = new FakeRequester(({ path }) => ({
      body: JSON.stringify(path === list ? records : { flowControlKey: path.slice(list.length + 1), waitListSize: 9 }),
    }));
    const reads = new SharedReads(new FlowControl(requester));
    const read = await Promise.all(keys.map((key) => reads.get(key)));
    assert.deepEqual(
      requester.sent.map(({ path }) => path),
      [list, `${list}/key-0`, `${list}/key-1`, `${list}/key-3`],
    );
    assert.deepEqual(
      read.map(({ waitListSize }) => waitListSize),
      [9, 9, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0],
    );
  });

  it("name the key in the error of its own record, whatever the list holds", async () => {
    const keys = names(12);
    const sick = { flowControlKey: "key-5", rateCount: "many" };
    const records = keys.map((flowControlKey) => (flowControlKey === "key-5" ? sick : { flowControlKey }));
    const requester = new FakeRequester(({ path }) => ({ body: JSON.stringify(path === list ? records : sick) }));
    const reads = new SharedReads(new FlowControl(requester));
    const results = await Promise.allSettled([...keys.map((key) => reads.get(key)), reads.list()]);
    const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
    assert.equal(failed.length, 2);
    assert.ok(failed.every((error) => error instanceof UnreadableError));
    assert.match(failed[0]!.message, /^Could not read the flow-control key "key-5".*rateCount/);
    assert.match(failed[1]!.message, /^Could not list the flow-control keys.*rateCount/);
    assert.equal(requester.sent.length, 2);
  });

  it("tell what single reads tell, whatever keys there are and however the list is answered", async function () {
    this.timeout(120_000);
    const key = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom("a/b", "ü%", "a b", "?x=1#y", "%2F", "emoji 🙂", "__proto__", "constructor"),
      },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }).map((index) => `key-${index}`) },
      { weight: 1, arbitrary: fc.constantFrom("", ".", "..", " ", "\ud800") },
      { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: "binary" }) },
    );
    const held = fc.uniqueArray(
      fc.record(
        { flowControlKey: key, waitListSize: fc.nat(), rateMax: fc.nat() },
        { requiredKeys: ["flowControlKey"] },
      ),
      { selector: ({ flowControlKey }) => flowControlKey, maxLength: 25 },
    );
    const listAnswer = fc.constantFrom<object | undefined>(
      undefined,
      { status: 403, body: { error: "not yours" } },
      { status: 404 },
      { status: 204 },
      { body: "<html>" },
      { body: { flowControls: 1 } },
      { body: [{ flowControlKey: "key-1", rateCount: "1" }, { rateMax: 1 }, 7, null] },
    );
    const shape = fc.constantFrom("array" as const, "object" as const);
    await fc.assert(
      fc.asyncProperty(
        held,
        fc.array(key, { maxLength: 25 }),
        shape,
        listAnswer,
        fc.boolean(),
        async (all, asked, flowControlListShape, answer, listed) => {
          const flowControlKeys = all.filter(({ flowControlKey }) => flowControlKey !== "") as FlowControlRecord[];
          const platform = await startPlatform({ flowControlKeys, flowControlListShape });
          try {
            const flowControl = clientOf(platform);
            const singly = await Promise.all(asked.map((one) => outcomeOf(flowControl.get(one))));
            if (answer) platform.failNext({ path: list, ...answer });
            const reads = new SharedReads(flowControl);
            if (listed) void outcomeOf(reads.list());
            assert.deepEqual(await Promise.all(asked.map((one) => outcomeOf(reads.get(one)))), singly);
          } finally {
            await platform.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
