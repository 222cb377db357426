import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { listable } from "../../../provider/doctor/account";
import { type ResourceType } from "../../../provider/engine/resources";
import { type Adapter, adapters, Host, providerNameOf, providerTexts } from "../../support/host";
import { idAt, inputsOf } from "../../support/kinds";
import { settingsFor, databasePath } from "../../support/resources";
import { secretOutputs } from "../../support/secretOutputs";
import { hostCalls, Stack } from "../../support/stack";
import { type Properties, secretNames, unknown } from "../../support/wire";

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** The inputs of each resource in a first and in a second version of a program. Each of them sends one change. */
async function programsOf(platform: Platform): Promise<[ResourceType, Properties, Properties][]> {
  const rotations = listable.map(async (kind): Promise<[ResourceType, Properties, Properties]> => {
    const own = inputsOf(kind, await idAt(platform, kind));
    return [kind.name, { ...own, rotateEvery: "30d" }, { ...own, triggers: { a: 1 } }];
  });
  const orders = { flowControlKey: "orders" };
  return [
    ...(await Promise.all(rotations)),
    [
      "PasswordRotationFleet",
      { databases: { one: "in-fleet" }, rotateEvery: "30d" },
      { databases: { two: { databaseId: "in-fleet", version: 2 } } },
    ],
    ["FlowControlReset", orders, { ...orders, version: 2 }],
    ["FlowControlLimits", { ...orders, parallelism: 3 }, { ...orders, parallelism: 4 }],
  ];
}

/** What a run of each version, with a refresh after it, saves; credentials and times differ from run to run. */
async function walk(adapter: Adapter, platform: Platform): Promise<unknown[]> {
  const settings = settingsFor(platform, { databasePath, queueUserId, queueToken: undefined });
  const host = await Host.start({ adapter, settings });
  const changes = () => platform.requests.filter(({ method }) => method !== "GET").length;
  const seen: unknown[] = [];
  try {
    for (const [type, first, second] of await programsOf(platform)) {
      const before = changes();
      const stack = new Stack(hostCalls(host, providerNameOf(type)));
      for (const inputs of [first, second]) {
        const { did } = await stack.up(inputs);
        const marks = secretNames(stack.saved?.outputs ?? {});
        const { __provider: _given, ...saved } = stack.plain;
        const secrets = secretOutputs[type].filter((name) => name in saved);
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
      assert.equal(changes() - before, 2, type);
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

describe("retireFormerAfter, as each adapter checks it", () => {
  const notAList =
    /retireFormerAfter must be a list of what uses the secret, such as \[deployment\.urn\]; for a time, set overlap\. .*REKEY_INPUT_INVALID/;
  /** The input, and what the adapter returns in its place, or why it refuses it. */
  const cases: Readonly<Record<string, { input: Properties; saved?: Properties; gives: unknown }>> = {
    "a list": { input: { retireFormerAfter: ["urn", 1, null] }, gives: true },
    "a list of what is not known yet": { input: { retireFormerAfter: [unknown] }, gives: true },
    "a list that is not known yet": { input: { retireFormerAfter: unknown }, gives: unknown },
    "no list": { input: {}, saved: { retireFormerAfter: true }, gives: undefined },
    "what it has returned, which ignoreChanges sends back": {
      input: { retireFormerAfter: true },
      saved: { retireFormerAfter: true },
      gives: true,
    },
    "true, from a program": { input: { retireFormerAfter: true }, gives: notAList },
    "a duration": { input: { retireFormerAfter: "24h" }, gives: notAList },
    "an empty list": { input: { retireFormerAfter: [] }, gives: notAList },
    "its former name": {
      input: { retireFormer: true },
      gives: /retireFormer is not an argument \(.*retireFormerAfter\)/,
    },
  };
  for (const adapter of adapters) {
    it(`gives true in place of a list, and refuses what is none: ${adapter}`, async () => {
      const host = await Host.start({ adapter });
      const own = { access: unknown, __provider: providerTexts.credentialVerification };
      try {
        for (const [title, { input, saved, gives }] of Object.entries(cases)) {
          const call = host.check({ ...own, ...input }, saved && { ...own, ...saved });
          const refused = ({ message }: Error) => ({ inputs: {} as Properties, problems: [message] });
          const { inputs, problems } = await call.catch(refused);
          if (gives instanceof RegExp) assert.match(problems.join(), gives, title);
          else assert.deepEqual([problems, inputs["retireFormerAfter"]], [[], gives], title);
        }
      } finally {
        await host.stop();
      }
    });
  }
});
