import assert from "node:assert/strict";
import type * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, QueueTokenRotation, Retirement } from "pulumi-rekey";
import { acceptsToken } from "../support/resources";
import { assertFields } from "../support/results";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** Whether the queue accepts tokens. */
const accepts = ({ platform }: TestStack, ...tokens: unknown[]): Promise<boolean[]> =>
  Promise.all(tokens.map((token) => acceptsToken(platform, token)));

/** The operations of next tokens that were sent. */
const sentBy = ({ posts }: TestStack) => posts.map((path) => path.split("/")[3]);
const known = (value: pulumi.Output<string | undefined>) => value.apply((one) => one ?? assert.fail());

describe("A program with two valid queue tokens", () => {
  let args: Record<string, unknown>;
  let retires: boolean;
  beforeEach(() => {
    args = { version: 1 };
    retires = true;
  });
  afterEach(closePlatforms);

  const program = () => {
    const { access, token } = new QueueTokenRotation("queue", { queueUserId, ...args });
    const credential = retires ? new Retirement("handed", { access, credential: known(token) }).credential : token;
    new Consumer("consumer", { credential });
    return { token };
  };
  const start = async (options = {}, of = program as () => unknown) => {
    const stack = await TestStack.start(of, { credentials: "read", ...options });
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    return stack;
  };
  const tokenOf = (stack: TestStack) => stack.saved("queue")?.["token"];
  const handed = (stack: TestStack) => stack.saved("consumer")?.["credential"];

  it("adds, proves, hands over, and only then retires, at the end of a run in which nothing fails", async () => {
    const stack = await start();
    const first = stack.platform.queueToken;
    await succeeds(stack.up());
    const second = tokenOf(stack);
    assert.deepEqual([handed(stack), await accepts(stack, first, second)], [second, [true, true]]);
    // The first up has nothing to delete. The next one does, and the one after it learns that.
    const announced = (await succeeds(stack.preview())).printed;
    assert.match(
      announced,
      /the former token, if it is still valid, is retired at the end of this `up`, after everything/,
    );
    const { printed, changes } = await succeeds(stack.up());
    assert.match(printed, /each former token that waited for its Retirement was retired\.$/m);
    assert.deepEqual(changes, { same: 2, update: 1, replace: 1 });
    assert.deepEqual(await accepts(stack, first, second), [false, true]);
    assert.equal(stack.saved("handed")?.["retires"], stack.saved("queue")?.["formerValidSince"]);
    assert.doesNotMatch((await succeeds(stack.up())).printed, /was retired/);
    assertFields(stack.saved("handed"), { credential: second, retires: undefined });
    assert.deepEqual((await succeeds(stack.up())).changes, { same: 4 });
    assert.deepEqual(sentBy(stack), ["next-token", "roll-token"]);
  });

  it("keeps the former token without a Retirement, and a verification does not try it", async () => {
    const withProof = () => {
      program();
      const { access } = stack.saved("queue") ?? {};
      if (typeof access === "string") new CredentialVerification("proof", { access });
    };
    const stack = await start({}, withProof);
    retires = false;
    const first = stack.platform.queueToken;
    await succeeds(stack.up());
    const { printed } = await succeeds(stack.up());
    assert.match(
      printed,
      /the former token was not tried: it stays valid until a Retirement retires it\. More than one has been valid since/,
    );
    const second = tokenOf(stack);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: undefined });
    retires = true;
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack, first, second), [true, true], "clients did not have it from the Retirement");
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack, first, second), [false, true]);
  });

  describe("at another queue than rekey:queueUrl", () => {
    it("proves and verifies at the address of its region, and takes another one without a request", async () => {
      const stack = await start();
      const queueUrl = stack.platform.url;
      args = { version: 1, queueUrl: `${queueUrl}/` };
      stack.config["rekey:queueUrl"] = "https://queue.invalid";
      const first = stack.platform.queueToken;
      for (let nth = 1; nth <= 3; nth++) await succeeds(stack.up());
      assert.deepEqual(await accepts(stack, first, tokenOf(stack)), [false, true]);
      await succeeds(stack.refresh());
      const { length } = stack.platform.requests;
      assert.deepEqual((await succeeds(stack.up())).changes, { same: 4 });
      args["queueUrl"] = queueUrl;
      await succeeds(stack.up());
      assert.equal(stack.platform.requests.length, length);
      assert.equal((JSON.parse(String(stack.saved("queue")?.["access"])) as { queueUrl: string }).queueUrl, queueUrl);
    });

    it("retires nothing first if the new one could not be proven", async () => {
      const stack = await start();
      retires = false;
      const first = stack.platform.queueToken;
      await succeeds(stack.up());
      delete stack.config["rekey:queueUrl"];
      retires = true;
      args["rotatedSince"] = new Date().toISOString();
      assert.match((await succeeds(stack.preview())).printed, /`up` will fail: rekey:queueUrl is not set\./);
      await fails(stack.up(), /nothing was changed: rekey:queueUrl is not set/);
      assert.deepEqual(await accepts(stack, first, tokenOf(stack)), [true, true]);
    });
  });

  it("refuses an address in plain text, and a token that would be nowhere", async () => {
    const stack = await start();
    for (const [given, says] of [
      [{ queueUrl: "http://queue.example.com" }, /queueUrl must begin with https:\/\/, because credentials/],
      [{ saveCredentials: false }, /saveCredentials must not be false without encryptFor.*overlap: "none"/],
    ] as const) {
      args = given;
      await fails(stack.preview(), says);
    }
    assert.deepEqual(stack.platform.requests, []);
  });

  it("rotates rekey:queueToken, and retires it once the new one is set", async () => {
    const stack = await TestStack.start(program, { credentials: "read" });
    const own = stack.platform.queueToken;
    await succeeds(stack.up());
    assert.match((await succeeds(stack.preview())).printed, /It is rekey:queueToken: the retirement fails until/);
    const isOwn = /was not retired: it is rekey:queueToken.*Set rekey:queueToken to the new one.*TOKEN_IN_USE/s;
    await fails(stack.up(), isOwn);
    assert.deepEqual([stack.replaced, await accepts(stack, own, tokenOf(stack))], [["handed"], [true, true]]);
    stack.config["rekey:queueToken"] = String(tokenOf(stack));
    assert.doesNotMatch((await succeeds(stack.preview())).printed, /It is rekey:queueToken/);
    await succeeds(stack.up());
    assert.deepEqual([stack.replaced, await accepts(stack, own, tokenOf(stack))], [[], [false, true]]);
  });
});
