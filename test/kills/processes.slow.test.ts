import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { endAll, EngineStack, onEngine, onEngineByAdapter } from "../e2e/engineStack";
import { ended, type Process } from "../support/processes";
import { databasePath } from "../support/resources";
import { until } from "../support/results";

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
