import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { type EngineEvent } from "@pulumi/pulumi/automation";
import { leaksOf } from "../support/canaries";
import { EngineStack, fails, onEngineByAdapter, type Program, succeeds } from "../support/engineStack";
import { Folder } from "../support/folder";
import { textsBelow } from "../support/files";
import { databasePath } from "../support/resources";
import { withoutSecrets } from "../support/wire";

const management = "canary-management-7c1f";
const queue = "canary-queue-91ab";
const trigger = "canary-version-55d0";
const ids = ["db-quickstart", "db-a", "db-b"];

onEngineByAdapter("Secrets", (adapter) => {
  it("are in no state file, in no argument of a process and in nothing that is printed", async () => {
    let round = 1;
    const program: Program = ({ FlowControlReset, PasswordRotation, PasswordRotationFleet }) => {
      const version = new pulumi.Config().requireSecret("version");
      const { password } = new PasswordRotation("cache", { databaseId: "db-quickstart", version: round });
      new FlowControlReset("orders", { flowControlKey: "orders", version });
      const databases = version.apply((one) => ({
        a: { databaseId: "db-a" },
        b: { databaseId: "db-b", version: `${one}${round}` },
      }));
      new PasswordRotationFleet("fleet", { databases, version });
      return { password };
    };
    let processes = "";
    const stack = await EngineStack.start(program, {
      adapter,
      platform: {
        ...{ username: "admin", password: management, queueToken: queue },
        ...{ databases: ids, credentials: "read", databasePath },
        onRequest: () => processes.length < 9_999 && (processes += JSON.stringify(stack.processes)),
      },
      config: { version: { secret: trigger }, "rekey:databasePath": databasePath, "rekey:deadlineSeconds": "2" },
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
    const first = await stack.up();
    note("after the first up");
    const { password } = platform.database("db-quickstart");
    assert.deepEqual(first.outputs["password"], { value: password, secret: true }, first.printed);

    round = 2;
    const error = `Basic ${management} ${queue} ${password} ${platform.database("db-b").password}`;
    platform.failNext({ path: /reset-password/, status: 500, times: 2, body: { error } });
    platform.failNext({ path: /redis\/database\/db-b/, status: 400, body: { error } });
    await platform.changePassword("db-a");
    note("after the change outside");
    const results = [first, await stack.preview(), await stack.refresh(), await stack.up()];
    assert.match(results[2]?.printed ?? "", /outside of Rekey.*message not shown|message not shown.*outside of Rekey/s);
    const exported = JSON.stringify(await stack.saved());
    results.push(await stack.destroy());
    note("in the end");
    assert.match(processes, adapter === "plugin" ? /plugin\/main\.js/ : /dynamic-provider/);
    const files = textsBelow(stack.directory);
    assert.ok(
      files.some((text) => text.includes("/backend/.pulumi/backups/")),
      "there are backups",
    );
    const shown = [processes, ...results.map(({ printed }) => printed), exported, ...files].join("\n");
    assert.deepEqual(leaksOf(shown, canaries), []);
  });

  it("are not shown when an input that holds one is refused", async () => {
    const { secret } = pulumi;
    const refused: readonly object[] = [
      { version: secret({ a: trigger }) },
      { triggers: { a: secret({ b: trigger }) } },
    ];
    for (const args of refused) {
      const stack = await EngineStack.start(
        ({ PasswordRotation }) => void new PasswordRotation("cache", { databaseId: "db-quickstart", ...args }),
        { adapter },
      );
      const { printed } = await fails(stack.preview(), /problem: (version|triggers) must /);
      assert.deepEqual(leaksOf(printed, { trigger }), []);
    }
  });

  it("are in the engine's debug events alone, and are marked wherever the engine gets them", async () => {
    const grpcLog = new Folder().path("grpc.json");
    const stack = await EngineStack.start(
      ({ FlowControlReset, PasswordRotation, PasswordRotationFleet }) => {
        const version = pulumi.secret(trigger);
        const { password } = new PasswordRotation("cache", { databaseId: "db-quickstart", version });
        new PasswordRotationFleet("fleet", { databases: { sessions: { databaseId: "db-sessions" } }, version });
        new FlowControlReset("orders", { flowControlKey: "orders", version });
        return { password };
      },
      {
        adapter,
        platform: { username: "admin", password: management, credentials: "always" },
        environment: { PULUMI_DEBUG_GRPC: grpcLog },
      },
    );
    const events: EngineEvent[] = [];
    const { printed } = await succeeds(stack.up({ onEvent: (event) => void events.push(event) }));
    const { password, restToken } = stack.platform.database("db-quickstart");
    const inFleet = stack.platform.database("db-sessions").password;
    const canaries = { management, trigger, password, restToken, inFleet };
    const isDebug = ({ diagnosticEvent }: EngineEvent): boolean => (diagnosticEvent?.severity as string) === "debug";
    const others = events.filter((event) => !isDebug(event));
    assert.ok(others.length > 0);
    assert.deepEqual(leaksOf(printed + JSON.stringify(others), canaries), []);
    const debug = JSON.stringify(events.filter(isDebug));
    assert.ok(debug.includes(password), "the engine no longer shows secrets: docs/secrets.md may say so");
    const registered = readFileSync(grpcLog, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { method: string; request?: unknown; response?: unknown })
      .filter(({ method }) => /ResourceMonitor\/RegisterResource|ResourceProvider\/Create$/.test(method));
    assert.ok(registered.length >= 6);
    const unmarked = registered.map(({ method, request, response }) =>
      // The engine gives plain inputs to a provider that does not accept secrets.
      withoutSecrets(method.includes("Provider") && adapter === "dynamic" ? { response } : { request, response }),
    );
    assert.deepEqual(leaksOf(JSON.stringify(unmarked), canaries), []);
  });
});
