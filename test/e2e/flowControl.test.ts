import assert from "node:assert/strict";
import { fails, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

const key = {
  flowControlKey: "orders",
  waitListSize: 7,
  parallelismMax: 3,
  parallelismCount: 3,
  rateMax: 10,
  rateCount: 9,
};

/** A program with a reset of the given version, and every data source after it. */
function resetting(version: string): string {
  return `
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
exports.unknown = getFlowControlKey({ flowControlKey: "nobody" });
exports.found = getFlowControlKeysOutput({ search: "ord" }, { dependsOn: [group] }).apply((keys) => keys.map((key) => key.flowControlKey));
exports.global = getGlobalParallelismOutput({ dependsOn: group });
`;
}

onEngines("Flow control", (engine) => {
  it("is reset once for one trigger, and read after the reset as stack outputs", async () => {
    const { platform, project, stack } = await scene(engine, resetting("1"), { flowControlKeys: [key, "emails"] });
    const resets = (): number => platform.requests.filter(({ method }) => method === "POST").length;
    await succeeds(stack.preview());
    assert.deepEqual([resets(), platform.requests.filter(({ path }) => path.includes("nobody")).length], [0, 1]);
    const { outputs, printed } = await stack.up();
    const reset = { ...key, exists: true, parallelismCount: 0, rateCount: 0 };
    assert.deepEqual(outputs["before"]?.value, { ...key, exists: true }, printed);
    const { ratePeriodStart, ...after } = outputs["after"]?.value as Record<string, unknown>;
    assert.deepEqual([after, typeof ratePeriodStart], [reset, "number"]);
    const read = outputs["read"]?.value;
    assert.deepEqual(read, outputs["after"]?.value, "read after what is inside the component was done");
    assert.deepEqual(outputs["found"]?.value, ["orders"]);
    const global = outputs["global"]?.value as Record<string, number>;
    assert.equal(global["parallelismMax"], 100);
    assert.deepEqual(outputs["unknown"]?.value, {
      flowControlKey: "nobody",
      exists: false,
      waitListSize: 0,
      parallelismCount: 0,
      rateCount: 0,
    });
    await stack.up();
    await stack.refresh();
    assert.equal(resets(), 1);
    project.rewrite(resetting("2"));
    platform.setFlowControlKey(key);
    const again = await stack.up();
    assert.deepEqual([again.outputs["count"]?.value, resets()], [2, 2]);
    const { rateCount } = again.outputs["read"]?.value as { rateCount: number };
    assert.equal(rateCount, 0, "an update, too, is waited for");
    await stack.destroy();
    assert.equal(resets(), 2);
  });

  it("fails with advice where the token is refused, and is reset by the next up", async () => {
    const { platform, stack } = await scene(engine, resetting("1"), { flowControlKeys: [key] });
    await stack.setConfig("rekey:queueToken", "wrong", true);
    await fails(stack.up(), /answered 401.*Check rekey:queueToken/s);
    await stack.setConfig("rekey:queueToken", platform.queueToken, true);
    const { outputs } = await stack.up();
    const after = outputs["after"]?.value as { parallelismCount: number } | undefined;
    assert.deepEqual([outputs["count"]?.value, after?.parallelismCount], [1, 0]);
  });
});
