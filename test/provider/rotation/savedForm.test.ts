import assert from "node:assert/strict";
import { Team } from "../../support/age";
import { FakeRun } from "../../support/fakeRun";
import { type Credentials } from "../../../provider/records/credentials";
import { markAll, readMarks, writeMarked } from "../../../provider/rotation/marks";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { type RotationOutputs, type Saving } from "../../../provider/rotation/outputs";
import { type Run } from "../../../provider/run";
import { shownIn } from "../../../provider/rotation/saved";
import { savingChange, type SavingInputs, savingOf, toSave } from "../../../provider/rotation/saving";

const subject = { kind: databasePassword, id: "a" };
const marks = readMarks(undefined);
const all = { password: "p1", restToken: "r1" };
const state = (more: Partial<RotationOutputs> = {}): RotationOutputs => ({
  outcome: "reset",
  rotationCount: 1,
  ...more,
});
/** Saved instead of the values of credentials. */
const marked = (credentials: Credentials = all) => {
  const currentMarks = writeMarked({ salt: marks.salt, marked: markAll(marks, credentials) });
  return currentMarks === undefined ? {} : { currentMarks };
};

describe("rotation: the form in which credentials are saved", () => {
  let fake: FakeRun;
  let run: Run;
  let team: Team;
  before(async () => (team = await Team.create()));
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    run = fake.start();
  });

  it("has the recipients sorted, each once, and the connection for their URLs only", () => {
    const of = (inputs: SavingInputs & { host?: string | null; tls?: boolean | null }) => savingOf(inputs, undefined);
    assert.deepEqual(of({ encryptFor: ["b", "a", "b"] }), { encryptFor: ["a", "b"] });
    assert.deepEqual(of({ encryptFor: [], host: "h" }), {});
    assert.deepEqual(of({ encryptFor: ["a"], host: "h", tls: null }), { encryptFor: ["a"], connection: { host: "h" } });
    assert.deepEqual(of({ encryptFor: ["a"], host: "h", connection: {} }), { encryptFor: ["a"] });
    assert.deepEqual(of({ saveCredentials: false, encryptFor: null }), { saveCredentials: false });
    assert.deepEqual(of({ saveCredentials: true }), {});
  });

  it("changes without a reset: by a read, at once, or with the next reset", () => {
    const hidden: Saving = { saveCredentials: false };
    const encrypted: Saving = { encryptFor: ["a"] };
    const cases: Readonly<Record<string, readonly [RotationOutputs | undefined, SavingInputs]>> = {
      "a new one": [undefined, hidden],
      "the same form": [state({ ...all, saving: encrypted }), encrypted],
      "other recipients in another order": [
        state({ ...all, saving: { encryptFor: ["a", "b"] } }),
        { encryptFor: ["b", "a"] },
      ],
      "values that are to go": [state(all), hidden],
      "other fields that are to go": [state({ ...marked(), otherFields: "{}" }), hidden],
      "a baseline that is to go": [state({ baseline: all }), hidden],
      "no values that could go": [state(), hidden],
      "values that are to be encrypted": [state(all), encrypted],
      "no values that could be encrypted": [state(), encrypted],
      "values that are no longer to be encrypted": [state({ ...all, saving: encrypted }), {}],
      "values that are to come back": [state({ ...marked(), saving: hidden }), {}],
      "values that are to come back, of an unconfirmed reset": [
        state({ ...marked(), saving: hidden, outcome: "unknown" }),
        {},
      ],
      "values that are only in a file for others": [
        state({ ...marked(), saving: { ...hidden, ...encrypted }, encryptedCredentials: "x", encryptedFor: ["a"] }),
        { ...hidden, encryptFor: ["b"] },
      ],
    };
    const changes = Object.fromEntries(
      Object.entries(cases).map(([what, [saved, inputs]]) => [
        what,
        savingChange(databasePassword, saved, inputs, run),
      ]),
    );
    assert.deepEqual(changes, {
      "a new one": undefined,
      "the same form": undefined,
      "other recipients in another order": undefined,
      "values that are to go": "removed",
      "other fields that are to go": "removed",
      "a baseline that is to go": "removed",
      "no values that could go": "not saved",
      "values that are to be encrypted": "encrypted",
      "no values that could be encrypted": "later",
      "values that are no longer to be encrypted": "not encrypted",
      "values that are to come back": "read",
      "values that are to come back, of an unconfirmed reset": "later",
      "values that are only in a file for others": "read",
    });
    fake.canRead = false;
    assert.equal(savingChange(databasePassword, state({ ...marked(), saving: hidden }), {}, run), "later");
  });

  describe("of a result", () => {
    const saved = async (before: RotationOutputs | undefined, found: RotationOutputs, saving: Saving) => {
      const { outputs, failure, notices } = await toSave(subject, before, { outputs: found, notices: [] }, saving, run);
      return { outputs, failure, kinds: notices.map(({ kind }) => kind) };
    };
    const hidden = (): Saving => ({ saveCredentials: false, encryptFor: [team.recipient] });

    it("keeps the file with the former credentials, which stay known, while others are not all shown", async () => {
      const { outputs: before } = await saved(undefined, state({ ...all, ...marked() }), hidden());
      const found = { ...before, ...marked({ restToken: "r2" }), password: "p2" };
      const { outputs, kinds, failure } = await saved(before, found, hidden());
      assert.deepEqual([kinds, failure, outputs.password], [["part"], undefined, undefined]);
      assert.equal(outputs.encryptedCredentials, before.encryptedCredentials);
      assert.equal(outputs.currentMarks, before.currentMarks);
      const shown = { ...found, restToken: "r2" };
      const { outputs: next, kinds: none } = await saved(outputs, shown, hidden());
      assert.deepEqual(none, []);
      const { password, restToken } = await team.decrypt(next.encryptedCredentials);
      assert.deepEqual({ password, restToken }, { password: "p2", restToken: "r2" });
    });

    it("reports what was removed from the state, and nothing of what is new", async () => {
      const before = state(all);
      const others = { password: "p2", restToken: "r2" };
      shownIn(subject, run).push({ ...all }, others);
      assert.deepEqual((await saved(before, before, { saveCredentials: false })).kinds, ["removed"]);
      assert.deepEqual((await saved(before, state(others), { saveCredentials: false })).kinds, []);
      assert.deepEqual((await saved(undefined, before, { saveCredentials: false })).kinds, []);
      assert.deepEqual((await saved(before, before, { encryptFor: [team.recipient] })).kinds, []);
    });

    it("reports that it applies to the next reset, once, if the credentials are not known", async () => {
      const before = state({ ...marked(), saving: { saveCredentials: false } });
      const { outputs, kinds } = await saved(before, before, {});
      assert.deepEqual(kinds, ["later"]);
      assert.deepEqual((await saved(outputs, { ...outputs, rotationCount: 1 }, {})).kinds, []);
    });

    it("keeps the only copy of a credential, in the state or in the file, until a read shows it", async () => {
      const { outputs: inFile } = await saved(undefined, state(all), hidden());
      const without: Saving = { saveCredentials: false };
      const reads = shownIn(subject, run);
      for (const shown of [{}, { password: all.password }, { ...all, password: "another" }]) {
        reads.push(shown);
        const file = await saved(inFile, inFile, without);
        assert.deepEqual(file.kinds, ["kept"]);
        assert.deepEqual(file.outputs, inFile);
        const inState = await saved(state(all), state(all), without);
        assert.deepEqual([inState.kinds, inState.outputs.password], [["kept"], all.password]);
        const fresh = await saved(undefined, state(all), without);
        assert.deepEqual(
          [fresh.kinds, fresh.outputs.password, fresh.outputs.saving],
          [["kept"], all.password, undefined],
        );
        reads.length = 0;
      }
      reads.push({ ...all });
      const { outputs, kinds } = await saved(inFile, inFile, without);
      assert.deepEqual([kinds, outputs.encryptedCredentials, outputs.encryptedFor], [[], undefined, undefined]);
    });

    it("has no file of which the recipients or the text is not saved", async () => {
      for (const more of [{ encryptedCredentials: "x" }, { encryptedFor: ["a"] }]) {
        const before = state({ ...marked(), ...more, saving: { encryptFor: ["a"] } });
        const { encryptedCredentials, encryptedFor } = (await saved(before, before, hidden())).outputs;
        assert.deepEqual([encryptedCredentials, encryptedFor], [undefined, undefined]);
      }
    });

    it("stays unchanged if nothing can be encrypted: the values of new credentials are saved, with a failure", async () => {
      shownIn(subject, run).push({ ...all });
      const { outputs: before } = await saved(undefined, state(all), { saveCredentials: false });
      const broken: Saving = { saveCredentials: false, encryptFor: ["not a recipient"] };
      const others = { password: "p2", restToken: "r2" };
      const { outputs, failure } = await saved(before, state(others), broken);
      assert.deepEqual([outputs.password, outputs.saving, failure?.code], ["p2", undefined, "REKEY_NOT_ENCRYPTED"]);
      const same = await saved(state(all), state({ ...all, rotationCount: 2 }), broken);
      assert.deepEqual([same.outputs.password, same.outputs.saving], ["p1", undefined]);
      const file = await saved({ ...before, ...all }, { ...before, ...all, rotationCount: 2 }, broken);
      assert.deepEqual(file.outputs.saving, before.saving);
    });
  });
});
