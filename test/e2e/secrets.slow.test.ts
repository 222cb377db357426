import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { leaksOf } from "../support/canaries";
import { type Engine, fails, pluginOnCli, pulumiCli, type StateResource } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { textsBelow } from "../support/files";
import { fixture, onEngines, onEveryEngine, rotating } from "../support/onEngines";
import { descendantsOf } from "../support/processes";
import { withoutSecrets } from "../support/wire";
import { databasePath } from "../support/resources";

const management = "canary-management-7c1f";
const queue = "canary-queue-91ab";
const version = "canary-version-55d0";

const ids = ["db-quickstart", "db-a", "db-b"];

const specs = (engine: Engine): void => {
  it("are in no state file, in no argument of a process and in nothing that is printed", async () => {
    const source = (trigger: number) => `${rotating(`version: ${trigger}`)}
      const { FlowControlReset, PasswordRotationFleet } = require("pulumi-rekey");
      const version = new (require("@pulumi/pulumi").Config)().requireSecret("version");
      new FlowControlReset("orders", { flowControlKey: "orders", version });
      const databases = version.apply((one) => ({ a: "db-a", b: { databaseId: "db-b", version: one + ${trigger} } }));
      const fleet = new PasswordRotationFleet("fleet", { databases, version });
      exports.all = [rotation, fleet];`;
    const credentials = { username: "admin", password: management, queueToken: queue };
    let processes = "";
    const { platform, project, stack } = await fixture(engine, source(1), {
      ...credentials,
      databases: ids,
      credentials: "read",
      databasePath,
      onRequest: () => (processes += JSON.stringify(descendantsOf(process.pid))),
    });
    const canaries: Record<string, string> = { management, queue, version };
    const noteCredentials = (when: string): void => {
      for (const id of ids) {
        const { password, restToken, readOnlyRestToken } = platform.database(id);
        Object.assign(canaries, { [`${id} ${when}`]: password, [`${id} REST ${when}`]: restToken });
        canaries[`${id} read-only REST ${when}`] = readOnlyRestToken;
      }
    };
    noteCredentials("before");
    await stack.setConfig("rekey:databasePath", databasePath);
    await stack.setConfig("rekey:deadlineSeconds", "2");
    await stack.setConfig("version", version, true);
    const first = await stack.up();
    noteCredentials("after the first up");
    const { password } = platform.database("db-quickstart");
    assert.deepEqual(first.outputs["password"], { value: password, secret: true });
    project.rewrite(source(2));
    const error = `Basic ${management} ${queue} ${password} ${platform.database("db-b").password}`;
    platform.failNext({ path: /reset-password/, status: 500, times: 2, body: { error } });
    platform.failNext({ path: /redis\/database\/db-b/, status: 400, body: { error } });
    await platform.changePassword("db-a");
    noteCredentials("after the change outside");
    const results = [first, await stack.preview(), await stack.refresh(), await stack.up()];
    assert.match(
      results[2]?.printed ?? "",
      /outside of Rekey.*400: \[message not shown|400: \[message not shown.*outside of Rekey/s,
    );
    const exported = await stack.exportState();
    const [providerType, prefix] = engine.native ? ["rekey", ""] : ["pulumi-nodejs", "rekey:"];
    const isProvider = ({ urn }: StateResource) => urn.includes(`::pulumi:providers:${providerType}`);
    const provider = exported.deployment.resources?.find(isProvider);
    for (const key of [`${prefix}password`, `${prefix}queueToken`]) {
      const saved = provider?.inputs?.[key] as { ciphertext?: string } | undefined;
      assert.ok(saved?.ciphertext, `${key} is saved with the configuration, encrypted`);
    }
    results.push(await stack.destroy());
    noteCredentials("in the end");
    const printed = results.map((result) => result.printed);
    assert.match(processes, engine.native ? /plugin\/main\.js/ : /dynamic-provider/);
    const shown = [processes, ...printed, JSON.stringify(exported), ...textsBelow(project.directory)].join("\n");
    assert.deepEqual(leaksOf(shown, canaries), []);
  });

  it("are not shown when an input that holds one is refused", async () => {
    const { project, stack } = await fixture(engine, "");
    for (const bad of [`version: secret({ a: "${version}" })`, `triggers: { a: secret({ b: "${version}" }) }`]) {
      project.rewrite(`const { secret } = require("@pulumi/pulumi"); ${rotating(bad)}`);
      const { printed } = await fails(stack.preview(), /problem: (version|triggers) must /);
      assert.deepEqual(leaksOf(printed, { version }), []);
    }
  });
};
onEveryEngine("Secrets", specs);

/** The claims in docs/secrets.md about the engine's options that show secrets. */
const specsOfCli = (engine: Engine): void => {
  it("are in the debug lines of --json alone, and are marked wherever the engine gets them", async () => {
    const source = `${rotating(`version: require("@pulumi/pulumi").secret("${version}")`)}
      const { FlowControlReset, PasswordRotationFleet } = require("pulumi-rekey");
      const version = require("@pulumi/pulumi").secret("${version}");
      new PasswordRotationFleet("fleet", { databases: { sessions: { databaseId: "db-sessions" } }, version });
      new FlowControlReset("orders", { flowControlKey: "orders", version });`;
    const { platform, project } = await fixture(engine, source, {
      username: "admin",
      password: management,
      credentials: "always",
    });
    const grpcLog = project.path("grpc.json");
    const command = ["up", "--yes", "--skip-preview", "--stack", "dev", "--json"];
    const { code, printed } = await runEngine(engine, command, project.directory, { PULUMI_DEBUG_GRPC: grpcLog });
    assert.equal(code, 0, printed);
    const { password, restToken } = platform.database("db-quickstart");
    const canaries = { management, version, password, restToken, inFleet: platform.database("db-sessions").password };

    const lines = printed.split("\n").filter((line) => line.startsWith("{"));
    const others = lines.filter((line) => !isDebug(line)).join("\n");
    assert.deepEqual(leaksOf(others, canaries), []);
    const debug = lines.filter(isDebug).join("\n");
    assert.ok(debug.includes(password), "the engine no longer shows secrets: docs/secrets.md may say so");

    const calls = readFileSync(grpcLog, "utf8").trim().split("\n");
    const registered = calls
      .map((line) => JSON.parse(line) as { method: string; request?: unknown; response?: unknown })
      .filter(({ method }) => /ResourceMonitor\/RegisterResource|ResourceProvider\/Create$/.test(method));
    assert.ok(registered.length >= 6);
    const unmarked = registered.map(({ method, request, response }) =>
      // The engine gives plain inputs to a provider that does not accept secrets.
      withoutSecrets(method.includes("Provider") && !engine.native ? { response } : { request, response }),
    );
    assert.deepEqual(leaksOf(JSON.stringify(unmarked), canaries), []);
  });
};
onEngines("Secrets and the switches", specsOfCli, [pulumiCli, pluginOnCli]);

function isDebug(line: string): boolean {
  const { diagnosticEvent } = JSON.parse(line) as { diagnosticEvent?: { severity: string } };
  return diagnosticEvent?.severity === "debug";
}
