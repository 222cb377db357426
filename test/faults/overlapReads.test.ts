import assert from "node:assert/strict";
import { type Fault } from "../../local/platform/index";
import { Team } from "../support/age";
import { type Adapter, adapters } from "../support/host";
import { until } from "../support/results";
import { itInPairs } from "../support/suite";
import { titled, type Titled } from "./describeFaults";
import { closePlatforms, nextPath, probePath, Queue, rollPath, userPath } from "./queueOfPlatform";

/** Tests a row with each adapter, in this process. */
function testRow(title: Titled, test: (adapter: Adapter) => Promise<void>): void {
  itInPairs(adapters, (adapter) => titled(...title, adapter), test);
}

interface Row {
  readonly faults: readonly Fault[];
  /** What fails with this. Default: nothing. */
  readonly fails?: RegExp;
  /** Whether the tokens, in the order in which the program had them, are valid then. */
  readonly valid: readonly boolean[];
}

/** How often a request is sent until it is given up. */
const times = 3;
const lost = (path: string, dropConnection: Fault["dropConnection"], more: Partial<Fault> = {}): Fault => {
  return { path, dropConnection, ...more };
};
/** One request to this path meets nothing, so that the next one meets what follows. */
const except = (path: string): Fault => ({ path, delayMs: 0 });
const [before, applied] = ["before-apply", "after-apply"] as const;

const whens = { "before it is applied": before, "after it was applied": applied } as const;

function additions(): Record<string, Row> {
  const rows: Record<string, Row> = {
    "next-token does not exist (404)": {
      faults: [{ path: nextPath, status: 404 }],
      fails: /Nothing was changed\. Set `overlap: "none"`/,
      valid: [true],
    },
    "next-token and the read after it are lost each time": {
      faults: [except(userPath), lost(nextPath, applied, { times }), lost(userPath, before, { times })],
      fails: /A next token may have been made. The former one stays valid.*REKEY_UNCONFIRMED/s,
      valid: [true],
    },
  };
  for (const [when, at] of Object.entries(whens)) {
    rows[`the read is lost once, ${when}`] = { faults: [lost(userPath, at)], valid: [true, true] };
    rows[`the read is lost each time, ${when}`] = {
      faults: [lost(userPath, at, { times })],
      fails: /before its rotation: .* Nothing was changed\..*REKEY_NOT_READ/s,
      valid: [true],
    };
    rows[`the proof is lost once, ${when}`] = { faults: [lost(probePath, at)], valid: [true, true] };
  }
  return rows;
}

function retirements(): Record<string, Row> {
  const notRetired = /the new token is accepted, but the former one was not retired/;
  const rows: Record<string, Row> = {
    "roll-token and the read after it are lost each time": {
      faults: [except(userPath), lost(rollPath, applied, { times }), lost(userPath, before, { times })],
      fails: notRetired,
      valid: [false, true],
    },
  };
  for (const [when, at] of Object.entries(whens)) {
    rows[`the read before roll-token is lost once, ${when}`] = { faults: [lost(userPath, at)], valid: [false, true] };
    rows[`the read before roll-token is lost each time, ${when}`] = {
      faults: [lost(userPath, at, { times })],
      fails: notRetired,
      valid: [true, true],
    };
  }
  return rows;
}

function retirementsFirst(): Record<string, Row> {
  const passes = { valid: [false, true, true] };
  const notConfirmed = /former token may still be valid.*REKEY_UNCONFIRMED/s;
  return {
    "roll-token is lost once, before it is applied": { ...passes, faults: [lost(rollPath, before)] },
    "roll-token is lost once, after it was applied": { ...passes, faults: [lost(rollPath, applied)] },
    "roll-token is lost each time, after it was applied": { ...passes, faults: [lost(rollPath, applied, { times })] },
    "roll-token is lost each time, before it is applied": {
      faults: [lost(rollPath, before, { times })],
      fails: notConfirmed,
      valid: [true, true],
    },
    "roll-token and the read after it are lost each time": {
      faults: [except(userPath), lost(rollPath, applied, { times }), lost(userPath, before, { times })],
      fails: notConfirmed,
      valid: [false, true],
    },
    "next-token after it is lost each time, before it is applied": {
      faults: [lost(nextPath, before, { times })],
      fails: /has retired the older one\. .*a read shows no next token\. Nothing was added\..*REKEY_INCOMPLETE/s,
      valid: [false, true],
    },
    "next-token after it is not permitted": {
      faults: [{ path: nextPath, status: 403 }],
      fails: /has retired the older one\. .*No next token was made.*REKEY_INCOMPLETE/s,
      valid: [false, true],
    },
  };
}

