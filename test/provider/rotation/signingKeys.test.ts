import assert from "node:assert/strict";
import { InputError } from "../../../provider/platform/errors";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { type RotationInputs, rotationOf } from "../../../provider/rotation/rotation";
import { type RotationOutputs } from "../../../provider/rotation/outputs";
import { type Run } from "../../../provider/run";
import { FakeRequester } from "../../support/fakeRequester";
import { asShown, FakeRun, unconfirmed } from "../../support/fakeRun";

const hour = 3_600_000;

describe("rotation: signing keys", () => {
  const resource = rotationOf(signingKeys);
  const { check, diff, apply, refresh } = asShown(resource);
  const inputs = (version: number, more: Partial<RotationInputs> = {}) => ({ version, ...more });
  /** The keys after so many rolls. */
  const keys = (rolls: number, series = "k") => ({
    currentKey: `${series}${rolls}`,
    nextKey: `${series}${rolls + 1}`,
  });
  let fake: FakeRun;
  let run: Run;
  /** What the platform shows. */
  let shown: object;

  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    shown = keys(0);
    fake.answer = () => {
      shown = keys(fake.resets.length);
      return { credentials: shown };
    };
    fake.readDatabase = () => ({ credentials: shown });
    run = fake.start();
  });

  const at = (hours: number) => new Date(Date.parse("2026-11-21T12:00:00.000Z") + hours * hour);
  const iso = (hours: number) => at(hours).toISOString();
  const waitUntil = (hours: number) => {
    fake.time = at(hours);
    // Another run.
    run = fake.start();
  };
  const known = ({ currentKey, nextKey, outcome, rotationCount }: RotationOutputs) => {
    return { currentKey, nextKey, outcome, rotationCount };
  };
  const times = ({ lastRolledAt, currentKeySince, nextKeySince }: RotationOutputs) => {
    return [lastRolledAt, currentKeySince, nextKeySince];
  };

  it("are rolled and read by these requests; only a record confirms a roll", async () => {
    const bodies = ['{"current":"a","next":"b"}', "{}", '"OK"'];
    const requester = new FakeRequester(() => ({ body: bodies.shift() ?? '{"current":"c","next":"d"}' }));
    const operations = new SecretOperations(requester, signingKeys, signingKeys.paths ?? { reset: "", read: "" });
    const { credentials } = await operations.reset("signing-keys");
    assert.deepEqual(credentials, { currentKey: "a", nextKey: "b" });
    await assert.rejects(operations.reset("signing-keys"), { name: "UnconfirmedError" });
    await assert.rejects(operations.reset("signing-keys"), { name: "UnconfirmedError" });
    assert.deepEqual((await operations.read("signing-keys")).credentials, { currentKey: "c", nextKey: "d" });
    const sent = requester.sent.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual([sent[0], sent.at(-1)], ["POST /v2/keys/rotate", "GET /v2/keys"]);
    assert.equal(requester.sent[0]?.purpose, "reset the pair of signing keys");
  });

  it("have an id that no argument names, and belong to one resource only", async () => {
    const { outputs } = await apply(undefined, inputs(1), run);
    assert.deepEqual((outputs as { subject?: string }).subject, "signing-keys");
    assert.deepEqual(fake.resets, ["signing-keys"]);
    check({ version: 1, owner: "first" }, new Set(), run);
    const [failure] = check({ version: 1, owner: "second" }, new Set(), run);
    assert.equal(failure?.code, "REKEY_DUPLICATE_SECRET");
    assert.match(failure.reason, /^the pair of signing keys is already rotated by first/);
    assert.match(check({ subject: "x" } as object, new Set())[0]?.reason ?? "", /subject is not an input/);
    assert.deepEqual(resource.importedInputs?.("signing-keys", run), { initialRotation: false });
    assert.throws(() => resource.importedInputs?.("other", run), InputError);
  });

  it("know when each key was generated, if Rekey saw it", async () => {
    const adopted = await apply(undefined, inputs(1, { initialRotation: false }), run);
    assert.deepEqual(known(adopted.outputs), { ...keys(0), outcome: "adopted", rotationCount: 0 });
    assert.deepEqual(times(adopted.outputs), [undefined, undefined, undefined]);
    const first = await apply(adopted.outputs, inputs(2), run);
    assert.deepEqual(known(first.outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
    assert.deepEqual(times(first.outputs), [iso(0), undefined, iso(0)]);
    waitUntil(2);
    const second = await apply(first.outputs, inputs(3), run);
    assert.deepEqual(times(second.outputs), [iso(2), iso(0), iso(2)]);
  });

  describe("within minInterval of a roll", () => {
    it("refuse a changed trigger without a request, and say from when it is allowed", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      waitUntil(0.9);
      const reads = fake.databaseReads.length;
      const refused = new RegExp(`rolled.* at ${iso(0)}.*after ${iso(1)} may roll.*`);
      assert.match(diff(outputs, inputs(2), run).notice ?? "", refused);
      await assert.rejects(apply(outputs, inputs(2), run), { code: "REKEY_ROLLED_RECENTLY", message: refused });
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [1, reads]);
      assert.equal(diff(outputs, inputs(1), run).changes, false);
      waitUntil(1);
      const next = await apply(outputs, inputs(2), run);
      assert.deepEqual(known(next.outputs), { ...keys(2), outcome: "reset", rotationCount: 2 });
    });

    it("are not rolled if the time of the last roll cannot be read", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      waitUntil(5);
      const damaged = { ...outputs, lastRolledAt: "2026-11-21" };
      const refused = { code: "REKEY_STATE_UNREADABLE", message: /saved output lastRolledAt/ };
      await assert.rejects(apply(damaged, inputs(2), run), refused);
      assert.equal(fake.resets.length, 1);
    });

    it("let a due schedule wait with a warning", async () => {
      const every = { rotateEvery: "PT30M" };
      const { outputs } = await apply(undefined, inputs(1, every), run);
      waitUntil(0.6);
      const { changes, warning } = diff(outputs, inputs(1, every), run);
      assert.equal(changes, false);
      assert.match(warning ?? "", new RegExp(`is due for a reset by rotateEvery, which waits: .*after ${iso(1)}`));
      await apply(outputs, inputs(1, every), run);
      assert.equal(fake.resets.length, 1);
      waitUntil(1);
      assert.equal(diff(outputs, inputs(1, every), run).changes, true);
    });

    it("are rolled at once if minInterval is zero", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      const next = await apply(outputs, inputs(2, { minInterval: "0s" }), run);
      assert.deepEqual(known(next.outputs), { ...keys(2), outcome: "reset", rotationCount: 2 });
      assert.match(check(inputs(1, { minInterval: "-1h" }), new Set())[0]?.reason ?? "", /^minInterval must be a dura/);
    });
  });

  describe("after a lost response", () => {
    const lose = (state: object) => () => {
      shown = state;
      return unconfirmed();
    };

    it("are settled at once if the former next key is the current one: one roll in all", async () => {
      fake.answer = lose(keys(1));
      const { outputs, failure, notice } = await apply(undefined, inputs(1), run);
      assert.equal(failure, undefined);
      assert.match(notice ?? "", /^The reset of the pair of signing keys was not confirmed .* it was applied/);
      assert.deepEqual(known(outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
      assert.deepEqual(times(outputs), [iso(0), undefined, iso(0)]);
      assert.equal(diff(outputs, inputs(1), run).changes, false);
      assert.equal(fake.resets.length, 1);
    });

    it("are not rolled again before minInterval has passed, if they are still the former ones", async () => {
      fake.answer = lose(keys(0));
      const { outputs, message } = await apply(undefined, inputs(1), run);
      assert.match(message ?? "", /sends one more reset once minInterval has passed/);
      assert.deepEqual([outputs.outcome, outputs.lastRolledAt], ["unknown", iso(0)]);
      waitUntil(0.5);
      await assert.rejects(apply(outputs, inputs(1), run), { code: "REKEY_ROLLED_RECENTLY" });
      assert.equal(fake.resets.length, 1);
      waitUntil(1);
      fake.answer = () => ({ credentials: (shown = keys(1)) });
      const next = await apply(outputs, inputs(1), run);
      assert.deepEqual(known(next.outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
      assert.equal(fake.resets.length, 2);
    });

    it("are settled by the next up or refresh if the roll was applied late", async () => {
      fake.answer = lose(keys(0));
      const { outputs } = await apply(undefined, inputs(1), run);
      shown = keys(1);
      waitUntil(0.5);
      for (const settled of [await apply(outputs, inputs(1), run), await refresh(outputs, run)]) {
        assert.deepEqual(known(settled.outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
        assert.deepEqual(times(settled.outputs), [iso(0.5), undefined, iso(0)]);
        assert.equal(diff(settled.outputs, inputs(1), run).changes, false);
      }
      assert.equal(fake.resets.length, 1);
    });

    it("end the doubt as drift if someone else rolled, and leave the trigger unapplied", async () => {
      const saved = await apply(undefined, inputs(1, { initialRotation: false }), run);
      fake.answer = lose(keys(5, "other"));
      const lost = await apply(saved.outputs, inputs(2), run);
      assert.equal(lost.outputs.outcome, "unknown");
      waitUntil(0.5);
      const { outputs, notice } = await refresh(lost.outputs, run);
      assert.match(notice ?? "", /^The roll of the pair of signing keys was not confirmed.*someone else rolled/);
      assert.deepEqual(known(outputs), { ...keys(5, "other"), outcome: "adopted", rotationCount: 0 });
      assert.deepEqual(times(outputs), [iso(0.5), undefined, undefined]);
      waitUntil(1);
      await assert.rejects(apply(outputs, inputs(2), run), { code: "REKEY_ROLLED_RECENTLY" });
      waitUntil(1.5);
      fake.answer = () => ({ credentials: (shown = keys(6, "other")) });
      const next = await apply(outputs, inputs(2), run);
      assert.deepEqual(known(next.outputs), { ...keys(6, "other"), outcome: "reset", rotationCount: 1 });
      assert.equal(next.outputs.attemptedTrigger, undefined);
      assert.equal(diff(next.outputs, inputs(2), run).changes, false);
      assert.equal(fake.resets.length, 2);
    });

    it("keep what the last confirmed roll or the adoption saved if someone else rolled", async () => {
      const facts = ({ outcome, rotatedAt, adoptedAt, rotationReason, appliedTrigger }: RotationOutputs) => {
        return { outcome, rotatedAt, adoptedAt, rotationReason, appliedTrigger };
      };
      for (const initialRotation of [true, false]) {
        waitUntil(0);
        shown = keys(0);
        fake.answer = () => ({ credentials: (shown = keys(1)) });
        const { outputs: before } = await apply(undefined, inputs(1, { initialRotation }), run);
        waitUntil(2);
        fake.answer = lose(keys(5, "other"));
        const { outputs: lost } = await apply(before, inputs(2), run);
        assert.equal(lost.outcome, "unknown");
        waitUntil(2.5);
        const { outputs } = await refresh(lost, run);
        assert.deepEqual(facts(outputs), facts(before));
        waitUntil(4);
        assert.equal(diff(outputs, inputs(2), run).changes, true);
      }
    });

    it("roll once more for a first roll that was not applied, even without a trigger", async () => {
      fake.answer = lose(keys(5, "other"));
      const lost = await apply(undefined, {}, run);
      waitUntil(0.5);
      const settled = await apply(lost.outputs, {}, run);
      assert.equal(settled.failure?.code, "REKEY_ROLLED_RECENTLY");
      assert.equal(settled.outputs.outcome, "adopted");
      waitUntil(2);
      fake.answer = () => ({ credentials: (shown = keys(6, "other")) });
      const next = await apply(settled.outputs, {}, run);
      assert.deepEqual(known(next.outputs), { ...keys(6, "other"), outcome: "reset", rotationCount: 1 });
    });
  });

  it("are settled by the read if the response has no keys", async () => {
    fake.answer = () => {
      shown = keys(1);
      return {};
    };
    const { outputs } = await apply(undefined, inputs(1), run);
    assert.deepEqual(known(outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
    assert.equal(fake.resets.length, 1);
  });

  it("are never replaced by a pair whose current key is former", async () => {
    const { outputs } = await apply(undefined, inputs(1), run);
    shown = keys(0);
    const stale = await refresh(outputs, run);
    assert.deepEqual(known(stale.outputs), known(outputs));
    assert.match(stale.warning ?? "", /still shows former credentials/);
    shown = keys(2);
    const drift = await refresh(outputs, run);
    assert.deepEqual(known(drift.outputs), { ...keys(2), outcome: "reset", rotationCount: 1 });
    for (const former of [0, 1]) {
      shown = keys(former);
      assert.deepEqual(known((await refresh(drift.outputs, run)).outputs), known(drift.outputs));
    }
    assert.equal(drift.outputs.nextKeySince, undefined);
    assert.equal(drift.outputs.currentKeySince, iso(0));
  });

  it("skip a key that was never seen as the current one: it is former, too", async () => {
    const { outputs } = await apply(undefined, inputs(1, { initialRotation: false }), run);
    shown = keys(3);
    const drift = await refresh(outputs, run);
    for (const former of [0, 1]) {
      shown = keys(former);
      assert.deepEqual(known((await refresh(drift.outputs, run)).outputs), known(drift.outputs));
    }
  });

  it("skip a key in a confirmed roll: it is former, too", async () => {
    const skipping = () => ({ credentials: (shown = keys(3)) });
    const { outputs: adopted } = await apply(undefined, inputs(1, { initialRotation: false }), run);
    for (const { canRead, saved } of [
      { canRead: true, saved: undefined },
      { canRead: false, saved: adopted },
    ]) {
      shown = keys(0);
      fake.answer = skipping;
      fake.canRead = canRead;
      const { outputs } = await apply(saved, inputs(2), fake.start());
      fake.canRead = true;
      for (const former of [0, 1]) {
        shown = keys(former);
        assert.deepEqual(known((await refresh(outputs, fake.start())).outputs), known(outputs));
      }
    }
  });

  it("that were not known before a read are not taken for a roll", async () => {
    shown = {};
    const { outputs: hidden } = await apply(undefined, inputs(1, { initialRotation: false }), run);
    shown = keys(0);
    const { outputs } = await refresh(hidden, run);
    assert.deepEqual(known(outputs), { ...keys(0), outcome: "adopted", rotationCount: 0 });
    assert.deepEqual(times(outputs), [undefined, undefined, undefined]);
    const next = await apply(outputs, inputs(2), run);
    assert.deepEqual(known(next.outputs), { ...keys(1), outcome: "reset", rotationCount: 1 });
  });

  it("are not rolled by a changed trigger right after someone else's roll was noticed", async () => {
    const { outputs } = await apply(undefined, inputs(1, { initialRotation: false }), run);
    shown = keys(1);
    const noticed = await apply(outputs, inputs(2), run);
    assert.equal(noticed.failure?.code, "REKEY_ROLLED_RECENTLY");
    assert.match(noticed.notice ?? "", /was changed outside of Rekey: currentKey, nextKey/);
    assert.deepEqual(known(noticed.outputs), { ...keys(1), outcome: "adopted", rotationCount: 0 });
    assert.equal(fake.resets.length, 0);
    waitUntil(1);
    fake.answer = () => ({ credentials: (shown = keys(2)) });
    const next = await apply(noticed.outputs, inputs(2), run);
    assert.deepEqual(known(next.outputs), { ...keys(2), outcome: "reset", rotationCount: 1 });
  });

  it("are not rolled because the address has changed, which warns", async () => {
    fake.account = "1:first";
    const { outputs } = await apply(undefined, inputs(1), run);
    fake.account = "1:second";
    waitUntil(5);
    const { changes, warning } = diff(outputs, inputs(1), run);
    assert.equal(changes, false);
    assert.match(warning ?? "", /^The pair of signing keys was last reset or adopted with another queueUrl/);
  });
});
