import assert from "node:assert/strict";
import { startPlatform } from "../../../local/platform/index";
import { PlatformClient } from "../../../provider/run/platformClient";
import { Settings } from "../../../provider/settings/settings";
import { settingsFor } from "../../support/resources";
import { type ResourceType } from "../../../provider/engine/resources";
import { dynamicCalls, pluginCalls } from "../../model/adapterCalls";
import { kindsOfAccount } from "../../../provider/domain/secretKind";
import { inputsOf } from "../../support/kinds";
import { FakeRun } from "../../support/fakeRun";
import { adapters } from "../../support/host";
import { Stack } from "../../support/stack";
import { type Properties } from "../../support/wire";

const upper = "96AD0856-03B1-4EE7-9666-E81ABD0349E1";
const lower = upper.toLowerCase();

for (const adapter of adapters) {
  describe(`${adapter}: an id in another spelling`, () => {
    let fake: FakeRun;
    beforeEach(() => {
      fake = new FakeRun();
      fake.canRead = true;
    });
    const stackOf = (type: ResourceType): Stack => {
      const run = fake.start();
      return new Stack(adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, fake.said));
    };

    for (const kind of kindsOfAccount.filter(({ onlyId }) => onlyId === undefined)) {
      const { name, idInput } = kind;
      it(`is the same ${name}, which keeps the saved one`, async () => {
        const stack = stackOf(name);
        const inputs = (id: string, more: Properties = {}) => ({ ...inputsOf(kind, id), version: 1, ...more });
        await stack.up(inputs(upper));
        const { memory } = stack.plain;
        assert.deepEqual(
          [(await stack.preview(inputs(lower))).did, (await stack.up(inputs(lower))).did],
          ["same", "same"],
        );
        const next = inputs(lower, { version: 2 });
        const { did, outputs } = await stack.preview(next);
        assert.equal(did, "update");
        if (stack.calls.previews) assert.equal(outputs[idInput], upper);
        await stack.up(next);
        await stack.refresh();
        assert.deepEqual([stack.saved?.id, stack.plain[idInput]], [upper, upper]);
        assert.notEqual(stack.plain["memory"], memory);
        assert.deepEqual(new Set([...fake.resets, ...fake.reads]), new Set([upper]));
        assert.equal(fake.resets.length, 2);
        // Another id is another one.
        assert.equal((await stack.preview(inputs(lower.replace("96", "97")))).did, "replace");
      });
    }

    it("is another flow-control key, because a key is any text", async () => {
      const stack = stackOf("FlowControlReset");
      await stack.up({ flowControlKey: upper });
      assert.equal((await stack.preview({ flowControlKey: lower })).did, "replace");
    });
  });
}

describe("rekey:queueUserId in another spelling", () => {
  it("is the queue user that was reset: the new token is used without a read", async () => {
    const platform = await startPlatform({ flowControlKeys: ["orders"] });
    const [[id, { token }] = assert.fail()] = platform.queueUsers;
    const settings: Readonly<Record<string, unknown>> = settingsFor(platform, { queueUserId: id.toUpperCase() });
    const client = new PlatformClient(new Settings((name) => settings[name] as string | undefined));
    client.useQueueToken(id.toLowerCase(), token);
    await client.flowControl.get("orders");
    assert.deepEqual(
      platform.requests.map(({ path }) => path),
      ["/v2/flowControl/orders"],
    );
    await platform.close();
  });
});
