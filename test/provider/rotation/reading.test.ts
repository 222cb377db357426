import assert from "node:assert/strict";
import { NotReadError, RefusedError } from "../../../provider/platform/errors";
import { type SecretResponse } from "../../../provider/records/response";
import { type PasswordRotationOutputs } from "../../../provider/rotation/outputs";
import { asShown, FakeRun, notSent, rejected, unconfirmed, passwordRotation } from "../../support/fakeRun";

const { apply, diff, refresh } = asShown(passwordRotation);

const v1 = { databaseId: "db", version: 1 };
const v2 = { ...v1, version: 2 };
const noCredentials = { record: { databaseId: "db" } };
const showing = (password: string): Partial<SecretResponse> => ({
  record: { databaseId: "db", port: 1 },
  credentials: { password },
});

describe("rotation: a platform that can be read", () => {
  let fake: FakeRun;
  const requests = () => ({ resets: fake.resets.length, reads: fake.databaseReads.length });
  const run = (inputs = v1, saved?: PasswordRotationOutputs) => apply(saved, inputs, fake.start());
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
  });

  describe("reset", () => {
    it("begins with a read, and needs no other one if the response has a credential", async () => {
      const { outputs } = await run();
      assert.deepEqual(requests(), { resets: 1, reads: 1 });
      assert.deepEqual(
        { password: outputs.password, missing: outputs.missingCredentials },
        { password: "password-1", missing: undefined },
      );
    });

    it("is not sent if the read fails, whatever the reason", async () => {
      for (const error of [notSent(), rejected(), unconfirmed()]) {
        fake.readDatabase = () => error;
        await assert.rejects(run(), (thrown) => {
          assert.ok(thrown instanceof NotReadError);
          assert.match(
            thrown.message,
            /No reset was sent, and the password was not changed\. Fix it\. \[REKEY_NOT_READ\]$/,
          );
          return true;
        });
      }
      assert.equal(fake.resets.length, 0);
    });

    it("does not count against the limit of the run if the read fails", async () => {
      fake.maxResets = 1;
      const session = fake.start();
      fake.readDatabase = () => notSent();
      await assert.rejects(apply(undefined, v1, session), NotReadError);
      fake.readDatabase = () => showing("former");
      await apply(undefined, v1, session);
      assert.equal(fake.resets.length, 1);
    });

    it("is not read if the limit of the run leaves none", async () => {
      fake.maxResets = 0;
      await assert.rejects(run(), /REKEY_RESET_LIMIT/);
      assert.deepEqual(requests(), { resets: 0, reads: 0 });
    });

    it("whose response has no credential is completed by reads, until the credential is another one", async () => {
      fake.answer = () => noCredentials;
      fake.readDatabase = () => showing(fake.databaseReads.length < 4 ? "former" : "new");
      const { outputs, notice } = await run();
      assert.deepEqual(requests(), { resets: 1, reads: 4 });
      assert.deepEqual(
        { password: outputs.password, outcome: outputs.outcome, notice },
        { password: "new", outcome: "reset", notice: undefined },
      );
    });

    it("is a success without credentials if reads keep showing the former ones, and the next run reads again", async () => {
      fake.answer = () => noCredentials;
      fake.readDatabase = () => showing("former");
      const { outputs, warning } = await run();
      assert.deepEqual(
        { outcome: outputs.outcome, password: outputs.password, missing: outputs.missingCredentials },
        { outcome: "reset", password: undefined, missing: ["password"] },
      );
      assert.match(warning ?? "", /was reset, but its new password is not known: the platform still shows the former/);
      assert.ok(fake.elapsedMs <= 60_000);

      assert.equal(diff(outputs, v1, fake.start()).changes, true);
      fake.databaseReads.length = 0;
      const again = await run(v1, outputs);
      assert.deepEqual(again.outputs, outputs);
      fake.readDatabase = () => showing("new");
      const done = await run(v1, again.outputs);
      assert.deepEqual(requests(), { resets: 1, reads: 2 });
      assert.deepEqual(
        {
          password: done.outputs.password,
          missing: done.outputs.missingCredentials,
          count: done.outputs.rotationCount,
        },
        { password: "new", missing: undefined, count: 1 },
      );
      assert.equal(diff(done.outputs, v1, fake.start()).changes, false);
    });

    it("is a success if the reads after it fail", async () => {
      fake.answer = () => noCredentials;
      fake.readDatabase = () => (fake.resets.length === 0 ? showing("former") : notSent());
      const { outputs, warning } = await run();
      assert.deepEqual(
        { outcome: outputs.outcome, missing: outputs.missingCredentials },
        { outcome: "reset", missing: ["password"] },
      );
      assert.match(warning ?? "", /could not be read \(it broke\)/);
    });

    it("is a success after the end of the run or a rejected read, which end its reads", async () => {
      for (const { isEnded, reads } of [
        { isEnded: false, reads: 2 },
        { isEnded: true, reads: 1 },
      ]) {
        [fake.resets.length, fake.databaseReads.length] = [0, 0];
        fake.readDatabase = () => (fake.resets.length === 0 ? showing("former") : rejected());
        fake.answer = () => {
          if (isEnded) fake.runEnd.abort();
          return noCredentials;
        };
        const { outputs, warning } = await run();
        assert.deepEqual(requests(), { resets: 1, reads });
        assert.deepEqual([outputs.outcome, outputs.missingCredentials], ["reset", ["password"]]);
        assert.match(
          warning ?? "",
          isEnded ? /could not be read \(the run was ended\)/ : /could not be read \(it broke\)/,
        );
      }
    });

    it("reads no more if the platform shows no credentials, with a warning", async () => {
      fake.answer = () => noCredentials;
      fake.readDatabase = () => noCredentials;
      const { outputs, warning } = await run();
      assert.deepEqual(requests(), { resets: 1, reads: 1 });
      assert.equal(outputs.missingCredentials, undefined);
      assert.match(
        warning ?? "",
        /the new one is not known: the platform neither returned it nor shows it.* look in the platform's console/,
      );
      assert.equal(diff(outputs, v1, fake.start()).changes, false);
    });

    it("ends its reads once protection hides the credentials, but for one in the next run", async () => {
      fake.answer = () => noCredentials;
      fake.readDatabase = () => (fake.resets.length === 0 ? showing("former") : noCredentials);
      const { outputs } = await run();
      assert.deepEqual(requests(), { resets: 1, reads: 2 });
      const next = await run(v1, outputs);
      assert.deepEqual(requests(), { resets: 1, reads: 3 });
      assert.match(next.warning ?? "", /the new one is not known: the platform neither returned it nor shows it/);
      assert.equal(diff(next.outputs, v1, fake.start()).changes, false);
    });
  });

  describe("unconfirmed reset", () => {
    beforeEach(() => (fake.answer = unconfirmed));

    it("is confirmed in the same run if a read shows another credential", async () => {
      fake.readDatabase = (_id, resets) => showing(resets === 0 ? "former" : "new");
      const { outputs, message, notice } = await run();
      assert.deepEqual(
        { message, outcome: outputs.outcome, password: outputs.password, count: outputs.rotationCount },
        { message: undefined, outcome: "reset", password: "new", count: 1 },
      );
      assert.match(notice ?? "", /^The reset of database "db" was not confirmed \(it broke\), but a read shows other/);
      assert.equal(diff(outputs, v1, fake.start()).changes, false);
      assert.equal(fake.resets.length, 1);
    });

    it("stays unknown if the former credential is shown, and is sent once more after a read in the next run", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs, message } = await run();
      assert.match(message ?? "", /The next `up` reads the database first\./);
      assert.deepEqual(
        { outcome: outputs.outcome, missing: outputs.missingCredentials },
        { outcome: "unknown", missing: ["password"] },
      );
      fake.answer = () => showing("new");
      fake.databaseReads.length = 0;
      const next = await run(v1, outputs);
      assert.deepEqual(requests(), { resets: 2, reads: 1 });
      assert.deepEqual(
        { password: next.outputs.password, missing: next.outputs.missingCredentials },
        { password: "new", missing: undefined },
      );
    });

    it("is confirmed by the next run if its credential is another one by then; nothing is sent", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.readDatabase = () => showing("late");
      const next = await run(v1, outputs);
      assert.equal(fake.resets.length, 1);
      assert.deepEqual(
        { outcome: next.outputs.outcome, password: next.outputs.password },
        { outcome: "reset", password: "late" },
      );
      assert.equal(diff(next.outputs, v1, fake.start()).changes, false);
      assert.equal(diff(next.outputs, v2, fake.start()).changes, true);
    });

    it("is confirmed with its own trigger, and a changed one then sends one more reset", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.readDatabase = () => showing("late");
      fake.answer = () => showing("new");
      const next = await run(v2, outputs);
      assert.equal(fake.resets.length, 2);
      assert.deepEqual(
        { password: next.outputs.password, count: next.outputs.rotationCount, reason: next.outputs.rotationReason },
        { password: "new", count: 2, reason: "trigger" },
      );
      assert.match(next.notice ?? "", /^The reset of database "db" was not confirmed .* are saved\.$/);
    });

    it("is not sent to another account before a new version requests that", async () => {
      fake.readDatabase = () => showing("former");
      fake.account = "1:aaaaaaaa";
      const { outputs } = await run();
      fake.account = "1:bbbbbbbb";
      fake.databaseReads.length = 0;
      await assert.rejects(run(v1, outputs), /was sent with another baseUrl or username.* \[REKEY_OTHER_ACCOUNT\]$/);
      assert.deepEqual(requests(), { resets: 1, reads: 0 });
      fake.readDatabase = () => showing("of another account");
      fake.answer = () => showing("new");
      const next = await run(v2, outputs);
      assert.deepEqual({ resets: fake.resets.length, password: next.outputs.password }, { resets: 2, password: "new" });
    });

    it("sends nothing in the next run if the read fails", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.readDatabase = () => notSent();
      await assert.rejects(run(v1, outputs), NotReadError);
      assert.equal(fake.resets.length, 1);
    });

    it("needs no reset of the run's limit if a read confirms it, and one if it does not", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.maxResets = 0;
      await assert.rejects(run(v1, outputs), /REKEY_RESET_LIMIT/);
      fake.readDatabase = () => showing("late");
      assert.equal((await run(v1, outputs)).outputs.password, "late");
      assert.equal(fake.resets.length, 1);
    });

    it("is read before it is refused the fourth time", async () => {
      fake.readDatabase = () => showing("former");
      let { outputs } = await run();
      ({ outputs } = await run(v1, outputs));
      ({ outputs } = await run(v1, outputs));
      assert.equal(outputs.unconfirmedResets, 3);
      await assert.rejects(run(v1, outputs), (thrown) => {
        assert.ok(thrown instanceof RefusedError);
        assert.match(thrown.text, /database "db" was not reset, .* did not confirm the last 3 resets/);
        return true;
      });
      fake.readDatabase = () => showing("late");
      const next = await run(v1, outputs);
      assert.deepEqual({ outcome: next.outputs.outcome, resets: fake.resets.length }, { outcome: "reset", resets: 3 });
    });

    it("is refused without a read if there is nothing to compare with, or the state is unreadable", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.databaseReads.length = 0;
      const { formerMarks, ...thrice } = { ...outputs, unconfirmedResets: 3 };
      for (const saved of [thrice, { ...outputs, attemptedTrigger: "9:newer" }]) {
        await assert.rejects(run(v1, saved), RefusedError);
        assert.doesNotMatch(diff(saved, v1, fake.start()).notice ?? "", /It is read first/);
      }
      assert.deepEqual(requests(), { resets: 1, reads: 0 });
    });

    it("is as before if the platform shows no credentials", async () => {
      fake.readDatabase = () => noCredentials;
      const { outputs, message } = await run();
      assert.match(message ?? "", /The next `up` sends one more reset, which returns new credentials\./);
      assert.deepEqual({ ...requests(), baseline: outputs.baseline }, { resets: 1, reads: 1, baseline: undefined });
    });

    it("is not settled by a later read if it was sent without one: that would not show which reset was applied", async () => {
      fake.readDatabase = () => showing("former");
      const { outputs } = await run();
      fake.canRead = false;
      const { outputs: blind } = await run(v2, outputs);
      fake.canRead = true;
      fake.readDatabase = () => showing("other");
      assert.equal((await refresh(blind, fake.start())).outputs, blind);
    });
  });

  describe("adoption", () => {
    const adopted = { ...v1, initialRotation: false };

    it("has the record and the credentials", async () => {
      fake.readDatabase = () => showing("current");
      const { outputs, warning } = await run(adopted);
      assert.deepEqual(
        { outcome: outputs.outcome, password: outputs.password, port: outputs.record?.port, warning },
        { outcome: "adopted", password: "current", port: 1, warning: undefined },
      );
      assert.deepEqual(requests(), { resets: 0, reads: 1 });
    });

    it("fails if the read fails", async () => {
      fake.readDatabase = () => rejected();
      await assert.rejects(run(adopted), /It was not adopted, and nothing was changed\./);
    });

    it("warns if the platform shows no credentials", async () => {
      fake.readDatabase = () => noCredentials;
      const { outputs, warning } = await run(adopted);
      assert.equal(outputs.outcome, "adopted");
      assert.match(warning ?? "", /adopted without credentials/);
    });
  });

  describe("refresh", () => {
    let saved: PasswordRotationOutputs;
    const refreshed = () => refresh(saved, fake.start());
    beforeEach(async () => {
      fake.answer = () => showing("saved");
      ({ outputs: saved } = await run());
      fake.databaseReads.length = 0;
      fake.readDatabase = () => showing("saved");
    });
    afterEach(() => assert.equal(fake.resets.length, 1));

    it("saves what was changed elsewhere, and names it; nothing is due for that", async () => {
      fake.readDatabase = () => ({ record: { databaseId: "db", port: 2 }, credentials: { password: "other" } });
      const { outputs, notice } = await refreshed();
      assert.deepEqual({ password: outputs.password, port: outputs.record?.port }, { password: "other", port: 2 });
      assert.deepEqual({ at: outputs.rotatedAt, count: outputs.rotationCount }, { at: saved.rotatedAt, count: 1 });
      assert.match(notice ?? "", /^Database "db" was changed outside of Rekey: password, port\./);
      assert.doesNotMatch(notice ?? "", /other|saved"/);
      assert.equal(diff(outputs, v1, fake.start()).changes, false);
    });

    it("keeps a database that was not changed, and one whose read fails", async () => {
      assert.deepEqual(await refreshed(), { outputs: saved });
      const failures = [
        { error: notSent(), why: notSent().text },
        { error: rejected(), why: rejected().text },
        { error: new Error("secret-canary"), why: 'Could not read database "db".' },
      ];
      for (const { error, why } of failures) {
        fake.readDatabase = () => error;
        const { outputs, warning } = await refreshed();
        assert.equal(outputs, saved);
        assert.equal(warning, `${why} The saved state stays.`);
      }
    });

    it("adds other fields, and keeps one that is left out", async () => {
      const record = { databaseId: "db", endpoint: "shown-now" };
      fake.readDatabase = () => ({ ...showing("saved"), record });
      const { outputs, ...diagnostics } = await refreshed();
      assert.deepEqual(outputs.record, { ...record, port: 1 });
      assert.deepEqual(diagnostics, {});
    });

    it("keeps credentials that are no longer shown, and warns", async () => {
      fake.readDatabase = () => ({ record: { databaseId: "db", port: 1 } });
      const { outputs, warning } = await refreshed();
      assert.equal(outputs, saved);
      assert.match(warning ?? "", /does not show password of database "db": the saved state stays/);
    });

    it("keeps a credential that is not shown, unless it belongs to others than the shown ones", async () => {
      saved = { ...saved, restToken: "token" };
      const kept = await refreshed();
      assert.equal(kept.outputs, saved);
      assert.match(kept.warning ?? "", /does not show restToken of database "db"/);
      fake.readDatabase = () => showing("other");
      const { outputs, warning } = await refreshed();
      assert.deepEqual(
        { restToken: outputs.restToken, missing: outputs.missingCredentials },
        { restToken: undefined, missing: ["restToken"] },
      );
      assert.match(warning ?? "", /shows new credentials of database "db", but not restToken/);
      const next = await run(v1, outputs);
      assert.equal(next.outputs.missingCredentials, undefined);
      assert.equal(diff(next.outputs, v1, fake.start()).changes, false);
    });

    it("replaces the fields that are not known, unless the read hides the credentials", async () => {
      saved = { ...saved, otherFields: '{"new":1}' };
      const record = { databaseId: "db", port: 2 };
      const otherFields = '{"error":"maintenance"}';
      fake.readDatabase = () => ({ record, otherFields });
      const { outputs: hidden } = await refreshed();
      assert.deepEqual([hidden.record?.port, hidden.otherFields], [2, saved.otherFields]);
      fake.readDatabase = () => ({ ...showing("saved"), record, otherFields });
      assert.equal((await refreshed()).outputs.otherFields, otherFields);
      fake.readDatabase = () => ({ ...showing("saved"), record });
      assert.equal((await refreshed()).outputs.otherFields, undefined);
    });

    it("fills in what was not known, without claiming a change", async () => {
      const { password, record, ...unknown } = saved;
      saved = { ...unknown, outcome: "adopted" };
      const { outputs, notice } = await refreshed();
      assert.deepEqual({ password: outputs.password, port: outputs.record?.port }, { password: "saved", port: 1 });
      assert.match(notice ?? "", /were read and are saved\.$/);
    });

    it("settles an unconfirmed reset of an earlier version, or leaves it alone", async () => {
      const { password, ...rest } = saved;
      saved = {
        ...rest,
        outcome: "unknown",
        attemptedTrigger: saved.appliedTrigger ?? "",
        baseline: { password: "saved" },
      };
      assert.equal((await refreshed()).outputs, saved);
      fake.readDatabase = () => showing("late");
      const { outputs } = await refreshed();
      assert.deepEqual(
        { outcome: outputs.outcome, password: outputs.password, baseline: outputs.baseline },
        { outcome: "reset", password: "late", baseline: undefined },
      );
      assert.equal(diff(outputs, v1, fake.start()).changes, false);
    });

    it("reads the credentials of a confirmed reset of an earlier version, and never saves the former ones", async () => {
      const { password, ...rest } = saved;
      saved = { ...rest, baseline: { password: "former" } };
      fake.readDatabase = () => showing("former");
      assert.equal((await refreshed()).outputs, saved);
      fake.readDatabase = () => showing("new");
      const { outputs } = await refreshed();
      assert.deepEqual(
        { password: outputs.password, baseline: outputs.baseline },
        { password: "new", baseline: undefined },
      );
    });

    it("reads nothing of another account, of an unconfirmed reset that cannot be compared, or without the setting", async () => {
      fake.account = "1:aaaaaaaa";
      saved = { ...saved, account: "1:bbbbbbbb" };
      assert.match((await refreshed()).warning ?? "", /another baseUrl or username, so it was not read/);
      fake.account = undefined;
      saved = { ...saved, outcome: "unknown" };
      assert.deepEqual(await refreshed(), { outputs: saved });
      fake.canRead = false;
      assert.deepEqual(await refreshed(), { outputs: saved });
      assert.equal(fake.databaseReads.length, 0);
    });
  });
});
