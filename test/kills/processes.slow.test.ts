import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { endAll, EngineStack, onEngine, onEngineByAdapter, type Rekey } from "../support/engineStack";
import { ended, type Process } from "../support/processes";
import { databasePath } from "../support/resources";
import { until } from "../support/results";
import { InterruptedStack } from "./interruptedStack";

/** A resource of any type. */
class Resource extends pulumi.CustomResource {}

/** Kills the engine. @returns its children: the provider must end by itself */
function killEngine(stack: EngineStack): readonly Process[] {
  const left = stack.kill("engine");
  assert.ok(left !== undefined && left.length > 0);
  return left;
}

// docs/internals/architecture.md, "If the engine is killed".
onEngineByAdapter("The provider of a killed engine", (adapter) => {
  it("ends once the request in flight is finished, and sends nothing that was queued", async () => {
    const databases = ["held", "queued-1", "queued-2"];
    const stack = await EngineStack.start(
      ({ PasswordRotation }) =>
        databases.forEach((databaseId) => void new PasswordRotation(databaseId, { databaseId })),
      { adapter, platform: { databases }, config: { "rekey:maxConcurrency": "1" } },
    );
    stack.platform.failNext({ method: "POST", delayMs: 1_000 });
    const up = stack.up();
    await until(() => stack.platform.requests.length === 1);
    await ended(killEngine(stack));
    await up;
    assert.equal(stack.platform.resetCount, 1);
    assert.equal(stack.platform.requests.length, 1);
  });

  it("ends while it reads a database after a reset", async () => {
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => void new PasswordRotation("sessions", { databaseId: "sessions" }),
      {
        adapter,
        platform: { databases: ["sessions"], credentials: "read", databasePath },
        config: { "rekey:databasePath": databasePath, "rekey:deadlineSeconds": "600" },
      },
    );
    const body = { database_id: "sessions", password: stack.platform.database("sessions").password };
    stack.platform.failNext({ method: "GET", status: 200, body, times: 10_000 });
    const up = stack.up();
    await until(() => stack.platform.requests.filter(({ method }) => method === "GET").length >= 3);
    await ended(killEngine(stack));
    await up;
    assert.equal(stack.platform.resetCount, 1);
  });
});

onEngine("Pulumi's provider host of a killed engine", () => {
  it("ends when another provider in it has finished its work, too", async () => {
    const stack = await EngineStack.start(({ PasswordRotation }) => {
      new PasswordRotation("sessions", { databaseId: "sessions" });
      const url = `${stack.platform.url}/other`;
      const __provider = `exports.handler=()=>({create:async()=>{await fetch("${url}");return{id:"1",outs:{}}}})`;
      new Resource("pulumi-nodejs:dynamic:Other", "other", { __provider });
    });
    stack.platform.failNext({ path: "/other", delayMs: 3_000 });
    stack.platform.failNext({ method: "POST", delayMs: 1_000 });
    const up = stack.up();
    await until(() => stack.platform.requests.length === 2);
    const left = killEngine(stack);
    try {
      await ended(left);
      assert.deepEqual(
        stack.platform.requests.map(({ path }) => path).filter((path) => path === "/other"),
        ["/other"],
      );
    } finally {
      await endAll(left);
      await up;
    }
  });
});

onEngineByAdapter("Limits of a flow-control key", (adapter) => {
  for (const victim of ["engine", "provider"] as const) {
    it(`are completed by the next up, and repeat nothing, after the ${victim} is killed at the first request`, async () => {
      const args = { flowControlKey: "orders", parallelism: 10, rate: 100, period: "1m", paused: true };
      const program = ({ FlowControlLimits }: Rekey) => void new FlowControlLimits("orders", args);
      const interrupted = await InterruptedStack.start([], program, { adapter });
      const sent = () =>
        interrupted.stack.platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
      const prefix = "/v2/flowControl/orders/";
      const killed = await interrupted.up({ victim, at: 1, point: "applied" });
      assert.deepEqual(sent(), [`${prefix}pause`], killed.printed);
      const { succeeded, printed } = await interrupted.up();
      assert.ok(succeeded, printed);
      assert.deepEqual(sent(), [`${prefix}pause`, `${prefix}pin?parallelism=10&rate=100&period=60`]);
      await interrupted.end();
    });
  }
});
