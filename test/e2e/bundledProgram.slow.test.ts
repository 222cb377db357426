import assert from "node:assert/strict";
import { Team } from "../support/age";
import { bundle } from "../support/bundle";
import { succeeds, valuesOf } from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";
import { Project } from "../support/project";

/** Uses each part of the package that is loaded late: schedules, settings, HTTP, shared reads, encryption. */
const program = (recipient: string) => `
import { FlowControlLimits, FlowControlReset, getFlowControlKeyOutput, getFlowControlKeys, PasswordRotation,
  PasswordRotationFleet, PasswordVerification } from "pulumi-rekey";
const rotation = new PasswordRotation("cache", { databaseId: "db-cache", rotateEvery: "P1M", encryptFor: ["${recipient}"] });
new PasswordRotationFleet("fleet", { databases: { sessions: "db-sessions" } });
new PasswordVerification("cache", { rotation });
new FlowControlLimits("invoices", { flowControlKey: "invoices", parallelism: 2 });
const reset = new FlowControlReset("orders", { flowControlKey: "orders" });
export const { endpoint, nextRotationAt } = rotation;
export const running = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset }).parallelismCount;
export const keys = getFlowControlKeys({ search: "orders" }).then(({ keys }) => keys.length);
`;

onEngines("A program that a bundler has packed into one file", (engine) => {
  for (const [format, main] of [
    ["cjs", "index.js"],
    ["esm", "index.mjs"],
  ] as const) {
    it(`runs as an unpacked one does: ${format}`, async () => {
      const { recipient } = await Team.create();
      const project = new Project(await bundle(program(recipient), format), { main });
      const options = { databases: ["db-cache", "db-sessions"], flowControlKeys: ["orders"] };
      const { platform, stack } = await fixture(engine, project, options);
      const { endpoint, nextRotationAt, ...reads } = valuesOf(await succeeds(stack.up()));
      assert.equal(endpoint, platform.database("db-cache").record["endpoint"]);
      assert.ok(Date.parse(String(nextRotationAt)) > Date.now());
      assert.deepEqual(reads, { running: 0, keys: 1 });
      const { changes } = await succeeds(stack.up());
      assert.deepEqual([changes["create"], changes["update"]], [undefined, undefined]);
      assert.equal(platform.resetCount, 2);
    });
  }
});
