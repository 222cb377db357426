import assert from "node:assert/strict";
import { succeeds, valuesOf } from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";

const counts = { waitListSize: 7, parallelismMax: 3, parallelismCount: 3, rateMax: 10, rateCount: 9 };
const flags = { isPaused: false, isPinnedParallelism: false, isPinnedRate: false };
const key = { flowControlKey: "orders", ...counts, ...flags };

/** A program with a reset of the given version, and every data source after it. */
const resetting = (version: string): string => `
const pulumi = require("@pulumi/pulumi");
const { FlowControlReset, getFlowControlKey, getFlowControlKeyOutput, getFlowControlKeysOutput,
  getGlobalParallelismOutput } = require("pulumi-rekey");
class Group extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Group", name);
    this.reset = new FlowControlReset("orders", { flowControlKey: "orders", version: ${version} }, { parent: this });
    this.registerOutputs({});
  }
}
const group = new Group("group");
exports.before = group.reset.before;
exports.after = group.reset.after;
exports.count = group.reset.resetCount;
exports.read = getFlowControlKeyOutput({ flowControlKey: group.reset.flowControlKey }, { dependsOn: group });
exports.missing = getFlowControlKey({ flowControlKey: "missing" });
exports.found = getFlowControlKeysOutput({ search: "ord" }, { dependsOn: [group] }).apply(({ keys }) => keys.map((key) => key.flowControlKey));
exports.parallelismMax = getGlobalParallelismOutput({ dependsOn: group }).parallelismMax;`;

onEngines("Flow control", (engine) => {
  it("is reset once for one trigger, and read after the reset as stack outputs", async () => {
    const { platform, project, stack } = await fixture(engine, resetting("1"), { flowControlKeys: [key, "emails"] });
    const assertResets = (count: number) =>
      assert.equal(platform.requests.filter(({ method }) => method === "POST").length, count);
    await succeeds(stack.preview());
    assertResets(0);
    assert.equal(platform.requests.filter(({ path }) => path.includes("missing")).length, 1);

    const { after, read, ...others } = valuesOf(await succeeds(stack.up()));
    const { ratePeriodStart, ...counters } = after as Record<string, unknown>;
    assert.equal(typeof ratePeriodStart, "number");
    assert.deepEqual(counters, { ...key, exists: true, parallelismCount: 0, rateCount: 0 });
    assert.deepEqual(read, after, "read after everything inside the component was done");
    const none = { exists: false, waitListSize: 0, parallelismCount: 0, rateCount: 0 };
    assert.deepEqual(others, {
      before: { ...key, exists: true },
      count: 1,
      missing: { flowControlKey: "missing", ...none },
      found: ["orders"],
      parallelismMax: 100,
    });
    await stack.up();
    await stack.refresh();
    assertResets(1);
    project.rewrite(resetting("2"));
    platform.setFlowControlKey(key);
    const again = valuesOf(await stack.up());
    assertResets(2);
    const { rateCount } = again["read"] as { rateCount: number };
    assert.deepEqual({ count: again["count"], rateCount }, { count: 2, rateCount: 0 }, "an update is waited for, too");
    await stack.destroy();
    assertResets(2);
  });
});
