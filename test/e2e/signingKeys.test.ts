import assert from "node:assert/strict";
import { Receiver } from "@upstash/qstash";
import { SigningKeyRotation, type SigningKeyRotationArgs } from "pulumi-rekey";
import { queue } from "../local/platform/client";
import { Destination } from "../local/platform/queue/destination";
import { fails, type Result, succeeds, valuesOf } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

describe("A program with a SigningKeyRotation", () => {
  let destination: Destination;
  let stack: TestStack;
  let args: SigningKeyRotationArgs;
  beforeEach(async () => {
    args = { version: 1, initialRotation: false };
    destination = await new Destination().start();
    const program = () => {
      const { currentKey, nextKey, generatedAt } = new SigningKeyRotation("keys", args);
      return { currentKey, nextKey, generatedAt };
    };
    stack = await TestStack.start(program, { credentials: "always" });
  });
  afterEach(async () => {
    await destination.close();
    await closePlatforms();
  });

  const up = (next: Partial<SigningKeyRotationArgs> = {}) => {
    args = { ...args, ...next };
    return succeeds(stack.up());
  };

  /** Whether a receiver that was deployed with the outputs of an `up` accepts a message that is published now. */
  const accepts = async (deployed: Result): Promise<boolean> => {
    const nth = destination.deliveries.length;
    await queue(stack.platform, "POST", `/publish/${destination.url}/hook`, { body: `message ${nth}` });
    await destination.arrived(nth + 1);
    const { headers, body } = destination.deliveries[nth]!;
    const { currentKey, nextKey } = valuesOf(deployed) as Readonly<Record<string, string>>;
    const keys = { currentSigningKey: currentKey!, nextSigningKey: nextKey!, devMode: false };
    const request = { signature: String(headers["upstash-signature"]), body, url: `${destination.url}/hook` };
    return new Receiver(keys).verify(request).catch(() => false);
  };
  const acceptAll = async (...deployed: Result[]) => {
    const all: boolean[] = [];
    for (const one of deployed) all.push(await accepts(one));
    return all;
  };

  it("rolls without an outage; a second roll at once is refused, and would be one; both keys that leaked are gone", async () => {
    const leaked = Object.values(stack.platform.signingKeys);
    const adopted = await up();
    const rolled = await up({ version: 2 });
    assert.deepEqual(await acceptAll(adopted, rolled), [true, true]);
    args = { ...args, version: 3 };
    const { printed } = await stack.preview();
    assert.match(printed, /The pair of signing keys is not rolled: it was, or may have been, rolled at/);
    await fails(stack.up(), /REKEY_ROLLED_RECENTLY/);
    assert.equal(stack.platform.signingKeys.rolls, 1);
    const again = await up({ minInterval: "0s" });
    const { current, next, rolls } = stack.platform.signingKeys;
    assert.equal(rolls, 2);
    assert.ok(![current, next].some((key) => leaked.includes(key)));
    assert.deepEqual(await acceptAll(adopted, rolled, again), [false, true, true]);
    assert.equal(typeof valuesOf(again)["generatedAt"], "string");
  });

  it("shown by reads only are rolled without a line that sounds like an incident", async () => {
    const hiding = await TestStack.start(() => ({ keys: new SigningKeyRotation("keys", { version: 1 }).currentKey }), {
      credentials: "read",
    });
    const result = await succeeds(hiding.up());
    assert.equal(valuesOf(result)["keys"], hiding.platform.signingKeys.current);
    assert.doesNotMatch(result.printed, /not confirm|does not know/);
    assert.match(result.printed, /Rolls the pair of signing keys/);
  });
});
