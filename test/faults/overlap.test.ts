import assert from "node:assert/strict";
import { type Fault } from "../../local/platform/index";
import { type Properties } from "../support/wire";
import { testByAdapter } from "./overlappingSecret";
import { closePlatforms, nextPath, probePath, Queue, rollPath, startedPlatform, userPath } from "./queueOfPlatform";

interface Row {
  readonly faults?: readonly Fault[];
  /** Where the queue is during the fault. Default: at the platform. */
  readonly queueUrl?: "of another account" | "of another path";
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

/** Settings with which a token is tried elsewhere, for a short time. */
async function settingsAt(where: NonNullable<Row["queueUrl"]>, { platform, settings }: Queue): Promise<Properties> {
  const queueUrl = where === "of another path" ? `${platform.url}/elsewhere` : (await startedPlatform()).url;
  return { ...settings, queueUrl, deadlineSeconds: 3 };
}

const additions: Readonly<Record<string, Row>> = {
  "next-token is lost once, before it is applied": { faults: [lost(nextPath, before)], valid: [true, true] },
  "next-token is lost once, after it was applied": { faults: [lost(nextPath, applied)], valid: [true, true] },
  "next-token is lost each time, before it is applied": {
    faults: [lost(nextPath, before, { times })],
    fails: /nothing was changed: .*a read shows no next token\. Run.*REKEY_UNCONFIRMED/s,
    valid: [true],
  },
  "next-token is lost each time, after it was applied": {
    faults: [lost(nextPath, applied, { times })],
    valid: [true, true],
  },
  "next-token is lost, and also when it is asked for again": {
    faults: [lost(nextPath, applied, { times: 6 })],
    fails: /this run may have added a new one, which was not handed out\. It has retired none.*REKEY_UNCONFIRMED/s,
    valid: [true],
  },
  "next-token and the read after it are lost each time": {
    faults: [except(userPath), lost(nextPath, applied, { times }), lost(userPath, before, { times })],
    fails: /this run may have added a new one, which was not handed out\. It has retired none.*REKEY_UNCONFIRMED/s,
    valid: [true],
  },
  "next-token does not show the token": {
    faults: [{ path: nextPath, body: {}, times: 2 }],
    fails: /does not show the next token.*REKEY_UNCONFIRMED/s,
    valid: [true],
  },
  "next-token does not show the token once": { faults: [{ path: nextPath, body: {} }], valid: [true, true] },
  "next-token returns the current token": {
    faults: [{ path: nextPath, body: { token: "canary-former-token-51fe" } }],
    fails: /may have added a new one.*returned the current token as the next one\. Run.*REKEY_UNCONFIRMED/s,
    valid: [true],
  },
  "next-token is not permitted": {
    faults: [{ path: nextPath, status: 403 }],
    fails: /No next token was made.*REKEY_REJECTED/s,
    valid: [true],
  },
  "next-token does not exist (404)": {
    faults: [{ path: nextPath, status: 404 }],
    fails: /nothing was changed: .*\. Set `overlap: "none"`/,
    valid: [true],
  },
  "next-token does not exist (405)": {
    faults: [{ path: nextPath, status: 405 }],
    fails: /nothing was changed: .*\. Set `overlap: "none"`/,
    valid: [true],
  },
  "the read is lost once": { faults: [lost(userPath, applied)], valid: [true, true] },
  "the read is lost each time": {
    faults: [lost(userPath, applied, { times })],
    fails: /before it is changed: .* Nothing was changed\..*REKEY_NOT_READ/s,
    valid: [true],
  },
  "the proof is lost once": { faults: [lost(probePath, applied)], valid: [true, true] },
  "the new token is refused": {
    queueUrl: "of another account",
    fails: /which was not handed out\. It has retired none.* is not proven: it is refused.*REKEY_VERIFICATION_FAILED/s,
    valid: [true],
  },
  "the new token is refused at first": {
    faults: [{ path: probePath, status: 401, times: 2 }],
    valid: [true, true],
  },
  "the new token cannot be tried": {
    queueUrl: "of another path",
    fails: /is not proven: it could not be tried.*queueUrl of its rotation or rekey:queueUrl/s,
    valid: [true],
  },
};

const notRetired = /Until that is done, the former token may be valid\. .*the next one tries this again/;
const retirements: Readonly<Record<string, Row & { readonly isRepeated?: true }>> = {
  "roll-token is lost once, before it is applied": { faults: [lost(rollPath, before)], valid: [false, true] },
  "roll-token is lost once, after it was applied": { faults: [lost(rollPath, applied)], valid: [false, true] },
  "roll-token is lost each time, after it was applied": {
    faults: [lost(rollPath, applied, { times })],
    valid: [false, true],
  },
  "roll-token is lost each time, before it is applied": {
    faults: [lost(rollPath, before, { times })],
    fails: notRetired,
    valid: [true, true],
  },
  "roll-token and the read after it are lost each time": {
    faults: [except(userPath), lost(rollPath, applied, { times }), lost(userPath, before, { times })],
    fails: notRetired,
    valid: [false, true],
  },
  "the read before roll-token is lost once": { faults: [lost(userPath, applied)], valid: [false, true] },
  "the read before roll-token is lost each time": {
    faults: [lost(userPath, applied, { times })],
    fails: notRetired,
    valid: [true, true],
  },
  "roll-token responds with 409, although the pair is the next one": {
    faults: [{ path: rollPath, status: 409 }],
    fails: /responded with 409.*Until that is done/s,
    valid: [true, true],
  },
  "roll-token is not permitted": {
    faults: [{ path: rollPath, status: 403 }],
    fails: /responded with 403.*was not retired.*Until that is done/s,
    valid: [true, true],
  },
  "roll-token is confirmed, and keeps the former pair": {
    faults: [{ path: rollPath, keepFormerPassword: true }],
    fails: /A former token of queue user .* was retired, but is still accepted/,
    valid: [true, true],
    isRepeated: true,
  },
};

describe("faults: two valid queue tokens", () => {
  after(closePlatforms);

  for (const [fault, row] of Object.entries(additions)) {
    const result = row.fails ? "fails, nothing valid is removed; the next `up` completes it" : "passes, two are valid";
    testByAdapter([109, fault, "create, update, next up", result], async (adapter) => {
      for (const isNew of [true, false]) {
        const queue = await Queue.start(adapter, { queueToken: "canary-former-token-51fe" });
        const inputs: Properties = { version: 1, ...(isNew ? {} : { initialRotation: false }) };
        if (!isNew) await queue.rotate(inputs);
        const next = isNew ? inputs : { ...inputs, version: 2 };
        for (const one of row.faults ?? []) queue.platform.failNext(one);
        const { settings } = queue;
        if (row.queueUrl) queue.settings = await settingsAt(row.queueUrl, queue);
        assert.match(await queue.rotate(next), row.fails ?? /^$/);
        queue.settings = settings;
        assert.deepEqual(await queue.valid(), row.valid);
        assert.equal(await queue.rotate(next), "");
        assert.deepEqual(await queue.valid(), [true, true]);
        assert.ok(queue.rotation.plain["generatedAt"], "it was made for this rotation");
        assert.equal(queue.rotation.plain["rotationCount"], 1);
        assert.equal(await queue.retire(), "");
        assert.deepEqual(await queue.valid(), [false, true]);
      }
    });
  }

  for (const [fault, { faults = [], fails = /^$/, valid, isRepeated }] of Object.entries(retirements)) {
    const result = isRepeated
      ? "fails, and again until it is refused"
      : fails.test("")
        ? "passes, the former one is retired"
        : "fails; the next `up` completes it";
    testByAdapter([110, fault, "Retirement, next up", result], async (adapter) => {
      const queue = await Queue.start(adapter);
      if (isRepeated) queue.settings = { ...queue.settings, deadlineSeconds: 5 };
      // What was handed out before is tried.
      await queue.rotate({ version: 1, initialRotation: false });
      assert.equal(await queue.retire(), "");
      assert.equal(await queue.rotate({ version: 2 }), "");
      for (const one of faults) queue.platform.failNext(one);
      assert.match(await queue.retire(), fails);
      assert.deepEqual(await queue.valid(), valid);
      if (isRepeated) return assert.match(await queue.retire(), fails);
      assert.equal(await queue.retire(), "");
      assert.deepEqual(await queue.valid(), [false, true]);
      assert.deepEqual(queue.retirement.replaced, []);
    });
  }

  const stays = "fails, and nothing is handed over; the next `up` passes";
  for (const inputs of [{ version: 1 }, { version: 2, overlap: "1h" }]) {
    const title = `the queue refuses the token that was handed out, although it is valid (version ${inputs.version})`;
    testByAdapter([111, title, "next up", stays], async (adapter) => {
      const queue = await Queue.start(adapter);
      assert.equal(await queue.rotate({ version: 1 }), "");
      const { token } = queue;
      const { settings } = queue;
      queue.settings = await settingsAt("of another account", queue);
      assert.match(
        await queue.rotate(inputs),
        /nothing was changed: the (queue refuses|token that was handed out is still)/,
      );
      queue.settings = settings;
      assert.equal(await queue.rotate(inputs), "");
      assert.deepEqual([queue.token, await queue.valid()], [token, [true, true]]);
    });
  }

  testByAdapter(
    [
      111,
      "two runs rotate one token at once",
      "create, Retirement, next version",
      "both have the same new token; the former one is retired once",
    ],
    async (adapter) => {
      const one = await Queue.start(adapter);
      const other = one.inOtherStack();
      assert.deepEqual(await Promise.all([one.rotate({ version: 1 }), other.rotate({ version: 1 })]), ["", ""]);
      assert.equal(one.token, other.token);
      assert.deepEqual(await one.valid(), [true, true]);
      assert.deepEqual(await Promise.all([one.retire(), other.retire()]), ["", ""]);
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
