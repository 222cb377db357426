import assert from "node:assert/strict";
import { RejectedError } from "../../../provider/platform/errors";
import { type SecretResponse } from "../../../provider/records/response";
import { type PasswordRotationOutputs } from "../../../provider/rotation/outputs";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { type PasswordRotationShardOutputs } from "../../../provider/rotation/shardState";
import { type Run } from "../../../provider/run";
import { asShown, FakeRun, rejected, unconfirmed, passwordRotation } from "../../support/fakeRun";

const { apply, diff, refresh } = asShown(passwordRotation);
const shard = asShown(passwordRotationShard);

const record = { databaseId: "db", port: 1, endpoint: "e" };
const all = (generation: string) => ({ password: `p${generation}`, restToken: `r${generation}` });
const showing = (credentials: SecretResponse["credentials"]): Partial<SecretResponse> => ({ record, credentials });
const version = (number: number) => ({ databaseId: "db", version: number });

const tooManyRequests = (): RejectedError => {
  const { method, url } = rejected();
  const consequences = { "not sent": "", rejected: "", "maybe applied": "" };
  return new RejectedError(
    { purpose: "read", method, url, consequences },
    { happened: "429", advice: "", status: 429, inJson: true },
  );
};

/** The same rule for a single rotation and a database of a fleet. */
const subjects = [
  {
    what: "PasswordRotation",
    up: async (number: number, saved: PasswordRotationOutputs | undefined, run: Run) =>
      apply(saved, version(number), run),
    refresh: async (saved: PasswordRotationOutputs, run: Run) => refresh(saved, run),
  },
  {
    what: "database of a fleet",
    up: async (number: number, saved: PasswordRotationOutputs | undefined, run: Run) => {
      const inputs = { shard: "00", fleet: "urn::fleet", databases: [version(number)], includeRecords: true };
      return single(await shard.apply(saved && encoded(saved), inputs, run));
    },
    refresh: async (saved: PasswordRotationOutputs, run: Run) => single(await shard.refresh(encoded(saved), run)),
  },
];

function encoded(saved: PasswordRotationOutputs) {
  const { password, restToken, appliedTrigger, attemptedTrigger, formerMarks, account, ...rotation } = saved;
  const secrets = { databaseId: "db", password, restToken, appliedTrigger, attemptedTrigger, formerMarks, account };
  return { shard: "00", fleet: "urn::fleet", rotations: [rotation], secrets: JSON.stringify([secrets]) };
}

function single<R extends { outputs: PasswordRotationShardOutputs }>({ outputs, ...rest }: R) {
  const [rotation] = outputs.rotations;
  const [secrets] = JSON.parse(outputs.secrets) as object[];
  return { ...rest, outputs: { ...rotation, ...secrets } as PasswordRotationOutputs };
}

