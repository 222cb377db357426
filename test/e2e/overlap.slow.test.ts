import assert from "node:assert/strict";
import { type Adapter } from "../support/host";
import { withRedis } from "../support/redis";
import { assertFields } from "../support/results";
import { EngineStack, onEngineByAdapter, succeeds } from "./engineStack";
import { accepted, kinds, none, refused, Scenario, stackOptions } from "./noOutage";

const describeProgram = (adapter: Adapter): void => {
  let scenario: Scenario;
  let stack: EngineStack;
  beforeEach(async () => {
    scenario = await Scenario.start();
    scenario.retires = "never";
    stack = await EngineStack.start(scenario.program, { adapter, ...stackOptions });
    scenario.connect(stack.platform);
  });
  afterEach(() => scenario.end());

  /** An `up` that refuses no client. @returns what it has printed, and what the clients had before it */
  const up = async (args: Scenario["args"]) => {
    const former = scenario.deployed;
    scenario.args = args;
    const { printed } = await succeeds(stack.up());
    assert.deepEqual(scenario.failures, none);
    assert.deepEqual(await scenario.accepted(scenario.deployed), accepted);
    return { printed, former };
  };

  it("says at a destroy that both stay valid, and leaves them, unless its verification has retired one", async () => {
    const { former } = await up({ version: 1 });
    const { printed } = await succeeds(stack.destroy());
    assert.match(printed, /two passwords may stay valid \(since 20.*ACL SETUSER/);
    assert.match(printed, /two tokens may stay valid \(since 20/);
    assert.deepEqual(await scenario.accepted(former), accepted);
    assert.deepEqual(await scenario.accepted(scenario.deployed), accepted);
    scenario.retires = "after";
    await up({ version: 1 });
    assert.doesNotMatch((await succeeds(stack.destroy())).printed, /stay valid/);
  });

  it("says in a refresh what someone else has replaced", async () => {
    const { former } = await up({ version: 1 });
    await scenario.replaceAll(stack.platform);
    const { printed } = await succeeds(stack.refresh());
    assert.match(printed, /does not have the current password any more.*Set a new version/);
    assert.match(printed, /The token of .* was changed outside of Rekey/);
    for (const kind of kinds) assertFields(await stack.outputsOf(kind), { formerValidSince: undefined });
    assert.deepEqual(await scenario.accepted(former), refused);
  });
};

withRedis("A program of which two secrets are valid", () => {
  onEngineByAdapter("with the clients of both", describeProgram);
});
