import assert from "node:assert/strict";
import { RefusedError } from "../../../provider/api/errors";
import { type PasswordRotationOutputs } from "../../../provider/lifecycle/resource";
import { apply, diff } from "../../../provider/lifecycle/passwordRotation";
import { compareTrigger } from "../../../provider/rotation/trigger";
import { FakeRun, unconfirmed } from "../../support/fakeRun";

const none = { databaseId: "db" };
const v1 = { ...none, version: 1 };
const v2 = { ...none, version: 2 };
const ok: FakeRun["answer"] = () => ({ record: { port: 1 }, credentials: { password: "new" } });

describe("lifecycle: an unconfirmed reset", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));
  /** Applies in a run of its own. */
  const up = (saved: PasswordRotationOutputs | undefined, inputs: typeof none, answer: FakeRun["answer"]) => {
    fake.answer = answer;
    return apply(saved, inputs, fake.start());
  };

  it("is saved as unknown if it was the first", async () => {
    const { outputs, unconfirmed: reason } = await up(undefined, v1, unconfirmed);
    const { attemptedTrigger, ...plain } = outputs;
    assert.deepEqual(plain, { databaseId: "db", outcome: "unknown", rotationCount: 0, unconfirmedResets: 1 });
    assert.equal(compareTrigger(attemptedTrigger, v1), "same");
    assert.match(reason ?? "", /it broke .* Perhaps changed\..*\n.*`up` sends one more/);
  });

  it("is followed by one more reset, which leaves no trace of it", async () => {
    const { outputs: unsure } = await up(undefined, v1, unconfirmed);
    const { changes, notice } = diff(unsure, v1, fake.start());
    assert.equal(changes, true);
    assert.match(notice ?? "", /"db" will be reset once more.* not confirmed/);
    const { outputs } = await up(unsure, v1, ok);
    assert.deepEqual([outputs.outcome, outputs.rotationReason, outputs.rotationCount], ["reset", "unconfirmed", 1]);
    assert.deepEqual([outputs.attemptedTrigger, outputs.unconfirmedResets], [undefined, undefined]);
    assert.equal(compareTrigger(outputs.appliedTrigger, v1), "same");
    assert.deepEqual(diff(outputs, v1, fake.start()), { changes: false });
  });

  it("is refused, without a request, after three in a row, also without a trigger, until the version changes", async () => {
    let { outputs } = await up(undefined, v1, unconfirmed);
    for (let time = 2; time <= 3; time++) {
      ({ outputs } = await up(outputs, none, unconfirmed));
      assert.equal(outputs.unconfirmedResets, time);
    }
    for (const inputs of [v1, none]) {
      const difference = diff(outputs, inputs, fake.start());
      assert.equal(difference.changes, true);
      assert.match(difference.notice ?? "", /"db" will not be reset.* last 3 resets.*new version/);
      await assert.rejects(up(outputs, inputs, ok), RefusedError);
    }
    assert.equal(fake.resets.length, 3);

    const changed = await up(outputs, v2, unconfirmed);
    assert.equal(changed.outputs.unconfirmedResets, 1);
    assert.equal((await up(changed.outputs, v2, ok)).outputs.outcome, "reset");
    assert.equal(fake.resets.length, 5);
  });
});