for (const subject of subjects) {
  describe(`rotation: a read is evidence with an age (${subject.what})`, () => {
    let fake: FakeRun;
    let saved: PasswordRotationOutputs;
    const known = ({ password, restToken, outcome }: PasswordRotationOutputs) => ({ password, restToken, outcome });
    const up = (number: number) => subject.up(number, saved, fake.start());
    const refreshed = () => subject.refresh(saved, fake.start());
    const isReset = (generation: string) => ({ ...all(generation), outcome: "reset" });

    beforeEach(async () => {
      fake = new FakeRun();
      fake.canRead = true;
      fake.readDatabase = () => showing(all("0"));
      fake.answer = () => showing(all("1"));
      ({ outputs: saved } = await subject.up(1, undefined, fake.start()));
      fake.readDatabase = () => showing(all("1"));
      fake.answer = () => showing(all("2"));
    });

    it("a refresh that shows a former record saves nothing of it, with a warning", async () => {
      ({ outputs: saved } = await up(2));
      for (const generation of ["0", "1"]) {
        fake.readDatabase = () => ({ record: { ...record, port: 9 }, credentials: all(generation) });
        const { outputs, notice, warning } = await refreshed();
        assert.deepEqual(known(outputs), isReset("2"));
        assert.equal(outputs.record?.port, 1);
        assert.equal(notice, undefined);
        assert.match(warning ?? "", /still shows former credentials.*If it lasts, set a new version/s);
      }
    });

    it("a refresh that shows a former record warns while a later reset is unconfirmed, one before that does not", async () => {
      fake.answer = unconfirmed;
      ({ outputs: saved } = await up(2));
      for (const { shown, isStale } of [
        { shown: "0", isStale: true },
        { shown: "1", isStale: false },
      ]) {
        fake.readDatabase = () => showing(all(shown));
        const { outputs, warning } = await refreshed();
        assert.deepEqual(outputs, saved);
        assert.equal(/still shows former credentials/.test(warning ?? ""), isStale);
      }
    });

    it("a read that settles a lost reset names the credentials that it does not show, and only those", async () => {
      fake.answer = unconfirmed;
      ({ outputs: saved } = await up(2));
      for (const { shown, restToken, missing } of [
        { shown: { password: "p2" }, restToken: undefined, missing: ["restToken"] },
        { shown: all("2"), restToken: "r2", missing: undefined },
      ]) {
        fake.readDatabase = () => showing(shown);
        const { outputs, warning } = await refreshed();
        assert.deepEqual(known(outputs), { password: "p2", restToken, outcome: "reset" });
        assert.deepEqual(outputs.missingCredentials, missing);
        assert.equal(warning !== undefined, missing !== undefined);
      }
    });

    it("a password that someone changed and then changed back is not a former one", async () => {
      for (const generation of ["x", "1"]) {
        fake.readDatabase = () => showing(all(generation));
        ({ outputs: saved } = await refreshed());
        assert.deepEqual(known(saved), isReset(generation));
      }
    });

    it("a response that repeats a former record is read until it differs", async () => {
      fake.answer = () => showing(all("1"));
      fake.readDatabase = () => showing(all(fake.databaseReads.length < 5 ? "1" : "2"));
      assert.deepEqual(known((await up(2)).outputs), isReset("2"));
      assert.equal(fake.resets.length, 2);
    });

    it("a response that repeats a former record is not saved on a platform that cannot be read", async () => {
      fake.canRead = false;
      fake.answer = () => showing(all("1"));
      const { outputs, warning } = await up(2);
      assert.deepEqual(known(outputs), { password: undefined, restToken: undefined, outcome: "reset" });
      assert.match(warning ?? "", /repeats the former credentials|did not show all/);
    });

    it("a late read that shows a password that was masked before a lost reset does not settle it", async () => {
      const { password, restToken } = all("1");
      fake.answer = unconfirmed;
      for (const shown of [{ password, restToken }, { password }]) {
        fake.readDatabase = () => showing(fake.databaseReads.length % 2 === 1 ? { restToken } : shown);
        const { outputs } = await subject.up(2, undefined, fake.start());
        assert.equal(outputs.outcome, "unknown");
        fake.databaseReads.length = 0;
      }
    });

    it("a late read before a reset neither replaces the saved record nor settles a lost reset", async () => {
      ({ outputs: saved } = await up(2));
      fake.answer = unconfirmed;
      // Replicas disagree; the reset is never applied.
      fake.readDatabase = () => showing(all(String(fake.databaseReads.length % 3)));
      const { outputs } = await up(3);
      assert.deepEqual(known(outputs), { ...all("2"), outcome: "unknown" });
      ({ outputs: saved } = await subject.refresh(outputs, fake.start()));
      assert.equal(saved.outcome, "unknown");
      fake.readDatabase = () => showing(all("3"));
      assert.deepEqual(known((await refreshed()).outputs), isReset("3"));
    });

    it("what was current before a lost reset becomes former when it is settled", async () => {
      fake.answer = unconfirmed;
      // Someone changed the password before.
      fake.readDatabase = () => showing(all("x"));
      ({ outputs: saved } = await up(2));
      assert.equal(saved.outcome, "unknown");
      fake.readDatabase = () => showing(all("2"));
      ({ outputs: saved } = await refreshed());
      for (const generation of ["1", "x"]) {
        fake.readDatabase = () => showing(all(generation));
        assert.deepEqual(known((await refreshed()).outputs), isReset("2"));
      }
    });

    it("a new REST token with a former password proves nothing, also of a lost reset", async () => {
      ({ outputs: saved } = await up(2));
      fake.readDatabase = () => showing({ password: "p1", restToken: "new" });
      assert.deepEqual(known((await refreshed()).outputs), isReset("2"));
      fake.readDatabase = () => showing(all("2"));
      fake.answer = unconfirmed;
      ({ outputs: saved } = await up(3));
      fake.readDatabase = () => showing({ password: "p2", restToken: "new" });
      assert.equal((await refreshed()).outputs.outcome, "unknown");
    });

    for (const { what, credentials, read, expected } of [
      { what: "only the password", credentials: { password: "p2" }, read: all("2"), expected: all("2") },
      { what: "only the REST token", credentials: { restToken: "r2" }, read: all("2"), expected: all("2") },
      { what: "only the former REST token", credentials: { restToken: "r1" }, read: all("2"), expected: all("2") },
    ]) {
      it(`a response with ${what} is completed by a read`, async () => {
        fake.answer = () => showing(credentials);
        fake.readDatabase = () => showing(fake.resets.length === 2 ? read : all("1"));
        const { outputs, warning } = await up(2);
        assert.deepEqual(known(outputs), { ...expected, outcome: "reset" });
        assert.equal(warning, undefined);
      });
    }

    it("a credential that is still missing is named in a warning, and read once more", async () => {
      fake.answer = () => showing({ password: "p2" });
      fake.readDatabase = () => showing(fake.resets.length === 2 ? { password: "p2" } : all("1"));
      const { outputs, warning } = await up(2);
      assert.match(warning ?? "", /its new restToken is not known|without credentials that are known/);
      assert.deepEqual(outputs.missingCredentials, ["restToken"]);
      saved = outputs;
      fake.databaseReads.length = 0;
      ({ outputs: saved } = await up(2));
      assert.equal(fake.databaseReads.length, 1);
      assert.equal(saved.missingCredentials, undefined);
      ({ outputs: saved } = await up(2));
      assert.equal(fake.databaseReads.length, 1);
      assert.equal(fake.resets.length, 2);
    });

    it("a missing credential is only a warning on a platform that cannot be read", async () => {
      fake.canRead = false;
      fake.answer = () => showing({ password: "p2" });
      const { outputs, warning } = await up(2);
      assert.deepEqual(known(outputs), { password: "p2", restToken: undefined, outcome: "reset" });
      assert.match(warning ?? "", /its new restToken is not known: the platform's response|did not show all/);
      assert.equal(outputs.missingCredentials, undefined);
    });

    it("an error with the database's id and status 200 takes nothing from the saved record", async () => {
      fake.readDatabase = () => ({ record: { databaseId: "db" }, otherFields: '{"error":"maintenance"}' });
      const { outputs, warning } = await refreshed();
      assert.deepEqual(outputs.record, record);
      assert.deepEqual(known(outputs), isReset("1"));
      assert.match(warning ?? "", /does not show/);
    });

    it("status 429 does not end the reads after a reset", async () => {
      fake.answer = () => ({ record });
      fake.readDatabase = () => {
        if (fake.resets.length < 2) return showing(all("1"));
        return fake.databaseReads.length < 6 ? tooManyRequests() : showing(all("2"));
      };
      assert.deepEqual(known((await up(2)).outputs), isReset("2"));
    });

    it("the end of the run ends the reads, also one that is under way", async () => {
      fake.answer = () => ({ record });
      fake.readDatabase = () => {
        if (fake.resets.length === 2) fake.runEnd.abort();
        return showing(all("1"));
      };
      const { outputs, warning } = await up(2);
      assert.deepEqual(known(outputs), { password: undefined, restToken: undefined, outcome: "reset" });
      assert.match(warning ?? "", /still shows the former|could not be read/);
      assert.equal(fake.waits.length, 0);
    });

    for (const { what, error } of [
      { what: "refused", error: undefined },
      { what: "rejected", error: rejected() },
    ]) {
      it(`what a read has settled is saved if the reset that follows is ${what}`, async () => {
        fake.answer = unconfirmed;
        ({ outputs: saved } = await up(2));
        fake.readDatabase = () => showing(all("2"));
        if (error) fake.answer = () => error;
        else fake.maxResets = 0;
        const applied = await up(3);
        assert.deepEqual(known(applied.outputs), isReset("2"));
        ({ outputs: saved } = applied);
        fake.maxResets = undefined;
        fake.answer = () => showing(all("3"));
        assert.deepEqual(known((await up(3)).outputs), isReset("3"));
      });
    }

    it("a state without marks knows no former credential", async () => {
      const { formerMarks, ...earlier } = saved;
      saved = earlier;
      fake.readDatabase = () => showing(all("0"));
      assert.deepEqual(known((await refreshed()).outputs), isReset("0"));
    });
  });
}

describe("rotation: announcements", () => {
  it("warn of a last reset in the future, from which rotateEvery counts", async () => {
    const fake = new FakeRun();
    const { outputs } = await apply(undefined, version(1), fake.start());
    fake.time = new Date(fake.time.getTime() - 3_600_000);
    const every = { ...version(1), rotateEvery: "1d" };
    assert.match(diff(outputs, every, fake.start()).warning ?? "", /which is in the future: rotateEvery counts/);
    assert.equal(diff(outputs, version(1), fake.start()).warning, undefined);
    const inputs = { shard: "00", fleet: "urn::caches", databases: ["db"], version: 1, rotateEvery: "1d" };
    const { outputs: saved } = await shard.apply(undefined, inputs, fake.start());
    fake.time = new Date(fake.time.getTime() - 3_600_000);
    assert.match(shard.diff(saved, inputs, fake.start()).warning ?? "", /1 last reset .* in the future/);
  });
});