describe("faults: reads and retirements of two valid queue tokens", () => {
  after(closePlatforms);

  for (const [fault, { faults, fails = /^$/, valid }] of Object.entries(additions())) {
    const result = fails.test("")
      ? "passes, two are valid"
      : "fails, nothing valid is removed; the next `up` completes it";
    testRow([109, fault, "create, update, next up", result], async (adapter) => {
      for (const isNew of [true, false]) {
        const queue = await Queue.start(adapter);
        if (!isNew) await queue.rotate({ version: 1, initialRotation: false });
        for (const one of faults) queue.platform.failNext(one);
        assert.match(await queue.rotate({ version: 2 }), fails);
        assert.deepEqual(await queue.valid(), valid);
        assert.equal(await queue.rotate({ version: 2 }), "");
        assert.deepEqual(await queue.valid(), [true, true]);
        assert.equal(await queue.verify(), "");
        assert.deepEqual(await queue.valid(), [false, true]);
      }
    });
  }

  for (const [fault, { faults, fails = /^$/, valid }] of Object.entries(retirements())) {
    const result = fails.test("") ? "passes, the former one is retired" : "fails; the next `up` completes it";
    testRow([110, fault, "verification, next up", result], async (adapter) => {
      const queue = await Queue.start(adapter);
      assert.equal(await queue.rotate({ version: 1 }), "");
      for (const one of faults) queue.platform.failNext(one);
      assert.match(await queue.verify(), fails);
      assert.deepEqual(await queue.valid(), valid);
      assert.equal(await queue.verify(), "");
      assert.deepEqual(await queue.valid(), [false, true]);
      assert.equal(queue.verification.plain["formerRefused"], true);
    });
  }

  for (const [fault, { faults, fails = /^$/, valid }] of Object.entries(retirementsFirst())) {
    const result = fails.test("") ? "passes, two are valid" : "fails, nothing is added; the next `up` completes it";
    testRow([111, fault, "update, next up", result], async (adapter) => {
      const queue = await Queue.start(adapter);
      assert.equal(await queue.rotate({ version: 1 }), "");
      for (const one of faults) queue.platform.failNext(one);
      assert.match(await queue.rotate({ version: 2 }), fails);
      assert.deepEqual(await queue.valid(), valid);
      assert.equal(await queue.rotate({ version: 2 }), "");
      assert.deepEqual(await queue.valid(), [false, true, true]);
      assert.equal(queue.rotation.plain["rotationCount"], 2);
    });
  }

  testRow(
    [
      110,
      "someone else rolls the pair between the read and next-token, which therefore makes another pair",
      "verification, next up, next version",
      "fails; the next `up` verifies; the next rotation hands out the other pair",
    ],
    async (adapter) => {
      const queue = await Queue.start(adapter);
      const { recipient } = await Team.create();
      const inputs = { saveCredentials: false, encryptFor: [recipient] };
      assert.equal(await queue.rotate({ ...inputs, version: 1 }), "");
      const token = await queue.nextByHand();
      const made = queue.sent(nextPath);
      queue.platform.failNext({ path: nextPath, delayMs: 500 });
      const verified = queue.verify();
      await until(() => queue.sent(nextPath) > made);
      await queue.rollByHand(token);
      const failure = await verified;
      assert.match(
        failure,
        /returned another next token.*may have made the other one.*The next rotation hands out that/s,
      );
      assert.equal(queue.sent(nextPath), made + 1, "it is asked for once");
      assert.equal(await queue.verify(), "");
      const other = await queue.nextByHand();
      assert.equal(await queue.rotate({ version: 2 }), "");
      assert.equal(queue.token, other);
    },
  );

  testRow(
    [
      111,
      "two runs rotate one token at once",
      "create, verification, next version",
      "both have the same new token; the former one is retired once",
    ],
    async (adapter) => {
      const one = await Queue.start(adapter);
      const other = one.inOtherStack();
      assert.deepEqual(await Promise.all([one.rotate({ version: 1 }), other.rotate({ version: 1 })]), ["", ""]);
      assert.equal(one.token, other.token);
      assert.deepEqual(await one.valid(), [true, true]);
      assert.deepEqual(await Promise.all([one.verify(), other.verify()]), ["", ""]);
      assert.deepEqual(await one.valid(), [false, true]);
      // What the one replaces is what the other one has, which is valid until that is retired.
      assert.equal(await one.rotate({ version: 2 }), "");
      assert.deepEqual(
        [await one.valid(), await other.valid()],
        [
          [false, true, true],
          [false, true],
        ],
      );
    },
  );
});
