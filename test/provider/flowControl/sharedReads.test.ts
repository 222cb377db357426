import assert from "node:assert/strict";
import fc from "fast-check";
import { type FlowControl } from "../../../provider/platform/flowControl";
import { PlatformClient } from "../../../provider/run/platformClient";
import { pathPartProblem } from "../../../provider/records/fields";
import { maxSingleReads, SharedReads } from "../../../provider/flowControl/sharedReads";
import { Settings } from "../../../provider/settings/settings";
import { type FlowControlRecord } from "../../../local/platform/flowControl";
import { type Platform, startPlatform } from "../../../local/platform/index";

const list = "/v2/flowControl";
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`);

/** The client of a platform, over real sockets. */
function clientOf({ url, queueToken }: Platform): FlowControl {
  const given: Record<string, string> = { queueUrl: url, queueToken };
  return new PlatformClient(new Settings((name) => given[name])).flowControl;
}

/** A value, or an error as text. */
async function outcomeOf(reading: Promise<unknown>): Promise<unknown> {
  return reading.catch((error: Error) => `${error.name}: ${error.message}`);
}

describe("flow control: reads that share their requests", () => {
  let platform: Platform;
  const start = async (flowControlKeys: readonly string[]): Promise<SharedReads> => {
    platform = await startPlatform({ flowControlKeys });
    return new SharedReads(clientOf(platform));
  };
  const paths = (): string[] => platform.requests.map(({ path }) => path);
  afterEach(() => platform.close());

  it("read 1,000 keys, each twice, and all keys with one request", async () => {
    const keys = names(1000);
    const reads = await start(keys);
    const [all, ...each] = await Promise.all([reads.list(), ...[...keys, ...keys].map((key) => reads.get(key))]);
    assert.deepEqual(each, [...all, ...all]);
    assert.deepEqual(paths(), [list]);
  });

  it(`read ${maxSingleReads} keys singly, and one more by a list`, async () => {
    const keys = names(maxSingleReads + 1);
    const reads = await start(keys);
    const [, ...all] = keys;
    await Promise.all(all.map((key) => reads.get(key)));
    assert.deepEqual(
      paths().sort(),
      all.map((key) => `${list}/${key}`),
    );
    await Promise.all(keys.map((key) => reads.get(key)));
    assert.deepEqual(paths().slice(maxSingleReads), [list]);
  });

  it("read the same key, and the global parallelism, once per turn of the event loop", async () => {
    const reads = await start(["a"]);
    const twice = () =>
      Promise.all([reads.get("a"), reads.get("a"), reads.globalParallelism(), reads.globalParallelism()]);
    const [before, same] = await twice();
    assert.equal(before, same);
    platform.setFlowControlKey({ flowControlKey: "a", waitListSize: 77 });
    assert.equal((await twice())[0].waitListSize, 77);
    assert.equal(platform.requests.length, 4);
  });

  it("have the results of single reads, for any keys and any response to the list", async function () {
    const strange = ["a/b", "ü%", "a b", "?x=1#y", "%2F", "emoji 🙂", "__proto__", "constructor"];
    const key = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...strange) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }).map((index) => `key-${index}`) },
      // Inputs that cannot be a part of a path are refused before.
      { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: "binary" }).filter((one) => !pathPartProblem(one)) },
    );
    const record = { flowControlKey: key, waitListSize: fc.nat(), rateMax: fc.nat() };
    const held = fc.uniqueArray(fc.record(record, { requiredKeys: ["flowControlKey"] }), {
      selector: ({ flowControlKey }) => flowControlKey,
      maxLength: 25,
    });
    const response = fc.constantFrom<object | undefined>(
      undefined,
      { status: 403, body: { error: "not yours" } },
      { status: 404 },
      { status: 204 },
      { body: "<html>" },
      { body: { flowControls: 1 } },
      { body: [{ flowControlKey: "key-1", rateCount: "1" }, { rateMax: 1 }, 7, null] },
    );
    const listed = fc.boolean();
    await fc.assert(
      fc.asyncProperty(
        fc.record({ held, asked: fc.array(key, { maxLength: 25 }), response, listed }),
        async (given) => {
          // The local platform has no others.
          const flowControlKeys = given.held.filter(({ flowControlKey }) =>
            /^[\w.-]+$/.test(flowControlKey),
          ) as FlowControlRecord[];
          const platform = await startPlatform({ flowControlKeys });
          try {
            const flowControl = clientOf(platform);
            const singly = await Promise.all(given.asked.map((one) => outcomeOf(flowControl.get(one))));
            if (given.response) platform.failNext({ path: list, ...given.response });
            const reads = new SharedReads(flowControl);
            if (given.listed) void outcomeOf(reads.list());
            assert.deepEqual(await Promise.all(given.asked.map((one) => outcomeOf(reads.get(one)))), singly);
          } finally {
            await platform.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
