import assert from "node:assert/strict";
import { RefusedError } from "../../../provider/platform/errors";
import { compareTrigger } from "../../../provider/rotation/trigger";
import { asShown, FakeRun, unconfirmed, passwordRotation } from "../../support/fakeRun";
import { InternalError } from "../../../provider/platform/errors";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { secretOutputsOf, type PasswordRotationOutputs } from "../../../provider/rotation/outputs";
import { assertFields } from "../../support/results";
import { unknownNames } from "../../../provider/records/properties";
import { unknown } from "../../support/wire";

const { apply, diff, noticeOfNew, noticeOfUnknown } = asShown(passwordRotation);

const db = { databaseId: "db" };
const v1 = { ...db, version: 1 };
const v2 = { ...db, version: 2 };

describe("rotation: PasswordRotation", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  type Inputs = Parameters<typeof apply>[1];
  const up = async (inputs: Inputs, saved?: PasswordRotationOutputs) =>
    (await apply(saved, inputs, fake.start())).outputs;
  const diffOf = (saved: PasswordRotationOutputs, inputs: Inputs) => diff(saved, inputs, fake.start());

  it("announces a reset that depends on unknown inputs, unless no value of them can cause one", async () => {
    const noticeOf = (saved: PasswordRotationOutputs, inputs: Inputs) =>
      noticeOfUnknown(saved, inputs, unknownNames({ ...inputs }), fake.start());
    const saved = await up(v1);
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    const may = 'May reset the password of database "db":';
    assert.equal(noticeOf(saved, { ...db, version: unknown }), `${may} version is not known yet.`);
    const triggers = { image: unknown };
    const several = { ...db, version: unknown, triggers, rotateEvery: "30d" };
    assert.equal(noticeOf(saved, several), `${may} version and triggers are not known yet.`);
    assert.equal(noticeOf(saved, { ...v1, rotateEvery: unknown }), `${may} rotateEvery is not known yet.`);
    const other = { databaseId: unknown, version: 1 };
    assert.equal(noticeOf(saved, other), "May reset the password of the database: databaseId is not known yet.");
    assert.equal(noticeOf(saved, { ...other, initialRotation: false }), undefined);
    const newer = { ...saved, appliedTrigger: "2:of a newer version" };
    assert.equal(noticeOf(newer, { ...db, version: unknown }), undefined, "it is refused");
  });

  it("creates with one reset, and saves the result", async () => {
    const answer = { exactIntegers: { budget: "9" }, otherFields: '{"a":1}' };
    fake.answer = () => ({ record: { port: 1 }, credentials: { restToken: "t" }, ...answer });
    const { outputs, ...rest } = await apply(undefined, v1, fake.start());
    const { appliedTrigger, ...plain } = outputs;
    assert.deepEqual(plain, {
      databaseId: "db",
      record: { port: 1 },
      restToken: "t",
      ...answer,
      problems: [],
      outcome: "reset",
      rotatedAt: "2026-11-21T12:00:00.000Z",
      rotationCount: 1,
      rotationReason: "created",
    });
    assert.equal(compareTrigger(appliedTrigger, v1), "same");
    assert.deepEqual(rest, {});
    assert.deepEqual(fake.resets, ["db"]);
  });

  it("adopts without a reset", async () => {
    const { appliedTrigger, ...plain } = await up({ ...v1, initialRotation: false });
    const adoptedAt = "2026-11-21T12:00:00.000Z";
    assert.deepEqual(plain, { databaseId: "db", outcome: "adopted", adoptedAt, rotationCount: 0 });
    assert.equal(compareTrigger(appliedTrigger, v1), "same");
    assert.deepEqual(fake.resets, []);
  });

  it("resets once when it is due, and explains why, and how late it is", async () => {
    const daily = { ...v1, rotateEvery: "1d" };
    const saved = await up(daily);
    fake.time = new Date("2026-11-26T12:00:00.000Z");
    assert.match(
      diffOf(saved, daily).notice ?? "",
      /^Resets .* it is due by rotateEvery, and was last reset at \S+\. The rotation is 4 days late\.$/,
    );
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    const { changes, notice } = diffOf(saved, daily);
    assert.equal(changes, true);
    assert.match(notice ?? "", /^Resets .*"db": it is due by rotateEvery.*2026-11-21T12:00:00\.000Z\.$/);
    const outputs = await up(daily, saved);
    assertFields(outputs, { rotationReason: "schedule", rotatedAt: "2026-11-22T12:00:00.000Z" });
    assert.deepEqual(diffOf(outputs, daily), { changes: false });
  });

  it("is replaced by another database, and by nothing else", async () => {
    const saved = await up(v1);
    const replacing = diffOf(saved, { databaseId: "other" });
    assert.deepEqual(
      replacing,
      { changes: true, resets: true, replaces: ["databaseId"] },
      "its check announces the reset",
    );
    const adopting = diffOf(saved, { databaseId: "other", initialRotation: false });
    assert.deepEqual(adopting, { changes: true, replaces: ["databaseId"] }, "nothing is reset");
    assert.equal(diffOf(saved, v2).replaces, undefined);
  });

  it("announces the reset of a new resource, and how to avoid it if that is possible", () => {
    const noticeOf = (inputs: Inputs, run = fake.start()) => noticeOfNew(inputs, unknownNames({ ...inputs }), run);
    const announced = 'Resets the password of database "db": the resource is new.';
    const keeps = " `initialRotation: false` keeps it.";
    assert.equal(noticeOf(v1), announced + keeps);
    assert.equal(noticeOf({ ...db, version: unknown }), announced + keeps);
    assert.equal(noticeOf({ ...db, rotatedSince: "2026-11-01" }), announced);
    assert.equal(noticeOf({ ...v1, initialRotation: false }), undefined);
    const may = 'May reset the password of database "db":';
    const unsure = noticeOf({ ...db, initialRotation: unknown as unknown as boolean });
    assert.equal(unsure, `${may} the resource is new, and initialRotation is not known yet.`);
    assert.equal(
      noticeOf({ ...db, initialRotation: false, rotatedSince: "2026-11-01" }),
      `${may} the time of its creation, which rotatedSince compares, is not known yet.`,
    );
    assert.match(
      noticeOf({ databaseId: unknown }) ?? "",
      /^Resets the password of the database: the resource is new\./,
    );
  });

  it("announces one reset once in a run", async () => {
    const saved = await up(v1);
    const run = fake.start();
    assert.match(diff(saved, v2, run).notice ?? "", /^Resets/);
    assert.equal(noticeOfNew(v2, new Set(), run), undefined, "another option replaces the resource");
    assert.match(noticeOfNew({ databaseId: "other" }, new Set(), run) ?? "", /"other"/);
  });

  it("announces the reset of a changed trigger", async () => {
    const saved = await up(v1);
    const notice = 'Resets the password of database "db": version or triggers have changed.';
    assert.deepEqual(diffOf(saved, v2), { changes: true, resets: true, notice });
  });

  it("warns that the saved state is of another account, until the next reset, and resets nothing", async () => {
    fake.account = "1:first";
    for (const inputs of [v1, { ...v1, initialRotation: false }]) {
      const saved = await up(inputs);
      const sent = fake.resets.length;
      assert.equal(saved.account, "1:first");
      assert.deepEqual(diffOf(saved, inputs), { changes: false });
      fake.account = "1:second";
      const { warning, ...found } = diffOf(saved, inputs);
      assert.deepEqual(found, { changes: false });
      assert.match(
        warning ?? "",
        /^Database "db" was last reset or adopted with another baseUrl or username.* new version/,
      );
      assert.equal(diffOf(saved, v2).warning, undefined, "it is reset with the new account");
      assert.deepEqual(await up(inputs, saved), saved);
      assert.equal(fake.resets.length, sent);
      const reset = await up(v2, saved);
      assert.equal(reset.account, "1:second");
      assert.equal(diffOf(reset, v2).warning, undefined);
      fake.account = "1:first";
      assert.equal(diffOf(saved, inputs).warning, undefined, "it was moved back");
    }
  });

  it("does not warn if the account of the state or of the run is not known", async () => {
    const unmarked = await up(v1);
    assert.equal(unmarked.account, undefined);
    fake.account = "1:first";
    const marked = await up(v1);
    assert.deepEqual(diffOf(unmarked, v1), { changes: false });
    assert.deepEqual(diffOf({ ...marked, account: "2:of a newer version" }, v1), { changes: false });
    fake.account = undefined;
    assert.deepEqual(diffOf(marked, v1), { changes: false });
  });

  for (const { what, state } of [
    { what: "was reset", state: async () => up(v1) },
    { what: "was not confirmed", state: async () => ((fake.answer = unconfirmed), up(v1)) },
  ]) {
    it(`resets nothing when a removed trigger, which ${what}, is restored after a reset without it`, async () => {
      const saved = await state();
      fake.answer = () => ({});
      fake.time = new Date("2026-11-23T12:00:00.000Z");
      const without = await up({ ...db, rotateEvery: "1d" }, saved);
      assert.equal(without.outcome, "reset");
      assert.deepEqual(diffOf(without, v1), { changes: false });
      assert.equal(diffOf(without, v2).changes, true);
    });
  }

  it("succeeds with the fields that it could read, and names the others", async () => {
    fake.answer = () => ({
      record: { port: 1 },
      problems: ["tls: expected true or false", "state: expected a string"],
    });
    const { outputs, notice, message } = await apply(undefined, v1, fake.start());
    assert.deepEqual([outputs.outcome, outputs.problems?.length, message], ["reset", 2, undefined]);
    assert.match(notice ?? "", /could not be read.*: tls: expected true or false; state: expected a string\.$/);
  });

  it("forgets credentials that the platform no longer sends", async () => {
    const saved = await up(v1);
    fake.answer = () => ({ record: { port: 2 } });
    const outputs = await up(v2, saved);
    assert.deepEqual([saved.password, outputs.password], ["password-1", undefined]);
  });

  it("takes of a response without the password only what differs from the former credentials", async () => {
    fake.answer = () => ({ credentials: { password: "p1", restToken: "r1", readOnlyRestToken: "o1" } });
    const saved = await up(v1);
    fake.answer = () => ({ credentials: { restToken: "r2", readOnlyRestToken: "o1" } });
    const { password, restToken, readOnlyRestToken } = await up(v2, saved);
    assert.deepEqual([password, restToken, readOnlyRestToken], [undefined, "r2", undefined]);
  });

  it("is not reset if the trigger of a reset that was not applied cannot be read", async () => {
    const saved = { ...(await up(v1)), attemptedTrigger: "9:x" };
    await assert.rejects(up(v2, saved), { code: "REKEY_STATE_UNREADABLE", message: /saved output attemptedTrigger/ });
    assert.equal(fake.resets.length, 1);
  });

  it("has these deciding inputs and secret outputs", () => {
    const deciding = "databaseId rotateEvery rotatedSince triggers version";
    assert.equal([...passwordRotation.decidingInputs].sort().join(" "), deciding);
    const secrets =
      "account appliedTrigger attemptedTrigger baseline currentMarks formerMarks otherFields password readOnlyRestToken restToken saving";
    assert.equal(secretOutputsOf(databasePassword).sort().join(" "), secrets);
  });

  it("saves an unconfirmed reset as unknown, sends one more, and none after three in a row", async () => {
    fake.answer = unconfirmed;
    const { outputs, message: reason } = await apply(undefined, v1, fake.start());
    const { attemptedTrigger, ...plain } = outputs;
    const attemptedAt = "2026-11-21T12:00:00.000Z";
    const open = { outcome: "unknown", rotationCount: 0, unconfirmedResets: 1, attemptedAt };
    assert.deepEqual(plain, { databaseId: "db", ...open });
    assert.equal(compareTrigger(attemptedTrigger, v1), "same");
    assert.match(reason ?? "", /it broke .* Perhaps changed\..*\n.*`up` sends one more/);
    assert.match(diffOf(outputs, v1).notice ?? "", /^Resets .*"db" once more.* not confirmed/);
    const last = await up(db, await up(db, outputs));
    const { changes, notice } = diffOf(last, v1);
    assert.equal(changes, true);
    assert.match(notice ?? "", /^Does not reset .*"db".* last 3 resets.*new version/);
    await assert.rejects(up(v1, last), RefusedError);
    assert.equal(fake.resets.length, 3);

    fake.answer = () => ({ record: { port: 1 }, credentials: { password: "new" } });
    const confirmed = await up(v1, outputs);
    const { appliedTrigger } = confirmed;
    assert.deepEqual(confirmed, { ...(await up(v1)), rotationReason: "unconfirmed", appliedTrigger });
    assert.equal(compareTrigger(appliedTrigger, v1), "same");
  });
});

