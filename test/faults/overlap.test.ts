import assert from "node:assert/strict";
import { type Fault } from "../../local/platform/index";
import { type Properties } from "../support/wire";
import { type Adapter, adapters } from "../support/host";
import { itInPairs } from "../support/suite";
import { titled, type Titled } from "./describeFaults";
import { closePlatforms, nextPath, probePath, Queue, rollPath, startedPlatform } from "./queueOfPlatform";

/** Tests a row with each adapter, in this process. */
function testRow(title: Titled, test: (adapter: Adapter) => Promise<void>): void {
  itInPairs(adapters, (adapter) => titled(...title, adapter), test);
}

interface Row {
  readonly fault?: Fault;
  /** Where the queue is during the fault. Default: at the platform. */
  readonly queueUrl?: "of another account" | "of another path";
  /** What the `up` fails with. Default: it does not. */
  readonly fails?: RegExp;
  /** Whether the tokens before and after the rotation are valid then. Without a second one, none was saved. */
  readonly valid: readonly boolean[];
}

async function urlOf(where: NonNullable<Row["queueUrl"]>, { platform }: Queue): Promise<string> {
  if (where === "of another path") return `${platform.url}/elsewhere`;
  return (await startedPlatform()).url;
}

describe("faults: two valid queue tokens", () => {
  after(closePlatforms);

  const additions: Readonly<Record<string, Row>> = {
    "next-token is lost once, before it is applied": {
      fault: { path: nextPath, dropConnection: "before-apply" },
      valid: [true, true],
    },
    "next-token is lost once, after it was applied": {
      fault: { path: nextPath, dropConnection: "after-apply" },
      valid: [true, true],
    },
    "next-token is lost each time, before it is applied": {
      fault: { path: nextPath, dropConnection: "before-apply", times: 3 },
      fails: /a read shows no next token. Nothing was added.*REKEY_UNCONFIRMED/s,
      valid: [true],
    },
    "next-token is lost each time, after it was applied": {
      fault: { path: nextPath, dropConnection: "after-apply", times: 3 },
      valid: [true, true],
    },
    "next-token is lost, and also when it is asked for again": {
      fault: { path: nextPath, dropConnection: "after-apply", times: 6 },
      fails: /A next token may have been made. The former one stays valid.*REKEY_UNCONFIRMED/s,
      valid: [true],
    },
    "next-token does not show the token": {
      fault: { path: nextPath, body: {}, times: 2 },
      fails: /does not show the next token.*REKEY_UNCONFIRMED/s,
      valid: [true],
    },
    "next-token does not show the token once": {
      fault: { path: nextPath, body: {} },
      valid: [true, true],
    },
    "next-token returns the current token": {
      fault: { path: nextPath, body: { token: "t0ken" }, times: 1 },
      fails: /returned the current token as the next one. Nothing valid was removed.*REKEY_UNCONFIRMED/s,
      valid: [true],
    },
    "next-token is not permitted": {
      fault: { path: nextPath, status: 403 },
      fails: /No next token was made.*REKEY_REJECTED/s,
      valid: [true],
    },
    "next-token does not exist (405)": {
      fault: { path: nextPath, status: 405 },
      fails: /Nothing was changed\. Set `overlap: "none"`/,
      valid: [true],
    },
    "the new token is refused": {
      queueUrl: "of another account",
      fails: /made valid, but not proven: it is refused.*not handed out.*stays valid.*REKEY_VERIFICATION_FAILED/s,
      valid: [true],
    },
    "the new token is refused at first": {
      fault: { path: probePath, status: 401, times: 2 },
      valid: [true, true],
    },
    "the new token cannot be tried": {
      queueUrl: "of another path",
      fails: /made valid, but not proven: it could not be tried.*queueUrl or rekey:queueUrl/s,
      valid: [true],
    },
  };
  for (const [fault, row] of Object.entries(additions)) {
    const result = row.fails ? "fails, nothing valid is removed; the next `up` completes it" : "passes, two are valid";
    testRow([109, fault, "create, update, next up", result], async (adapter) => {
      for (const isNew of [true, false]) {
        const queue = await Queue.start(adapter, { queueToken: "t0ken" });
        const inputs: Properties = { version: 1, ...(isNew ? {} : { initialRotation: false }) };
        if (!isNew) await queue.rotate(inputs);
        const next = isNew ? inputs : { ...inputs, version: 2 };
        if (row.fault) queue.platform.failNext(row.fault);
        const { settings } = queue;
        if (row.queueUrl) queue.settings = { ...settings, queueUrl: await urlOf(row.queueUrl, queue) };
        assert.match(await queue.rotate(next), row.fails ?? /^$/);
        queue.settings = settings;
        assert.deepEqual(await queue.valid(), row.valid);
        assert.equal(await queue.rotate(next), "");
        assert.deepEqual(await queue.valid(), [true, true]);
        assert.ok(queue.rotation.plain["generatedAt"], "it was made for this rotation");
        assert.equal(queue.rotation.plain["rotationCount"], 1);
        assert.equal(await queue.verify(), "");
        assert.deepEqual(await queue.valid(), [false, true]);
      }
    });
  }

  const rolls: Readonly<Record<string, Row & { readonly isRepeated?: true }>> = {
    "roll-token is lost once, before it is applied": {
      fault: { path: rollPath, dropConnection: "before-apply" },
      valid: [false, true],
    },
    "roll-token is lost once, after it was applied": {
      fault: { path: rollPath, dropConnection: "after-apply" },
      valid: [false, true],
    },
    "roll-token is lost each time, after it was applied": {
      fault: { path: rollPath, dropConnection: "after-apply", times: 3 },
      valid: [false, true],
    },
    "roll-token is lost each time, before it is applied": {
      fault: { path: rollPath, dropConnection: "before-apply", times: 3 },
      fails: /the new token is accepted, but the former one was not retired/,
      valid: [true, true],
    },
    "roll-token responds with 409, although the pair is the next one": {
      fault: { path: rollPath, status: 409 },
      fails: /was not retired: the platform responded with 409/,
      valid: [true, true],
    },
    "roll-token is not permitted": {
      fault: { path: rollPath, status: 403 },
      fails: /was not retired: the platform responded with 403/,
      valid: [true, true],
    },
    "roll-token is confirmed, and keeps the former pair": {
      fault: { path: rollPath, keepFormerPassword: true },
      fails: /an old token is still accepted/,
      valid: [true, true],
      isRepeated: true,
    },
  };
  for (const [fault, { fault: given, fails = /^$/, valid, isRepeated }] of Object.entries(rolls)) {
    const result = isRepeated
      ? "fails, and again until it is refused"
      : fails.test("")
        ? "passes, the former one is retired"
        : "fails, two are valid; the next `up` retires";
    testRow([110, fault, "verification, next up", result], async (adapter) => {
      const queue = await Queue.start(adapter);
      assert.equal(await queue.rotate({ version: 1 }), "");
      if (given) queue.platform.failNext(given);
      assert.match(await queue.verify(), fails);
      assert.deepEqual(await queue.valid(), valid);
      if (isRepeated) return assert.match(await queue.verify(), fails);
      assert.equal(await queue.verify(), "");
      assert.deepEqual(await queue.valid(), [false, true]);
      assert.equal(queue.verification.plain["formerRefused"], true);
    });
  }

  testRow(
    [
      111,
      "the former one cannot be retired first (roll-token 500)",
      "update",
      "fails, nothing is added; two are valid",
    ],
    async (adapter) => {
      const queue = await Queue.start(adapter);
      await queue.rotate({ version: 1 });
      queue.platform.failNext({ path: rollPath, status: 500, times: 3 });
      assert.match(await queue.rotate({ version: 2 }), /former token may still be valid.*REKEY_UNCONFIRMED/s);
      assert.deepEqual([await queue.valid(), queue.sent(nextPath)], [[true, true], 1]);
      assert.equal(await queue.rotate({ version: 2 }), "");
      assert.deepEqual(await queue.valid(), [false, true, true]);
    },
  );

  testRow(
    [111, "a run is killed between next-token and saving", "update, next up", "passes, the pair is of unknown age"],
    async (adapter) => {
      const queue = await Queue.start(adapter);
      await queue.rotate({ version: 1, initialRotation: false });
      const { saved } = queue.rotation;
      await queue.rotate({ version: 2 });
      queue.rotation.saved = saved;
      assert.equal(await queue.rotate({ version: 2 }), "");
      assert.deepEqual(await queue.valid(), [true, true]);
      assert.equal(queue.rotation.plain["generatedAt"], undefined);
    },
  );
});
