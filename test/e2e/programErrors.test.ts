import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fails, succeeds } from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";

/** Fails in each way in which an error of Rekey can end a program, and records the processor time that it took. */
const program = `
const pulumi = require("@pulumi/pulumi");
const { writeFileSync } = require("node:fs");
const { FlowControlReset, getFlowControlKey, getFlowControlKeyOutput, getFlowControlKeys,
  getGlobalParallelismOutput } = require("pulumi-rekey");
process.once("exit", () => writeFileSync("cpu.json", JSON.stringify(process.cpuUsage())));
module.exports = async () => {
  const key = (flowControlKey) => getFlowControlKeyOutput({ flowControlKey });
  const isExport = getGlobalParallelismOutput();
  const isInput = new FlowControlReset("a", { flowControlKey: "a", version: key("is-input").waitListSize });
  const isApply = pulumi.output(1).apply(() => getFlowControlKey({ flowControlKey: "is-apply" }));
  const isCaught = await getFlowControlKey({ flowControlKey: "is-caught" }).catch(({ code }) => code);
  return { isExport, isInput: isInput.id, isApply, isCaught, isAwaited: await getFlowControlKeys() };
};`;

const purposes = ["list the flow-control keys", '"is-input"', '"is-apply"', "read the global parallelism"];

/** Data sources whose errors arrive before Pulumi waits for them. */
const readsOnly = `
const { getFlowControlKeyOutput, getFlowControlKeysOutput } = require("pulumi-rekey");
exports.keys = getFlowControlKeysOutput().keys;
exports.key = getFlowControlKeyOutput({ flowControlKey: "a" });`;

onEngines("An error of Rekey that ends a program", (engine) => {
  it("is printed once and without a stack trace, and takes no more processor time than a successful run", async () => {
    const { project, stack } = await fixture(engine, program, { flowControlKeys: ["a"] });
    const processorTime = (): number => {
      const { user, system } = JSON.parse(readFileSync(project.path("cpu.json"), "utf8")) as NodeJS.CpuUsage;
      return user + system;
    };
    await succeeds(stack.up());
    const usual = processorTime();
    await stack.setConfig("rekey:queueToken", "wrong", true);
    const { printed } = await fails(stack.up());
    assert.doesNotMatch(printed, /unhandled exception|^ +at /m);
    // The Automation API repeats what the CLI printed.
    const [, diagnostics = ""] = printed.split(/Diagnostics:|CommandError/);
    for (const purpose of purposes) {
      assert.equal(diagnostics.split(`${purpose}: the platform responded with 401`).length - 1, 1, printed);
    }
    // A stack trace would take ten times as much, and more.
    assert.ok(processorTime() < 3 * usual, `${processorTime()} µs after ${usual} µs`);
  });

  it("is printed without a warning of Node if it arrives early", async () => {
    const { stack } = await fixture(engine, readsOnly);
    await stack.setConfig("rekey:queueToken", "", true);
    const { printed } = await fails(stack.preview(), /rekey:queueToken must not be empty/);
    assert.doesNotMatch(printed, /PromiseRejectionHandledWarning/);
  });
});
