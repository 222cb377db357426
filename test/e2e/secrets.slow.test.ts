import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { type EngineEvent } from "@pulumi/pulumi/automation";
import { leaksOf } from "../support/canaries";
import { EngineStack, fails, onEngineByAdapter, type Program, succeeds } from "./engineStack";
import { Folder } from "../support/folder";
import { textsBelow } from "../support/files";
import { databasePath } from "../support/resources";
import { withoutSecrets } from "../support/wire";

const management = "canary-management-7c1f";
const queue = "canary-queue-91ab";
const trigger = "canary-version-55d0";
const ids = ["db-quickstart", "db-a", "db-b"];

/** The registrations and creations in the engine's log of its calls, without what is marked as a secret. */
function unmarkedIn(log: string, isPlugin: boolean): string {
  const calls = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { method: string; request?: unknown; response?: unknown })
    .filter(({ method }) => /ResourceMonitor\/RegisterResource|ResourceProvider\/Create$/.test(method));
  assert.ok(calls.length >= 6);
  // The engine gives plain inputs to a provider that does not accept secrets.
  const isMarked = (method: string) => isPlugin || !method.includes("Provider");
  return JSON.stringify(
    calls.map(({ method, request, response }) => withoutSecrets({ request: isMarked(method) && request, response })),
  );
}

onEngineByAdapter("Secrets", (adapter) => {
  it("are in no state file, no argument of a process and nothing that is printed, and are marked for the engine", async () => {
    let round = 1;
    let refusedVersion: object | undefined = { a: trigger };
    const program: Program = ({ FlowControlReset, PasswordRotation, PasswordRotationFleet }) => {
      const { password } = new PasswordRotation("cache", { databaseId: "db-quickstart", version: round });
      const version = refusedVersion
        ? pulumi.secret(refusedVersion as never)
        : new pulumi.Config().requireSecret("version");
      new FlowControlReset("orders", { flowControlKey: "orders", version });
      const databases = version.apply((one) => ({
        a: { databaseId: "db-a" },
        b: { databaseId: "db-b", version: `${one}${round}` },
      }));
      new PasswordRotationFleet("fleet", { databases, version });
      return { password };
    };
    let processes = "";
    const logs = new Folder();
    const log = logs.path("grpc.json");
    const stack = await EngineStack.start(program, {
      adapter,
      platform: {
        ...{ username: "admin", password: management, queueToken: queue },
        ...{ databases: ids, credentials: "read", databasePath },
        onRequest: () => processes.length < 9_999 && (processes += JSON.stringify(stack.processes)),
      },
      config: { version: { secret: trigger }, "rekey:databasePath": databasePath },
      environment: { PULUMI_DEBUG_GRPC: log },
    });
    const { platform } = stack;
    const canaries: Record<string, string> = { management, queue, trigger };
    const note = (when: string): void => {
      for (const id of ids) {
        const { password, restToken, readOnlyRestToken } = platform.database(id);
        const all = Object.entries({ password, restToken, readOnlyRestToken });
        for (const [name, value] of all) canaries[`${name} of ${id} ${when}`] = value;
      }
    };
    note("before");
    const refused = await fails(stack.preview(), /problem: version must /);
    refusedVersion = undefined;
    const events: EngineEvent[] = [];
    const first = await succeeds(stack.up({ onEvent: (event) => void events.push(event) }));
    note("after the first up");
    const { password } = platform.database("db-quickstart");
    assert.deepEqual(first.outputs["password"], { value: password, secret: true }, first.printed);
    const isDebug = ({ diagnosticEvent }: EngineEvent): boolean => (diagnosticEvent?.severity as string) === "debug";
    const others = JSON.stringify(events.filter((event) => !isDebug(event)));
    const debug = JSON.stringify(events.filter(isDebug));
    assert.ok(debug.includes(password), "the engine no longer shows secrets: docs/secrets.md may say so");
    const unmarked = unmarkedIn(log, adapter === "plugin");

    round = 2;
    await stack.configure({ "rekey:deadlineSeconds": "5" });
    const error = `Basic ${management} ${queue} ${password} ${platform.database("db-b").password}`;
    platform.failNext({ path: /reset-password/, status: 500, times: 2, body: { error } });
    platform.failNext({ path: /redis\/database\/db-b/, status: 400, body: { error } });
    await platform.changePassword("db-a");
    note("after the change outside");
    const results = [refused, first, await stack.preview(), await stack.refresh(), await stack.up()];
    assert.match(results[3]?.printed ?? "", /outside of Rekey.*message not shown|message not shown.*outside of Rekey/s);
    const exported = (await stack.run("stack", "export")).output;
    results.push(await stack.destroy());
    note("in the end");
    assert.match(processes, adapter === "plugin" ? /plugin\/main\.js/ : /dynamic-provider/);
    const files = textsBelow(stack.directory);
    assert.ok(
      files.some((text) => text.includes("/backend/.pulumi/backups/")),
      "there are backups",
    );
    const printed = results.map((result) => result.printed);
    const shown = [processes, others, unmarked, exported, ...printed, ...files].join("\n");
    logs.remove();
    assert.deepEqual(leaksOf(shown, canaries), []);
  });
});
