import assert from "node:assert/strict";
import { RefusedError } from "../../../provider/api/errors";
import { type Applied, type PasswordRotationOutputs } from "../../../provider/lifecycle/resource";
import { apply, diff } from "../../../provider/lifecycle/passwordRotation";
import { compareTrigger } from "../../../provider/rotation/trigger";
import { FakeRun, rejected, unconfirmed } from "../../support/fakeRun";

const v1 = { databaseId: "db", version: 1 };
const v2 = { databaseId: "db", version: 2 };
const none = { databaseId: "db" };

describe("lifecycle: a reset that was not confirmed", () => {
  let fake: FakeRun;
  const ok = (): ReturnType<FakeRun["answer"]> => ({ record: { port: 1 }, credentials: { password: "new" } });
  /** Applies in a run of its own. */
  const up = (
    saved: PasswordRotationOutputs | undefined,
    inputs: typeof none,
    answer: FakeRun["answer"],
  ): Promise<Applied<PasswordRotationOutputs>> => {
    fake.answer = answer;
    return apply(saved, inputs, fake.start());
  };
  beforeEach(() => (fake = new FakeRun()));

  it("is saved as unknown when it was the first", async () => {
    const { outputs, unconfirmed: said } = await up(undefined, v1, unconfirmed);
    const { attemptedTrigger, ...plain } = outputs;
    assert.deepEqual(plain, { databaseId: "db", outcome: "unknown", rotationCount: 0, unconfirmedResets: 1 });
    assert.equal(compareTrigger(attemptedTrigger, v1), "same");
    assert.match(said ?? "", /^Could not do it: it broke .* Perhaps changed\. Mend it\.\nThe next `up` sends one more/);
  });

  it("keeps all that was saved, and what was answered", async () => {
    const { outputs: first } = await up(undefined, v1, ok);
    const { outputs } = await up(first, v2, unconfirmed);
    const { attemptedTrigger, outcome, unconfirmedResets, ...rest } = outputs;
    const { outcome: before, ...kept } = first;
    assert.deepEqual(rest, kept);
    assert.deepEqual([before, outcome, unconfirmedResets], ["reset", "unknown", 1]);
    assert.equal(compareTrigger(attemptedTrigger, v2), "same");
  });

  it("is made sure by one more reset, which leaves no trace of it", async () => {
    const { outputs: unsure } = await up(undefined, v1, unconfirmed);
    const notice =
      'The password of database "db" is to be reset once more: the last reset was not confirmed, so that its credentials are not known.';
    assert.deepEqual(diff(unsure, v1, fake.start()), { changes: true, notice });
    const { outputs } = await up(unsure, v1, ok);
    assert.deepEqual([outputs.outcome, outputs.rotationReason, outputs.rotationCount], ["reset", "unconfirmed", 1]);
    assert.deepEqual([outputs.attemptedTrigger, outputs.unconfirmedResets], [undefined, undefined]);
    assert.equal(compareTrigger(outputs.appliedTrigger, v1), "same");
    assert.deepEqual(diff(outputs, v1, fake.start()), { changes: false });
  });

  for (const inputs of [v1, none]) {
    it(`is refused, unsent, after three in a row, ${"version" in inputs ? "" : "also without a trigger, "}until the version changes`, async () => {
      let { outputs } = await up(undefined, v1, unconfirmed);
      for (let time = 2; time <= 3; time++) {
        ({ outputs } = await up(outputs, inputs, unconfirmed));
        assert.equal(outputs.unconfirmedResets, time);
      }
      const difference = diff(outputs, inputs, fake.start());
      assert.equal(difference.changes, true);
      assert.match(difference.notice ?? "", /"db" will not be reset: the last 3 resets .* set a new version/);
      for (let time = 0; time < 2; time++) await assert.rejects(up(outputs, inputs, ok), RefusedError);
      assert.equal(fake.resets.length, 3);

      const changed = await up(outputs, v2, unconfirmed);
      assert.equal(changed.outputs.unconfirmedResets, 1);
      assert.equal((await up(changed.outputs, v2, ok)).outputs.outcome, "reset");
      assert.equal(fake.resets.length, 5);
    });
  }

  it("is not counted where the platform refused the reset", async () => {
    const { outputs } = await up(undefined, v1, unconfirmed);
    await assert.rejects(up(outputs, v1, rejected), /Unchanged/);
    assert.equal((await up(outputs, v1, unconfirmed)).outputs.unconfirmedResets, 2);
  });
});
