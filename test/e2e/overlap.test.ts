import assert from "node:assert/strict";
import { CredentialVerification, QueueTokenRotation } from "pulumi-rekey";
import { type Platform } from "../../local/platform/index";
import { Team } from "../support/age";
import { leaksOf } from "../support/canaries";
import { assertFields } from "../support/results";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";
import { moveOn, resetTime } from "../support/time";

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
  let retires: boolean;
  let isBroken: boolean;
  beforeEach(() => {
    args = { version: 1 };
    retires = true;
    isBroken = false;
  });
  afterEach(resetTime);
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
  const tokenOf = (stack: TestStack, name = "queue") => stack.saved(name)?.["token"];

  it("adds, proves, hands over, and only then retires", async () => {
    const stack = await start();
    const first = stack.platform.queueToken;
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /former token was retired/);
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

  it("lets a new version wait while a deployment is broken, and makes it once a verification has retired", async () => {
    const stack = await start();
    await succeeds(stack.up());
    args["version"] = 2;
    isBroken = true;
    const first = tokenOf(stack);
    await fails(stack.up(), /the consumer is away/);
    const { token, formerValidSince } = stack.saved("queue") ?? {};
    args["version"] = 3;
    for (const _ of [1, 2]) {
      const { printed } = await fails(stack.up(), /the consumer is away/);
      assert.match(
        printed,
        /is not made yet, because the former token has been valid, too, since 20\S+Z\. It is applied by/,
      );
      assertFields(stack.saved("queue"), { token, formerValidSince });
      assert.match(String(stack.saved("queue")?.["waits"]), /^the former token has been valid, too, since/);
      assert.deepEqual(await accepts(stack.platform, first, token), [true, true]);
    }
    isBroken = false;
    await succeeds(stack.up());
    assert.deepEqual(await accepts(stack.platform, first, token), [false, true]);
    await succeeds(stack.up());
    assertFields(stack.saved("queue"), { waits: undefined, rotationCount: 3 });
    assert.notEqual(tokenOf(stack), token);
  });

  it("verifies and retires for a rotation that only encrypts, which saves no token", async () => {
    const { recipient } = await Team.create();
    args = { version: 1, saveCredentials: false, encryptFor: [recipient] };
    const stack = await TestStack.start(
      () => {
        const queue = new QueueTokenRotation("queue", { queueUserId, ...args });
        new CredentialVerification("proof", { access: queue.access, withinSeconds: 1, retireFormerAfter: [queue] });
      },
      { credentials: "read" },
    );
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    const tokens = [stack.platform.queueToken];
    for (const version of [1, 2]) {
      args["version"] = version;
      const { printed } = await succeeds(stack.up());
      tokens.push(stack.platform.queueToken);
      assert.match(printed, /former token was retired/);
      assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
      assert.deepEqual(await accepts(stack.platform, ...tokens.slice(-2)), [false, true]);
    }
    assert.deepEqual(leaksOf(stack.state, Object.fromEntries(tokens.entries())), []);
  });

  /** How the tokens that were handed out are accepted. */
  const validity = (stack: TestStack, ...tokens: unknown[]) => accepts(stack.platform, ...tokens);

  it("previews what it adds and retires, and what the consumers are told", async () => {
    const stack = await start();
    const created = await succeeds(stack.preview());
    assert.match(
      created.printed,
      /^Rotates the token .* The former token stays valid until a CredentialVerification with retireFormerAfter retires it/m,
    );
    assert.match(created.printed, /is retired after the new one is accepted/);
    await succeeds(stack.up());
    args["version"] = 2;
    const { printed } = await succeeds(stack.preview());
    assert.match(printed, /If two tokens are still valid, the rotation waits until only one is\./);
    args["rotatedSince"] = "2026-01-01";
    const dated = await succeeds(stack.preview());
    assert.match(dated.printed, /the older one is retired first: clients that still use it are refused\./);
    assert.deepEqual(stack.posts.length, 2);
  });

  it("keeps the former token without a retirement, does not try it, and retires it only for a date", async () => {
    const stack = await start();
    retires = false;
    const first = stack.platform.queueToken;
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /the former token was not tried\. Both have been valid since/);
    const second = tokenOf(stack);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: undefined });
    const unchanged = await succeeds(stack.up());
    assert.match(unchanged.printed, /a destroy leaves both valid/);
    args["version"] = 2;
    await succeeds(stack.up());
    assert.deepEqual(await validity(stack, first, second), [true, true]);
    args["rotatedSince"] = new Date().toISOString();
    const { printed: said } = await succeeds(stack.up());
    assert.match(said, /the older token was retired first\. Both had been valid since/);
    assert.deepEqual(await validity(stack, first, second, tokenOf(stack)), [false, true, true]);
    retires = true;
    await succeeds(stack.up());
    assert.deepEqual(await validity(stack, second, tokenOf(stack)), [false, true]);
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
    const destroyed = await succeeds(stack.destroy());
    assert.doesNotMatch(destroyed.printed, /may stay valid/, "the verification has retired it");
  });

  it("retires once its time is over, in the first run with the schedule on, and changes no consumer", async () => {
    const stack = await start();
    args = { version: 1, overlap: "24h" };
    retires = false;
    const first = stack.platform.queueToken;
    await succeeds(stack.up());
    const { token, formerValidSince, formerValidUntil } = stack.saved("queue") ?? {};
    const lastsMs = new Date(String(formerValidUntil)).getTime() - new Date(String(formerValidSince)).getTime();
    assert.equal(lastsMs, 24 * 3_600_000);
    moveOn(23.9);
    await succeeds(stack.up());
    assert.deepEqual(await validity(stack, first, token), [true, true], "it is never early");
    moveOn(0.2);
    stack.config["rekey:scheduledResets"] = "off";
    const postponed = await succeeds(stack.up());
    assert.match(postponed.printed, /due to be retired \(overlap: 24h\).* postponed: rekey:scheduledResets is off/);
    assert.deepEqual(await validity(stack, first, token), [true, true]);
    delete stack.config["rekey:scheduledResets"];
    assert.match(
      (await succeeds(stack.preview())).printed,
      /is retired, if it is still valid, because its time is over/,
    );
    const { changes } = await succeeds(stack.up());
    assert.deepEqual(changes, { same: 2, update: 2 });
    assert.deepEqual(await validity(stack, first, token), [false, true]);
    const { formerRetiredAt } = stack.saved("queue") ?? {};
    assert.ok(formerRetiredAt);
    await succeeds(stack.refresh());
    assert.equal(stack.saved("queue")?.["formerRetiredAt"], formerRetiredAt, "after a refresh");
    assertFields(stack.saved("queue"), { formerValidUntil: undefined, formerValidSince: undefined });
    // It is tried now.
    assertFields(stack.saved("proof"), { verified: true, formerRefused: true });
  });

  it("changes what retires it without a change of tokens", async () => {
    const stack = await start();
    retires = false;
    await succeeds(stack.up());
    const { length } = stack.posts;
    args["overlap"] = "24h";
    await succeeds(stack.up());
    assert.ok(stack.saved("queue")?.["formerValidUntil"]);
    args["overlap"] = "none";
    await succeeds(stack.up());
    assert.equal(stack.posts.length, length);
    await succeeds(stack.up());
    assert.deepEqual(stack.posts.at(-1), `/v2/qstash/roll-token/${queueUserId}`);
  });

  it("says when a rotation is due that a run leaves, and makes it up to 12 hours before its time", async () => {
    const stack = await start();
    args = { rotateEvery: "7d", initialRotation: false };
    await succeeds(stack.up());
    const saysIt =
      /is due for its next rotation at 20\S+Z \(rotateEvery: 7d\)\. The first `up` from 20\S+Z on makes it/;
    for (const [hours, isSaid] of [
      [138, false],
      [2, true],
      [15.9, true],
    ] as const) {
      moveOn(hours);
      const { printed, changes } = await succeeds(stack.up());
      assert.equal(saysIt.test(printed), isSaid, printed);
      assert.deepEqual(changes, { same: 4 });
    }
    moveOn(0.2);
    assert.match((await succeeds(stack.up())).printed, /Rotates the token .* because rotateEvery has elapsed/);
  });

  it("waits for a schedule until it is retired, and says since when two are valid", async () => {
    const stack = await start();
    args = { rotateEvery: "30d", initialRotation: false };
    retires = false;
    assert.match(
      (await succeeds(stack.up())).printed,
      /after a rotation, the former token stays valid until a CredentialVerification with retireFormerAfter retires it/,
    );
    const rotateLater = async () => {
      moveOn(30 * 24);
      return succeeds(stack.up());
    };
    await rotateLater();
    const { token, formerValidSince } = stack.saved("queue") ?? {};
    const { printed } = await rotateLater();
    assert.match(
      printed,
      new RegExp(`not made yet, because .* valid, too, since ${String(formerValidSince)}\\. It is`),
    );
    assert.match(printed, /are still valid, the rotation waits until only one is/);
    assertFields(stack.saved("queue"), { token, rotationCount: 1 });
    retires = true;
    await rotateLater();
    await rotateLater();
    assertFields(stack.saved("queue"), { rotationCount: 2 });
  });

  it("retires by the next `up` what a date has asked for, also if the date was removed", async () => {
    const stack = await start();
    args = { rotatedSince: "2026-01-01", initialRotation: false };
    retires = false;
    await succeeds(stack.up());
    const [former, token] = [stack.platform.queueToken, tokenOf(stack)];
    assert.deepEqual(await validity(stack, former, token), [true, true]);
    args = { initialRotation: false };
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /is retired, if it is still valid, because rotatedSince has asked for it/);
    assert.deepEqual(await validity(stack, former, token), [false, true]);
    assert.equal(tokenOf(stack), token);
  });

  it("retires what is older than a date that was set after the rotation", async () => {
    const stack = await start();
    args = { initialRotation: false };
    retires = false;
    await succeeds(stack.up());
    args = { version: 2 };
    await succeeds(stack.up());
    const former = stack.platform.queueToken;
    args = { version: 2, rotatedSince: String(stack.saved("queue")?.["rotatedAt"]) };
    await succeeds(stack.up());
    assert.deepEqual(await validity(stack, former, tokenOf(stack)), [false, true]);
    assertFields(stack.saved("queue"), { rotationCount: 1 });
  });

  const prepared = async (stack: TestStack): Promise<string> => {
    const { url, username, password } = stack.platform;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const response = await fetch(`${url}/v2/qstash/next-token/${queueUserId}`, {
      method: "POST",
      headers: { authorization },
    });
    return ((await response.json()) as { next_token: string }).next_token;
  };

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
      assert.deepEqual(await validity(stack, second, tokenOf(stack)), [false, true]);
      assertFields(stack.saved("queue"), { rotationCount: 2 });
    });

    it("waits if someone has prepared another pair meanwhile, and rotates for a date", async () => {
      const stack = await startHidden();
      await prepared(stack);
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
      assert.deepEqual(await validity(stack, first, tokenOf(stack)), [false, true]);
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
      assert.deepEqual(await validity(stack, first, tokenOf(stack)), [false, true]);
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
      assert.deepEqual(await validity(stack, first, tokenOf(stack)), [true, true]);
    });
  });

  describe("a pair that exists already", () => {
    it("is adopted with a warning, handed over, and replaced by the next `up` after a leak", async () => {
      const stack = await start();
      const token = await prepared(stack);
      args = { initialRotation: false };
      retires = false;
      const { printed } = await succeeds(stack.up());
      assert.match(printed, /someone has prepared a next token/);
      assert.equal(tokenOf(stack), stack.platform.queueToken);
      assert.equal(stack.posts.length, 1);
      args = { rotatedSince: "2026-01-01" };
      const handedOver = await succeeds(stack.up());
      assert.match(handedOver.printed, /the platform already had a next token, whose age is unknown/);
      assert.equal(tokenOf(stack), token);
      const again = await succeeds(stack.preview());
      assert.match(again.printed, /rotatedSince is set, and its age is not known.*is retired first/);
      await succeeds(stack.up());
      assert.notEqual(tokenOf(stack), token);
      await succeeds(stack.up());
      assert.deepEqual(await validity(stack, token, tokenOf(stack)), [false, true]);
      assertFields(stack.saved("queue"), { rotationCount: 2 });
    });
  });

  describe("a change by someone else", () => {
    const changes = {
      "a roll retires the former one: nothing is said, and nothing waits": {
        act: async (stack: TestStack) => {
          const { createHash } = await import("node:crypto");
          const { url, username, password } = stack.platform;
          const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
          const next_token_hash = createHash("sha256")
            .update(String(tokenOf(stack)))
            .digest("hex");
          await fetch(`${url}/v2/qstash/roll-token/${queueUserId}`, {
            method: "POST",
            headers: { authorization },
            body: JSON.stringify({ next_token_hash }),
          });
        },
        says: undefined,
      },
      "a reset replaces both: that is drift": {
        act: async ({ platform }: TestStack) => void platform.changeQueueUserTokens(queueUserId),
        says: /was changed outside of Rekey/,
      },
    };
    for (const [title, { act, says }] of Object.entries(changes)) {
      it(title, async () => {
        const stack = await start();
        retires = false;
        await succeeds(stack.up());
        const quiet = await succeeds(stack.refresh());
        assert.doesNotMatch(quiet.printed, /warning|former|outside/);
        assert.ok(stack.saved("queue")?.["formerValidSince"]);
        await act(stack);
        const { printed } = await succeeds(stack.refresh());
        if (says) assert.match(printed, says);
        else assert.doesNotMatch(printed, /warning|former|outside/);
        assertFields(stack.saved("queue"), {
          token: stack.platform.queueToken,
          formerValidSince: undefined,
          formerRetiredAt: undefined,
        });
      });
    }
  });

  describe("rekey:queueToken", () => {
    const startOwn = () => TestStack.start(program, { credentials: "read" });

    it("can be rotated, and is retired once the new one is set", async () => {
      const stack = await startOwn();
      const own = stack.platform.queueToken;
      const { printed } = await succeeds(stack.up());
      assert.match(printed, /was not retired: it is rekey:queueToken.*Set rekey:queueToken to the new one/);
      assert.deepEqual(await validity(stack, own, tokenOf(stack)), [true, true]);
      stack.config["rekey:queueToken"] = String(tokenOf(stack));
      await succeeds(stack.up());
      assert.deepEqual(await validity(stack, own, tokenOf(stack)), [false, true]);
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
      assert.deepEqual(await validity(stack, stack.platform.queueToken, token), [true, true]);
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

  it("names `none` at a platform without next tokens, which replaces the token at once", async () => {
    const stack = await start({ nextToken: false });
    await fails(stack.up(), /no operation that prepares a next token.*Nothing was changed.*overlap: "none"/s);
    args["overlap"] = "none";
    const preview = await succeeds(stack.preview());
    assert.match(
      preview.printed,
      /Resets the token.*replaced at once: clients are refused until they have the new one/,
    );
    const first = stack.platform.queueToken;
    await succeeds(stack.up());
    assert.deepEqual(await validity(stack, first, tokenOf(stack)), [false, true]);
    assertFields(stack.saved("queue"), { formerValidSince: undefined });
  });

  it("refuses what cannot be", async () => {
    const stack = await start();
    const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ overlap: "24h", rotateEvery: "24h" }, /overlap must be shorter than rotateEvery/],
      [{ overlap: "0s" }, /overlap must be "verified", "none" or a duration/],
      [{ overlap: "soon" }, /overlap must be "verified", "none" or a duration/],
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
