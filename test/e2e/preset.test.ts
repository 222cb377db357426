import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../local/index";
import { type Engine, fails, type Stack, succeeds } from "../support/engine";
import { onEngines } from "../support/onEngines";
import { Project } from "../support/project";

const program = `
const { FlowControlReset, getFlowControlKeyOutput, getGlobalParallelismOutput, PasswordRotation } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-1", version: 1 });
const reset = new FlowControlReset("orders", { flowControlKey: "orders", version: 1 }, { dependsOn: rotation });
exports.password = rotation.password;
exports.read = getFlowControlKeyOutput({ flowControlKey: reset.flowControlKey });
exports.global = getGlobalParallelismOutput({ dependsOn: reset });`;

const orders = {
  flowControlKey: "orders",
  waitListSize: 7,
  parallelismMax: 3,
  parallelismCount: 3,
  rateMax: 10,
  rateCount: 9,
  ratePeriod: 3600,
  ratePeriodStart: 1_700_000_000,
};

onEngines("rekey:platform: upstash, with another address", (engine) => {
  let platform: Platform;
  let project: Project;

  beforeEach(async () => {
    platform = await startPlatform({
      databases: ["db-1"],
      flowControlKeys: [orders],
      credentialsInResponse: "always",
    });
    project = new Project(program);
  });
  afterEach(async () => {
    await platform.close();
    project.remove();
  });

  async function open(engine: Engine, environment: Record<string, string>): Promise<Stack> {
    const stack = await engine.open(project.directory, environment);
    await stack.setConfig("rekey:platform", "upstash");
    await stack.setConfig("rekey:baseUrl", platform.url);
    await stack.setConfig("rekey:queueUrl", platform.url);
    return stack;
  }

  it("rotates, resets the rate and reads, by the platform's paths", async () => {
    const stack = await open(engine, {
      REKEY_USERNAME: platform.username,
      REKEY_PASSWORD: platform.password,
      REKEY_QUEUE_TOKEN: platform.queueToken,
    });
    const { outputs } = await succeeds(stack.up());
    assert.deepEqual(outputs["password"], { value: platform.database("db-1").password, secret: true });
    const posted = platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    assert.deepEqual(posted, ["/v2/redis/reset-password/db-1", "/v2/flowControl/orders/resetRate"]);
    const { rateCount, parallelismCount } = outputs["read"]?.value as Record<string, number>;
    assert.deepEqual({ rateCount, parallelismCount }, { rateCount: 0, parallelismCount: 3 });
    assert.deepEqual(outputs["global"]?.value, { parallelismMax: 100, parallelismCount: 3 });
    await succeeds(stack.up());
    assert.equal(platform.database("db-1").resets, 1);
  });

  it("does not send the usual credentials of the platform", async () => {
    const stack = await open(engine, {
      UPSTASH_EMAIL: platform.username,
      UPSTASH_API_KEY: platform.password,
      QSTASH_TOKEN: platform.queueToken,
    });
    await fails(stack.up(), /UPSTASH_\w+ is used only if rekey:baseUrl is.*REKEY_SETTING_MISSING/s);
    assert.deepEqual(platform.requests, []);
  });
});
