import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { type ResourceType } from "../../../provider/engine/resources";
import { type Adapter, Host, type providerTexts } from "../../support/host";
import { settingsFor, databasePath } from "../../support/resources";
import { secretOutputs } from "../../support/secretOutputs";
import { hostCalls, Stack } from "../../support/stack";
import { type Properties, secretNames } from "../../support/wire";

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** The inputs of each resource in a first and in a second version of a program. Each of them sends one change. */
const programs: Readonly<Partial<Record<ResourceType, readonly [first: Properties, second: Properties]>>> = {
  PasswordRotation: [
    { databaseId: "db", version: 1, rotateEvery: "30d" },
    { databaseId: "db", version: 2 },
  ],
  VectorTokenRotation: [
    { indexId: "idx-vectors", version: 1 },
    { indexId: "idx-vectors", triggers: { a: 1 } },
  ],
  SearchTokenRotation: [{ indexId: "idx-search" }, { indexId: "idx-search", version: 2 }],
  QueueTokenRotation: [{ queueUserId }, { queueUserId, version: 2 }],
  SigningKeyRotation: [{ minInterval: "0s" }, { minInterval: "0s", version: 2 }],
  PasswordRotationFleet: [
    { databases: { one: "in-fleet" }, rotateEvery: "30d" },
    { databases: { two: { databaseId: "in-fleet", version: 2 } } },
  ],
  FlowControlReset: [{ flowControlKey: "orders" }, { flowControlKey: "orders", version: 2 }],
  FlowControlLimits: [
    { flowControlKey: "orders", parallelism: 3 },
    { flowControlKey: "orders", parallelism: 4 },
  ],
};

/** What a run of each version, with a refresh after it, saves; credentials and times differ from run to run. */
async function walk(adapter: Adapter, platform: Platform): Promise<unknown[]> {
  const settings = settingsFor(platform, { databasePath, queueUserId, queueToken: undefined });
  // Without a next pair of another walk, whose age would not be known.
  platform.changeQueueUserTokens(queueUserId);
  const host = await Host.start({ adapter, settings });
  const changes = () => platform.requests.filter(({ method }) => method !== "GET").length;
  const seen: unknown[] = [];
  try {
    for (const [type, [first, second]] of Object.entries(programs)) {
      const before = changes();
      const provider = `${type.slice(0, 1).toLowerCase()}${type.slice(1)}` as keyof typeof providerTexts;
      const stack = new Stack(hostCalls(host, provider));
      for (const inputs of [first, second]) {
        const { did } = await stack.up(inputs);
        const marks = secretNames(stack.saved?.outputs ?? {});
        const { __provider: _given, ...saved } = stack.plain;
        const secrets = secretOutputs[type as ResourceType].filter((name) => name in saved);
        assert.deepEqual(marks, secrets, type);
        assert.equal((await stack.up(inputs)).did, "same", type);
        // It remembers what it has shown.
        const { memory: _memory, ...others } = saved;
        const { __provider: _text, memory: _later, ...refreshed } = await stack.refresh();
        assert.deepEqual(refreshed, others, type);
        assert.deepEqual(secretNames(stack.saved?.outputs ?? {}), marks, type);
        seen.push({ type, did, outputs: Object.keys(saved).sort(), marks });
      }
      // What the run has declared stays.
      await stack.destroy();
      // The first queue token is retired before the third one is made.
      assert.equal(changes() - before, type === "QueueTokenRotation" ? 3 : 2, type);
    }
    return seen;
  } finally {
    await host.stop();
  }
}

describe("both adapters", () => {
  let platform: Platform;
  before(async () => {
    platform = await startPlatform({
      databases: ["db", "in-fleet"],
      credentials: "always",
      databasePath,
      flowControlKeys: ["orders"],
    });
  });
  after(() => platform.close());

  it("save the same outputs of each resource, with the same marks, in each call, and nothing else changes them", async () => {
    const [dynamic, plugin] = [await walk("dynamic", platform), await walk("plugin", platform)];
    assert.deepEqual(dynamic, plugin);
  });
});
