import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import assert from "node:assert/strict";
import { UnconfirmedError } from "../../../provider/platform/errors";
import { type PasswordRotationOutputs } from "../../../provider/rotation/outputs";
import { readUntilCurrent } from "../../../provider/rotation/reading";
import { asShown, FakeRun, notSent, rejected, unconfirmed, passwordRotation } from "../../support/fakeRun";

const { apply, diff, refresh } = asShown(passwordRotation);

const v1 = { databaseId: "db", version: 1 };
const record = { databaseId: "db" };
const former = { record, credentials: { password: "former", restToken: "former-token" } };
const changed = { record, credentials: { password: "new", restToken: "new-token" } };

describe("rotation: the requests around a reset, and what is shown of them", () => {
  let fake: FakeRun;
  const run = (saved?: PasswordRotationOutputs, inputs: object = v1) =>
    apply(saved, { ...v1, ...inputs }, fake.start());
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    fake.readDatabase = () => former;
    fake.answer = () => ({ record });
  });

  it("wait twice as long before each further read, at most 5 s, and end at the deadline", async () => {
    await run();
    assert.deepEqual(fake.waits.slice(0, 7), [250, 500, 1000, 2000, 4000, 5000, 5000]);
    assert.ok(fake.elapsedMs <= 60_000 && fake.elapsedMs > 55_000, String(fake.elapsedMs));
  });

  it("leave each further read only the time that is left; the first read has the usual deadline", async () => {
    await run();
    assert.deepEqual(fake.readDeadlinesMs.slice(0, 4), [undefined, 60_000, 59_750, 59_250]);
  });

  for (const { durationMs, waits } of [
    { durationMs: 749, waits: [250] },
    { durationMs: 750, waits: [250, 500] },
  ]) {
    it(`begin within the time that is left, which may be ${durationMs} ms`, async () => {
      fake.deadlineMs = durationMs;
      const shown = await readUntilCurrent({ kind: databasePassword, id: "db" }, () => "stale", fake.start());
      assert.deepEqual({ shown: shown.kind, waits: fake.waits }, { shown: "stale", waits });
    });
  }

  it("end with the read that is rejected", async () => {
    fake.readDatabase = () => (fake.resets.length === 0 ? former : rejected());
    const { warning } = await run();
    assert.equal(fake.databaseReads.length, 2);
    assert.match(
      warning ?? "",
      /the database could not be read \(it broke\)\. The next `up` or refresh reads it again/,
    );
  });

  it("do not end with a read that fails otherwise", async () => {
    fake.readDatabase = () =>
      fake.databaseReads.length === 1 ? former : fake.databaseReads.length === 2 ? notSent() : changed;
    assert.equal((await run()).outputs.password, "new");
  });

  it("do not show what was thrown by a bug", async () => {
    fake.readDatabase = () => (fake.databaseReads.length === 1 ? former : new Error("canary"));
    assert.match((await run()).warning ?? "", /could not be read \(pulumi-rekey failed\)/);
  });

  it("know the saved credentials, which no message shows", async () => {
    const saved = (await run()).outputs;
    await run({ ...saved, password: "saved-at-reset" }, { version: 2 });
    await refresh({ ...saved, restToken: "saved-at-refresh" }, fake.start());
    for (const secret of ["saved-at-reset", "saved-at-refresh"]) {
      assert.equal(fake.secrets.redact(`it has ${secret}`), "it has …");
    }
  });

  describe("of an unconfirmed reset", () => {
    beforeEach(() => (fake.answer = unconfirmed));

    it("that the next run confirms: say that the last reset was not confirmed", async () => {
      const { outputs } = await run();
      fake.readDatabase = () => changed;
      const { notice } = await run(outputs);
      assert.match(
        notice ?? "",
        /^The reset of database "db" was not confirmed \(the last reset was not confirmed\), but/,
      );
    });

    it("that a refresh confirms: say that it was at the last up", async () => {
      const { outputs } = await run();
      fake.readDatabase = () => changed;
      assert.match((await refresh(outputs, fake.start())).notice ?? "", /was not confirmed \(at the last `up`\), but/);
    });

    it("do not repeat the new credentials from the platform's text, once a read has shown them", async () => {
      const { purpose, method, url } = { purpose: "do it", method: "POST", url: "https://platform.test/x" };
      const consequences = { "not sent": "", rejected: "", "maybe applied": "" };
      const problem = { happened: "the platform responded with 500: it is new-canary now", advice: "", status: 500 };
      fake.answer = () => new UnconfirmedError({ purpose, method, url, consequences }, problem);
      fake.readDatabase = (_id, resets) => {
        if (resets === 0) return former;
        fake.secrets.add(["new-canary"]);
        return { record, credentials: { password: "new-canary" } };
      };
      const { notice } = await run();
      assert.match(notice ?? "", /was not confirmed \(the platform responded with 500: it is … now\)/);
    });

    it("that a bug caused: confirm it if another credential is shown", async () => {
      fake.answer = () => new TypeError("canary");
      fake.readDatabase = (_id, resets) => (resets === 0 ? former : changed);
      const { outputs, notice } = await run();
      assert.equal(outputs.password, "new");
      assert.match(notice ?? "", /\(its result was lost\)/);
    });

    it("end with what the next run does, and when it stops", async () => {
      const next =
        /reads the database first\. If it still shows the former credentials, it sends one more reset\. After three .* version\. \[/;
      assert.match((await run()).message ?? "", next);
    });

    it("do not say that a reset is read first if the platform cannot be asked any more", async () => {
      const { outputs } = await run();
      assert.match(diff(outputs, v1, fake.start()).notice ?? "", /It is read first/);
      fake.canRead = false;
      assert.doesNotMatch(diff(outputs, v1, fake.start()).notice ?? "", /It is read first/);
    });
  });

  describe("of a reset whose credentials are still to be read", () => {
    let saved: PasswordRotationOutputs;
    beforeEach(async () => ({ outputs: saved } = await run()));

    it("are one read in the next run, without waiting", async () => {
      fake.databaseReads.length = fake.waits.length = fake.readDeadlinesMs.length = 0;
      assert.deepEqual((await run(saved)).outputs, saved);
      assert.deepEqual(
        { reads: fake.databaseReads, waits: fake.waits, deadlines: fake.readDeadlinesMs },
        {
          reads: ["db"],
          waits: [],
          deadlines: [undefined],
        },
      );
    });

    it("are not counted as another reset by the next reset", async () => {
      fake.readDatabase = fake.answer = () => changed;
      const { outputs, notice } = await run(saved, { version: 2 });
      assert.deepEqual(
        { count: outputs.rotationCount, reason: outputs.rotationReason, notice },
        { count: 2, reason: "trigger", notice: undefined },
      );
    });
  });
});
