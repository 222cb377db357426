import assert from "node:assert/strict";
import { CredentialVerification, QueueTokenRotation } from "pulumi-rekey";
import { type Platform } from "../../local/platform/index";
import { assertFields } from "../support/results";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** Whether the queue accepts tokens. */
async function accepts({ url }: Platform, ...tokens: unknown[]): Promise<boolean[]> {
  const statuses = tokens.map(async (token) => {
    const headers = { authorization: `Bearer ${String(token)}` };
    return (await fetch(`${url}/v2/globalParallelism`, { headers })).ok;
  });
  return Promise.all(statuses);
}

describe("A program with two valid queue tokens", () => {
  let args: Record<string, unknown>;
  let proof: Record<string, unknown>;
  let isBroken: boolean;
  beforeEach(() => {
    args = { version: 1 };
    proof = { retireFormer: true };
    isBroken = false;
  });
  afterEach(closePlatforms);

  const program = () => {
    const { access, token } = new QueueTokenRotation("queue", { queueUserId, ...args });
    const consumer = new Consumer("consumer", { token, broken: isBroken });
    new CredentialVerification("proof", { access, withinSeconds: 1, ...proof }, { dependsOn: consumer });
    return { token };
  };
  const start = async (options = {}) => {
    const stack = await TestStack.start(program, { credentials: "read", ...options });
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    return stack;
  };
  const tokenOf = (stack: TestStack, name = "queue") => stack.saved(name)?.["token"];

  it("adds, proves, hands over, and only then retires", async () => {
    const stack = await start();
    const first = stack.platform.queueToken;
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /token before the current one was retired/);
    const second = tokenOf(stack);
    assert.deepEqual(await accepts(stack.platform, first, second), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    args["version"] = 2;
    isBroken = true;
    await fails(stack.up(), /the consumer is away/);
    const third = tokenOf(stack);
    assert.deepEqual(await accepts(stack.platform, second, third), [true, true]);
    isBroken = false;
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack.platform, second, third), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    assert.deepEqual(stack.posts.map((path) => path.split("/")[3]), [
      "next-token",
      "roll-token",
      "next-token",
      "roll-token",
    ]);
    const { printed: quiet, changes } = await succeeds(stack.up());
    assert.deepEqual(changes, { same: 4 }, quiet);
  });
});
