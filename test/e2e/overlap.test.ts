import assert from "node:assert/strict";
import { CredentialVerification, QueueTokenRotation } from "pulumi-rekey";
import { acceptsToken } from "../support/resources";
import { assertFields } from "../support/results";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** Whether the queue accepts tokens. */
const accepts = ({ platform }: TestStack, ...tokens: unknown[]): Promise<boolean[]> =>
  Promise.all(tokens.map((token) => acceptsToken(platform, token)));

describe("A program with two valid queue tokens", () => {
  let args: Record<string, unknown>;
  let retires: boolean;
  let isBroken: boolean;
  beforeEach(() => {
    args = { version: 1 };
    retires = true;
    isBroken = false;
  });
  afterEach(closePlatforms);

  const program = () => {
    const { access, token } = new QueueTokenRotation("queue", { queueUserId, ...args });
    const consumer = new Consumer("consumer", { token, broken: isBroken });
    const retireFormerAfter = retires ? [consumer.urn] : undefined;
    new CredentialVerification("proof", { access, withinSeconds: 1, retireFormerAfter });
    return { token };
  };
  const start = async (options = {}) => {
    const stack = await TestStack.start(program, { credentials: "read", ...options });
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    return stack;
  };
  const tokenOf = (stack: TestStack) => stack.saved("queue")?.["token"];

  it("adds, proves, hands over, and only then retires", async () => {
    const stack = await start();
    const first = stack.platform.queueToken;
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /former token was retired/);
    const second = tokenOf(stack);
    assert.deepEqual(await accepts(stack, first, second), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    args["version"] = 2;
    isBroken = true;
    await fails(stack.up(), /the consumer is away/);
    const third = tokenOf(stack);
    assert.deepEqual(await accepts(stack, second, third), [true, true]);
    isBroken = false;
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack, second, third), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    assert.deepEqual(
      stack.posts.map((path) => path.split("/")[3]),
      ["next-token", "roll-token", "next-token", "roll-token"],
    );
    // It learns what the verification has done, and changes nothing for the consumer.
    const { printed: said, changes } = await succeeds(stack.up());
    assert.match(said, /is read: the former token may still be valid\. Nothing that consumers use changes/);
    assert.deepEqual(changes, { same: 3, update: 1 }, said);
    assertFields(stack.saved("queue"), { formerValidSince: undefined });
    assert.deepEqual((await succeeds(stack.up())).changes, { same: 4 });
  });

  it("keeps the former token without a retirement, and does not try it", async () => {
    const stack = await start();
    retires = false;
    const first = stack.platform.queueToken;
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /the former token was not tried\. Both have been valid since/);
    const second = tokenOf(stack);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: undefined });
    assert.deepEqual(await accepts(stack, first, second), [true, true]);
    retires = true;
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack, first, second), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    const destroyed = await succeeds(stack.destroy());
    assert.doesNotMatch(destroyed.printed, /may stay valid/, "the verification has retired it");
  });

  describe("at a platform that hides tokens", () => {
    const startHidden = async () => {
      const stack = await start({ credentials: "never" });
      await succeeds(stack.up());
      return stack;
    };

    it("rotates again after a verification has retired the former one", async () => {
      const stack = await startHidden();
      const second = tokenOf(stack);
      args = { version: 2 };
      await succeeds(stack.up());
      assert.deepEqual(await accepts(stack, second, tokenOf(stack)), [false, true]);
      assertFields(stack.saved("queue"), { rotationCount: 2 });
    });

    it("waits if someone has prepared another pair meanwhile, and rotates for a date", async () => {
      const stack = await startHidden();
      const { url, username, password } = stack.platform;
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
      await fetch(`${url}/v2/qstash/next-token/${queueUserId}`, { method: "POST", headers: { authorization } });
      args = { version: 2 };
      await succeeds(stack.up());
      assertFields(stack.saved("queue"), { rotationCount: 1 });
      assert.match(String(stack.saved("queue")?.["waits"]), /the former token has been valid, too/);
      args["rotatedSince"] = new Date().toISOString();
      await succeeds(stack.up());
      assertFields(stack.saved("queue"), { rotationCount: 2 });
    });
  });

  describe("at another queue than rekey:queueUrl", () => {
    it("proves and verifies at the address of its region, and takes another one without a request", async () => {
      const stack = await start();
      const queueUrl = stack.platform.url;
      args = { version: 1, queueUrl: `${queueUrl}/` };
      stack.config["rekey:queueUrl"] = "https://queue.invalid";
      const first = stack.platform.queueToken;
      await succeeds(stack.up());
      assert.deepEqual(await accepts(stack, first, tokenOf(stack)), [false, true]);
      assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
      await succeeds(stack.refresh());
      const { length } = stack.platform.requests;
      assert.deepEqual((await succeeds(stack.up())).changes, { same: 4 });
      args["queueUrl"] = queueUrl;
      await succeeds(stack.up());
      assert.equal(stack.platform.requests.length, length);
      assert.equal((JSON.parse(String(stack.saved("queue")?.["access"])) as { queueUrl: string }).queueUrl, queueUrl);
    });

    it("needs none for an adoption, a refresh and `none`, and says in a preview what a rotation will miss", async () => {
      const only = () => new QueueTokenRotation("queue", { queueUserId, ...args });
      const stack = await TestStack.start(only, { credentials: "read" });
      for (const name of ["rekey:queueUrl", "rekey:queueToken"]) delete stack.config[name];
      const first = stack.platform.queueToken;
      args = { initialRotation: false };
      for (const done of [
        await succeeds(stack.preview()),
        await succeeds(stack.up()),
        await succeeds(stack.refresh()),
      ]) {
        assert.doesNotMatch(done.printed, /queueUrl|not read/);
      }
      args = { version: 1, initialRotation: false };
      assert.match(
        (await succeeds(stack.preview())).printed,
        /Token of queue user .*`up` will fail: rekey:queueUrl is not set\./,
      );
      const isMissing =
        /token of queue user .* was not rotated, and nothing was changed: rekey:queueUrl is not set\..*SETTING_MISSING/s;
      await fails(stack.up(), isMissing);
      assert.deepEqual(stack.posts, []);
      args = { version: 1, overlap: "none", initialRotation: false };
      assert.doesNotMatch((await succeeds(stack.preview())).printed, /will fail/);
      await succeeds(stack.up());
      assert.deepEqual(await accepts(stack, first, tokenOf(stack)), [false, true]);
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

  describe("rekey:queueToken", () => {
    const startOwn = () => TestStack.start(program, { credentials: "read" });

    it("can be rotated, and is retired once the new one is set", async () => {
      const stack = await startOwn();
      const own = stack.platform.queueToken;
      const { printed } = await succeeds(stack.up());
      assert.match(printed, /was not retired: it is rekey:queueToken.*Set rekey:queueToken to the new one/);
      assert.deepEqual(await accepts(stack, own, tokenOf(stack)), [true, true]);
      stack.config["rekey:queueToken"] = String(tokenOf(stack));
      await succeeds(stack.up());
      assert.deepEqual(await accepts(stack, own, tokenOf(stack)), [false, true]);
    });

    it("is not retired by a date or a time: that fails, and what was proven is saved", async () => {
      const stack = await startOwn();
      retires = false;
      await succeeds(stack.up());
      const token = tokenOf(stack);
      args = { version: 1, overlap: "none" };
      await succeeds(stack.up());
      await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
      assertFields(stack.saved("queue"), { token, rotationCount: 1 });
      args = { version: 1, rotatedSince: "2026-01-01" };
      retires = true;
      await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
      assert.deepEqual(await accepts(stack, stack.platform.queueToken, token), [true, true]);
    });

    it("fails the verification of a rotation for a date, which has proven the new one", async () => {
      const stack = await startOwn();
      args = { rotatedSince: "2026-01-01", initialRotation: false };
      await fails(
        stack.up(),
        /the new token is accepted, but the former one was not retired.*REKEY_QUEUE_TOKEN_IN_USE/s,
      );
      stack.config["rekey:queueToken"] = String(tokenOf(stack));
      await succeeds(stack.up());
      assertFields(stack.saved("proof"), { verified: true });
    });
  });

  it("refuses what cannot be", async () => {
    const stack = await start();
    const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ overlap: "0s" }, /overlap must be "retirement", "none" or a duration/],
      [{ queueUrl: "http://queue.example.com" }, /queueUrl must begin with https:\/\/, because credentials/],
      [{ saveCredentials: false }, /saveCredentials must not be false without encryptFor.*overlap: "none"/],
    ];
    for (const [given, message] of refused) {
      args = given;
      await fails(stack.preview(), message);
    }
    assert.deepEqual(stack.platform.requests, []);
  });
});
