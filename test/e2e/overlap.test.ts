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
  let isBroken: boolean;
  beforeEach(() => {
    args = { version: 1 };
    retires = true;
    isBroken = false;
  });
  afterEach(closePlatforms);

  const program = () => {
    const { access, token } = new QueueTokenRotation("queue", { queueUserId, ...args });
    const credential = retires ? new Retirement("handed", { access, credential: known(token) }).credential : token;
    new Consumer("consumer", { credential, broken: isBroken });
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

  it("retires nothing while a consumer fails, and then all at once", async () => {
    const stack = await start();
    for (let nth = 1; nth <= 3; nth++) await succeeds(stack.up());
    const second = tokenOf(stack);
    [args, isBroken] = [{ version: 2 }, true];
    for (let nth = 1; nth <= 3; nth++) {
      await fails(stack.up(), /the consumer is away/);
      assert.deepEqual([stack.replaced, handed(stack)], [Array(nth).fill("handed"), second]);
      args = { version: 1 + nth };
    }
    const third = tokenOf(stack);
    assert.deepEqual(await accepts(stack, second, third), [true, true]);
    assert.match(
      String(stack.saved("queue")?.["waits"]),
      /first `up` after the one at whose end a Retirement retires it/,
    );
    isBroken = false;
    assert.match((await succeeds(stack.up())).printed, /former token was retired; it is refused now/);
    assert.deepEqual([stack.replaced, handed(stack), await accepts(stack, second, third)], [[], third, [false, true]]);
    // The version that has waited.
    await succeeds(stack.up());
    const fourth = tokenOf(stack);
    assert.deepEqual([handed(stack), await accepts(stack, third, fourth)], [fourth, [false, true]]);
    assert.doesNotMatch((await succeeds(stack.destroy())).printed, /may stay valid/);
  });

  it("keeps both valid with a destroy before the end of a run, which says so", async () => {
    for (const isPending of [false, true]) {
      const stack = await start();
      args = { version: 1 };
      for (let nth = 1; nth <= 3 && isPending; nth++) await succeeds(stack.up());
      const { length } = sentBy(stack);
      if (isPending) [args, isBroken] = [{ version: 2 }, true];
      await stack.up();
      const { printed } = await succeeds(stack.destroy());
      assert.match(printed, /two tokens may stay valid/);
      assert.equal(sentBy(stack).length, length + 1, "a next token only");
    }
  });

  it("keeps the former token without a Retirement, and a verification does not try it", async () => {
    const withProof = () => {
      program();
      const { access } = stack.saved("queue") ?? {};
      if (typeof access === "string") new CredentialVerification("proof", { access, withinSeconds: 1 });
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

  describe("at a platform that hides tokens", () => {
    const startHidden = async () => {
      const stack = await start({ credentials: "never" });
      for (let nth = 1; nth <= 2; nth++) await succeeds(stack.up());
      return stack;
    };

    it("rotates again after a Retirement has retired the former one", async () => {
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
      await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
      assert.deepEqual(await accepts(stack, stack.platform.queueToken, token), [true, true]);
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
