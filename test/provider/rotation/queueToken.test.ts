import assert from "node:assert/strict";
import { queueToken } from "../../../provider/platform/queueToken";
import { type Properties } from "../../../provider/records/properties";
import { rotationOf } from "../../../provider/rotation/rotation";
import { type Run } from "../../../provider/run";
import { asShown, FakeRun, unconfirmed } from "../../support/fakeRun";

describe("rotation: the token of a queue user", () => {
  const { check, diff, apply, refresh } = asShown(rotationOf(queueToken));
  const inputs = (version: number) => ({ queueUserId: "u1", version });
  const tokens = (generation: number) => ({ token: `t${generation}`, readOnlyToken: `r${generation}` });
  const record = { id: "u1", region: "eu-central-1" };
  let fake: FakeRun;
  let run: Run;

  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    fake.answer = () => ({ record, credentials: tokens(fake.resets.length) });
    fake.readDatabase = (_id, resets) => ({ record, credentials: tokens(resets) });
    run = fake.start();
  });

  const known = (outputs: object) => {
    const { queueUserId, token, readOnlyToken, outcome, rotationCount } = outputs as Properties;
    return { queueUserId, token, readOnlyToken, outcome, rotationCount };
  };
  const resetAs = (rotationCount: number) => {
    return { queueUserId: "u1", ...tokens(rotationCount), outcome: "reset", rotationCount };
  };

  it("is reset, and the run then uses the new one", async () => {
    const { outputs } = await apply(undefined, inputs(1), run);
    assert.deepEqual(known(outputs), resetAs(1));
    assert.deepEqual(fake.queueTokens, [["u1", "t1"]]);
    assert.equal(diff(outputs, inputs(1)).changes, false);
  });

  it("is read if the response is lost or has none: one reset in all", async () => {
    fake.answer = unconfirmed;
    const { outputs, failure } = await apply(undefined, inputs(1), run);
    assert.equal(failure, undefined);
    assert.deepEqual(known(outputs), resetAs(1));
    fake.answer = () => ({});
    const next = await apply(outputs, inputs(2), fake.start());
    assert.deepEqual(known(next.outputs), resetAs(2));
    assert.deepEqual(fake.queueTokens, [
      ["u1", "t1"],
      ["u1", "t2"],
    ]);
    assert.equal(fake.resets.length, 2);
  });

  it("is read again for the requests of the run if the new one is not known", async () => {
    fake.readDatabase = () => ({ record });
    fake.answer = () => ({ record });
    await apply(undefined, inputs(1), run);
    assert.deepEqual(fake.queueTokens, [["u1", undefined]]);
  });

  it("stays that of the run if the reset is not confirmed", async () => {
    fake.answer = unconfirmed;
    fake.readDatabase = () => ({ record, credentials: tokens(0) });
    const { failure } = await apply(undefined, inputs(1), run);
    assert.equal(failure?.code, "REKEY_UNCONFIRMED");
    assert.deepEqual(fake.queueTokens, []);
  });

  describe("that Rekey itself uses", () => {
    const refused = {
      code: "REKEY_QUEUE_TOKEN_IN_USE",
      message:
        /queue user "u1" was not reset, and no reset was sent: it is rekey:queueToken, .*Set rekey:queueUserId to "u1" instead/,
    };

    it("is not reset, whichever of the two it is, and not shown", async () => {
      for (const own of ["t0", "r0"]) {
        fake.queueToken = own;
        await assert.rejects(apply(undefined, inputs(1), fake.start()), (error: Error & { code: string }) => {
          assert.equal(error.code, refused.code);
          assert.match(error.message, refused.message);
          assert.doesNotMatch(error.message, /\b[tr]0\b/);
          return true;
        });
      }
      assert.deepEqual(fake.resets, []);
    });

    it("is refused in a preview, too, and again until the setting is changed", async () => {
      const { outputs } = await apply(undefined, { ...inputs(1), initialRotation: false }, run);
      fake.queueToken = "t0";
      assert.match(diff(outputs, inputs(2), run).notice ?? "", /Does not reset .*: it is rekey:queueToken/);
      await assert.rejects(apply(outputs, inputs(2), run), refused);
      assert.equal(fake.databaseReads.length, 1, "the saved token is enough");
      assert.equal(diff(outputs, inputs(1), run).notice, undefined);
      fake.queueToken = undefined;
      const next = await apply(outputs, inputs(2), run);
      assert.deepEqual(known(next.outputs), resetAs(1));
    });

    it("is refused if someone else changed it to that one since", async () => {
      const { outputs } = await apply(undefined, { ...inputs(1), initialRotation: false }, run);
      fake.queueToken = "t9";
      fake.readDatabase = () => ({ record, credentials: tokens(9) });
      await assert.rejects(apply(outputs, inputs(2), run), refused);
      assert.deepEqual(fake.resets, []);
    });

    it("is refused if the platform does not show whether it is, unless the saved one is another", async () => {
      fake.answer = () => ({ record, credentials: tokens(fake.resets.length) });
      for (const hidden of [{ record }, { record, credentials: { readOnlyToken: "r0" } }]) {
        fake.readDatabase = () => hidden;
        fake.queueToken = "t9";
        const { outputs: adopted } = await apply(undefined, { ...inputs(1), initialRotation: false }, fake.start());
        for (const [saved, version] of [
          [undefined, 1],
          [adopted, 2],
        ] as const) {
          await assert.rejects(apply(saved, inputs(version), fake.start()), {
            code: refused.code,
            message: /the platform does not show it, so it may be rekey:queueToken.*rotate it in a stack without/,
          });
        }
        assert.deepEqual(fake.resets, []);
      }
      fake.queueToken = undefined;
      const first = await apply(undefined, inputs(1), fake.start());
      fake.queueToken = "t9";
      const next = await apply(first.outputs, inputs(2), fake.start());
      assert.deepEqual(known(next.outputs), resetAs(2));
    });

    it("does not keep a read from settling an unconfirmed reset", async () => {
      fake.answer = unconfirmed;
      fake.readDatabase = () => ({ record, credentials: tokens(0) });
      const { outputs } = await apply(undefined, { ...inputs(1), initialRotation: false }, run);
      const { outputs: open, failure } = await apply(outputs, inputs(2), run);
      assert.equal(failure?.code, "REKEY_UNCONFIRMED");
      fake.queueToken = "t0";
      fake.readDatabase = () => ({ record, credentials: tokens(1) });
      const settled = await apply(open, inputs(2), fake.start());
      assert.deepEqual(known(settled.outputs), resetAs(1));
      fake.readDatabase = () => ({ record, credentials: tokens(0) });
      await assert.rejects(apply(open, inputs(2), fake.start()), refused);
      assert.equal(fake.resets.length, 1);
    });

    it("is adopted and refreshed as usual", async () => {
      fake.queueToken = "t0";
      const { outputs } = await apply(undefined, { ...inputs(1), initialRotation: false }, run);
      assert.equal(known((await refresh(outputs, run)).outputs).token, "t0");
    });
  });

  it("belongs to one resource only", () => {
    check({ ...inputs(1), owner: "first" }, new Set(), run);
    const [failure] = check({ ...inputs(1), owner: "second" }, new Set(), run);
    assert.equal(failure?.code, "REKEY_DUPLICATE_SECRET");
  });
});
