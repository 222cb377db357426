import assert from "node:assert/strict";
import { withRedis } from "../support/redis";
import { type Adapter } from "../support/host";
import { assertFields } from "../support/results";
import { EngineStack, fails, onEngineByAdapter, succeeds } from "./engineStack";
import { accepted, kinds, none, refused, Scenario, stackOptions } from "./noOutage";

const describeProgram = (adapter: Adapter): void => {
  let scenario: Scenario;
  let stack: EngineStack;
  beforeEach(async () => {
    scenario = await Scenario.start();
    stack = await EngineStack.start(scenario.program, { adapter, ...stackOptions });
    scenario.connect(stack.platform);
  });
  afterEach(() => scenario.end());

  /** An `up` that rotates, hands over and retires, after which only what was handed over is accepted. */
  const rotate = async (args: object): Promise<void> => {
    const former = scenario.deployed;
    scenario.args = { ...scenario.args, ...args };
    await succeeds(stack.up());
    assert.deepEqual(scenario.failures, none);
    assert.notDeepEqual(scenario.deployed, former);
    assert.deepEqual(await scenario.accepted(former), refused);
    assert.deepEqual(await scenario.accepted(scenario.deployed), accepted);
  };

  it("refuses none of 1,000 attempts of each kind, and afterwards the former secrets", async () => {
    await rotate({});
    await rotate({ rotatedSince: new Date().toISOString() });
    for (let version = 2; kinds.some((kind) => scenario.attempts[kind] < 1_000) || version === 2; version++) {
      await rotate({ version });
      for (const kind of kinds) {
        assertFields(await stack.outputsOf(kind), { rotationCount: version + 1, rotationReason: "trigger" });
        const { formerRetiredAt, ...proof } = await stack.outputsOf(`${kind}-proof`);
        assertFields(proof, { verified: true, formerRefused: true });
        assert.ok(formerRetiredAt, kind);
      }
    }
  });

  it("retires nothing if the deployment fails, and the night after it hands over and retires", async () => {
    await rotate({});
    const former = scenario.deployed;
    scenario.args = { version: 2 };
    scenario.isBroken = true;
    await fails(stack.up(), /the deployment has failed/);
    const { connectionUrl } = await stack.outputsOf("app");
    const { token } = await stack.outputsOf("queue");
    const added = { app: String(connectionUrl), queue: String(token) };
    assert.deepEqual(await scenario.accepted(former), accepted);
    assert.deepEqual(await scenario.accepted(added), accepted);
    assert.deepEqual(scenario.deployed, former);
    scenario.isBroken = false;
    await rotate({});
    assert.deepEqual(scenario.deployed, added);
  });
};

withRedis("With clients that connect again and again", () => {
  onEngineByAdapter("a program that hands over and then retires", describeProgram);
});
