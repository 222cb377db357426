import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { listable } from "../../../provider/doctor/account";
import { type ResourceType } from "../../../provider/engine/resources";
import { type Adapter, adapters, Host, providerNameOf } from "../../support/host";
import { idAt, inputsOf } from "../../support/kinds";
import { settingsFor, databasePath } from "../../support/resources";
import { secretOutputs } from "../../support/secretOutputs";
import { hostCalls, Stack } from "../../support/stack";
import { type Properties, revealed, secretNames, unknown } from "../../support/wire";

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

describe("A Retirement, as each adapter calls it", () => {
  const since = "2026-01-01T00:00:00.000Z";
  const former = { retireHash: "00", since, validFor: "retirement" };
  /** `access` of the token of a queue user, while so many are valid in addition to it. */
  const accessOf = (count: number, formers: readonly object[] = []) => {
    const current = { name: "token", mark: `${count}`, value: "token" };
    const all = formers.length > 0 && { retire: { formers } };
    return JSON.stringify({ id: queueUserId, of: "QueueTokenRotation", count, salt: "salt", current, ...all });
  };
  const one = accessOf(1);
  const two = accessOf(2, [former]);
  const saved = { access: one, credential: "before" };

  for (const adapter of adapters) {
    it(`is replaced while a former one waits, and hands its credential over in previews: ${adapter}`, async () => {
      const host = await Host.start({ adapter });
      const calls = hostCalls(host, "retirement");
      const cases = {
        "nothing has changed": [saved, saved, "same"],
        "another credential": [saved, { ...saved, credential: "after" }, "update"],
        "another access": [saved, { ...saved, access: accessOf(2) }, "update"],
        "one waits now": [saved, { access: two, credential: "after" }, "replace"],
        "one has waited": [{ ...saved, access: two }, { ...saved, access: accessOf(2) }, "replace"],
        "an old access, which ignoreChanges sends back": [
          { ...saved, access: two },
          { ...saved, access: two },
          "replace",
        ],
      } satisfies Record<string, readonly [Properties, Properties, string]>;
      try {
        for (const [title, [before, inputs, did]] of Object.entries(cases)) {
          const stack = new Stack(calls);
          await stack.up(before);
          assert.deepEqual(secretNames(stack.saved?.outputs ?? {}), ["access", "credential"]);
          const previewed = await stack.preview(inputs);
          assert.equal(previewed.did, did, title);
          if (calls.previews) {
            const { credential, retires } = revealed(previewed.outputs);
            assert.deepEqual([credential, retires === unknown], [inputs["credential"], did === "replace"], title);
          }
          await stack.up(inputs);
          const { subject, access, credential, retires } = stack.plain;
          assert.deepEqual({ subject, access, credential }, { subject: "retirement", ...inputs }, title);
          assert.equal(retires, did === "replace" && inputs.access === two ? since : undefined, title);
        }
      } finally {
        await host.stop();
      }
    });
  }
});
