import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { leaksOf } from "../support/canaries";
import { pulumiCli } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { onEngine, scene } from "../support/onEngines";

const management = "canary-management-7c1f";
const version = "canary-version-55d0";
const source = `
const pulumi = require("@pulumi/pulumi");
const { FlowControlReset, PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const version = pulumi.secret("${version}");
exports.password = new PasswordRotation("cache", { databaseId: "db-quickstart", version }).password;
new PasswordRotationFleet("fleet", { databases: ["db-sessions"], version });
new FlowControlReset("orders", { flowControlKey: "orders", version });`;

/** What docs/secrets.md says of the engine's switches that show secrets. */
onEngine(pulumiCli, "Secrets and the switches of the pulumi CLI", (engine) => {
  it("stand in the debug lines of --json alone, and are marked wherever the engine gets them", async () => {
    const { platform, project } = await scene(engine, source, {
      username: "admin",
      password: management,
      credentialsInResponse: "always",
    });
    const grpcLog = project.path("grpc.json");
    const command = ["up", "--yes", "--skip-preview", "--stack", "dev", "--json"];
    const { code, printed } = await runEngine(engine, command, project.directory, { PULUMI_DEBUG_GRPC: grpcLog });
    assert.equal(code, 0, printed);
    const { password, restToken } = platform.database("db-quickstart");
    const canaries = { management, version, password, restToken, inFleet: platform.database("db-sessions").password };

    const lines = printed.split("\n").filter((line) => line.startsWith("{"));
    const [debug, others] = [true, false].map((wanted) => lines.filter((line) => isDebug(line) === wanted).join("\n"));
    assert.deepEqual(leaksOf(others ?? "", canaries), []);
    assert.ok(debug?.includes(password), "the engine no longer shows secrets: docs/secrets.md may say so");

    const calls = readFileSync(grpcLog, "utf8").trim().split("\n");
    const registered = calls
      .map((line) => JSON.parse(line) as Call)
      .filter(({ method }) => /ResourceMonitor\/RegisterResource|ResourceProvider\/Create$/.test(method));
    assert.ok(registered.length >= 6);
    const unmarked = registered.map(({ method, request, response }) =>
      // The engine gives a provider that takes no secrets plain inputs.
      withoutSecrets(method.includes("Provider") ? response : { request, response }),
    );
    assert.deepEqual(leaksOf(JSON.stringify(unmarked), canaries), []);
  });
});

interface Call {
  readonly method: string;
  readonly request?: unknown;
  readonly response?: unknown;
}

function isDebug(line: string): boolean {
  const { diagnosticEvent } = JSON.parse(line) as { diagnosticEvent?: { severity: string } };
  return diagnosticEvent?.severity === "debug";
}

/** A value without all that is marked as a secret. */
function withoutSecrets(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    const isSecret = typeof inner === "object" && inner !== null && "4dabf18193072939515e22adb298388d" in inner;
    return isSecret ? "[secret]" : inner;
  });
  return text === undefined ? undefined : JSON.parse(text);
}
