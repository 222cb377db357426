import assert from "node:assert/strict";
import { RefusedError } from "../../../provider/platform/errors";
import { queueToken } from "../../../provider/platform/queueToken";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { searchToken, vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { rotationOf } from "../../../provider/rotation/rotation";
import { asShown, FakeRun, notSent, rejected, unconfirmed, passwordRotation } from "../../support/fakeRun";

const { apply } = asShown(passwordRotation);
const v1 = { databaseId: "db", version: 1 };

describe("rotation: resets in one run", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  it("return the same outputs to a repeated call, which sends nothing", async () => {
    const run = fake.start();
    const [first, second] = await Promise.all([apply(undefined, v1, run), apply(undefined, v1, run)]);
    assert.deepEqual(second, first);
    assert.deepEqual(await apply(undefined, { ...v1, version: 1 }, run), first);
    assert.deepEqual(fake.resets, ["db"]);
  });

  it("return the same unconfirmed result to a repeated call, which sends nothing", async () => {
    const run = fake.start();
    fake.answer = unconfirmed;
    const first = await apply(undefined, v1, run);
    fake.answer = () => ({ record: { port: 1 } });
    assert.deepEqual(await apply(undefined, v1, run), first);
    assert.deepEqual(await apply(first.outputs, v1, run), first);
    assert.deepEqual(fake.resets, ["db"]);
  });

  it("are sent again after a failure, which all waiting callers get", async () => {
    const run = fake.start();
    for (const error of [notSent(), rejected()]) {
      fake.answer = () => error;
      const both = await Promise.allSettled([apply(undefined, v1, run), apply(undefined, v1, run)]);
      assert.deepEqual(both, Array(2).fill({ status: "rejected", reason: error }));
    }
    fake.answer = () => ({ record: { port: 1 } });
    assert.equal((await apply(undefined, v1, run)).outputs.rotationCount, 1);
    assert.deepEqual(fake.resets, ["db", "db", "db"]);
  });

  it("are sent again after a failure that kept what a read had settled", async () => {
    fake.canRead = true;
    fake.readDatabase = () => ({ credentials: { password: "former" } });
    fake.answer = unconfirmed;
    const { outputs: lost } = await apply(undefined, v1, fake.start());
    fake.readDatabase = () => ({ credentials: { password: "late" } });
    const run = fake.start();
    const v2 = { ...v1, version: 2 };
    fake.answer = rejected;
    const refused = await apply(lost, v2, run);
    assert.deepEqual([refused.outputs.outcome, refused.failure?.delivery], ["reset", "rejected"]);
    fake.answer = () => ({ credentials: { password: "new" } });
    const { outputs } = await apply(lost, v2, run);
    assert.deepEqual([outputs.password, outputs.rotationCount, fake.resets.length], ["new", 2, 3]);
  });

  it("are separate for another trigger, another database and another run", async () => {
    const run = fake.start();
    await apply(undefined, v1, run);
    await apply(undefined, { ...v1, version: 2 }, run);
    await apply(undefined, { ...v1, databaseId: "db2" }, run);
    await apply(undefined, v1, fake.start());
    assert.deepEqual(fake.resets, ["db", "db", "db2", "db"]);
  });

  it("are refused, without a request, after the limit of the run", async () => {
    fake.maxResets = 2;
    const run = fake.start();
    const ids = ["a", "b", "c", "d"];
    const results = await Promise.allSettled(ids.map((databaseId) => apply(undefined, { databaseId }, run)));
    assert.equal(results.map(({ status }) => status).join(), "fulfilled,fulfilled,rejected,rejected");
    const [, , refused] = results;
    assert.ok(refused?.status === "rejected" && refused.reason instanceof RefusedError);
    assert.match(
      refused.reason.message,
      /"c" was not reset.* sent 2 resets.*rekey:maxResetsPerRun.*REKEY_RESET_LIMIT/s,
    );
    assert.deepEqual(fake.resets, ["a", "b"]);
  });

  it("count secrets of every kind", async () => {
    fake.maxResets = 3;
    const run = fake.start();
    const kinds = [databasePassword, vectorToken, searchToken, queueToken, signingKeys];
    const created = kinds.map((kind) => {
      const inputs = kind.onlyId === undefined ? { [kind.idInput]: "one" } : {};
      return rotationOf(kind).apply(undefined, inputs, run);
    });
    const results = await Promise.allSettled(created);
    assert.equal(results.map(({ status }) => status).join(), "fulfilled,fulfilled,fulfilled,rejected,rejected");
    const reasons = results.flatMap((one) => (one.status === "rejected" ? [(one.reason as RefusedError).message] : []));
    assert.match(reasons[0] ?? "", /The token of queue user "one" was not reset.* sent 3 resets/s);
    assert.match(reasons[1] ?? "", /The pair of signing keys was not reset.* sent 3 resets/s);
    assert.equal(fake.resets.length, 3);
  });

  it("count if unconfirmed, but not if rejected", async () => {
    fake.maxResets = 1;
    const run = fake.start();
    fake.answer = rejected;
    await assert.rejects(apply(undefined, v1, run), /Unchanged/);
    fake.answer = unconfirmed;
    await apply(undefined, v1, run);
    await assert.rejects(apply(undefined, { ...v1, databaseId: "db2" }, run), RefusedError);
    assert.deepEqual(fake.resets, ["db", "db"]);
  });

  it("do not include adoptions, which pass even if no reset may be sent", async () => {
    fake.maxResets = 0;
    const { outputs } = await apply(undefined, { ...v1, initialRotation: false }, fake.start());
    assert.equal(outputs.outcome, "adopted");
    await assert.rejects(apply(undefined, v1, fake.start()), ({ message }: Error) => {
      assert.match(
        message,
        /maxResetsPerRun is 0, so a run may send none\. .*`initialRotation: false`.*raise the limit/,
      );
      assert.doesNotMatch(message, /already sent/);
      return true;
    });
  });
});