describe("rotation: an unexpected failure of a reset", () => {
  const withStack = (stack: string | undefined, message = "canary") => Object.assign(new TypeError(message), { stack });
  const text = "a at canary\n    at canary (c.js:5:6)";
  const rows = [
    {
      what: "an error",
      thrown: withStack("TypeError: canary\n    at send (a.js:1:2)\n    at reset (b.js:3:4)"),
      where: " (TypeError at send (a.js:1:2))",
    },
    {
      what: "an error whose text contains a place",
      thrown: withStack("TypeError: a at canary\n    at canary (c.js:5:6)\n    at send (a.js:1:2)", text),
      where: " (TypeError at send (a.js:1:2))",
    },
    {
      what: "an error whose text was replaced",
      thrown: withStack("TypeError: a at canary\n    at send (a.js:1:2)", "host"),
      where: " (TypeError)",
    },
    { what: "an error without a place", thrown: withStack("TypeError: canary"), where: " (TypeError)" },
    { what: "an error without a stack", thrown: withStack(undefined), where: " (TypeError)" },
    { what: "something else", thrown: "canary at home", where: "" },
  ];
  for (const { what, thrown, where } of rows) {
    it(`shows the kind and the place of ${what}, and leaves open whether the password was changed`, () => {
      const { text, delivery } = new InternalError({ secret: 'password of database "db"', word: "password" }, thrown);
      assert.match(text, /^Could not reset the password of database "db": .* The password may have been changed,/);
      assert.ok(text.includes(`: pulumi-rekey failed unexpectedly${where}. The password`), text);
      assert.equal(delivery, "maybe applied");
    });
  }
});
