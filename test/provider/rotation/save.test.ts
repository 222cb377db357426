import assert from "node:assert/strict";
import { type Credentials } from "../../../provider/records/fields";
import { databasePassword } from "../../../provider/platform/secretKind";
import { type Declared, type State, credentialsIn } from "../../../provider/rotation/memory";
import { save, readsIn, isShown, tryRecipients } from "../../../provider/rotation/save";
import { contextAt, stateAfterReset } from "../../support/savedRotation";
import { FakeRun } from "../../support/fakeRun";
import { Team } from "../../support/age";

const subject = { kind: databasePassword, id: "db" };
const context = contextAt(new Date("2026-01-01T00:00:00.000Z"));
const all: Credentials = { password: "p1", restToken: "r1" };
const fresh = (): State => stateAfterReset({ version: 1 }, all, context);

describe("save: where values leave a state", () => {
  let team: Team;
  let other: Team;
  before(async () => void ([team, other] = [await Team.create(), await Team.create()]));

  /** @param shown what a read of this run has shown */
  const saved = async (state: State, declared: Declared, from?: State, shown: Credentials = {}) => {
    const run = new FakeRun().start();
    readsIn(subject, run).push(shown);
    const { state: next, findings, failure } = await save(subject, from, { state, findings: [] }, declared, run);
    return { next, values: credentialsIn(next), kinds: findings.map(({ kind }) => kind), failure };
  };

  it("all are saved by default", async () => {
    assert.deepEqual((await saved(fresh(), {})).values, all);
  });

  it("none leaves that no read has shown and no file has: it stays, with a warning", async () => {
    const { values, kinds } = await saved(fresh(), { saveCredentials: false });
    assert.deepEqual(values, all);
    assert.deepEqual(kinds, ["kept"]);
  });

  it("those that a read of this run has shown leave", async () => {
    const hidden = { saveCredentials: false } as const;
    const { next, values, kinds } = await saved(fresh(), hidden, undefined, { password: "p1", restToken: "r0" });
    assert.deepEqual(values, { restToken: "r1" });
    assert.deepEqual(kinds, ["kept"]);
    assert.deepEqual((await saved(fresh(), hidden, undefined, all)).values, {});
    // Since then, the platform may have begun to hide them.
    assert.deepEqual((await saved({ ...next, ...all }, hidden, next)).values, all);
  });

  it("those that are in the age file leave", async () => {
    const { next, values } = await saved(fresh(), { saveCredentials: false, encryptFor: [team.recipient] });
    assert.deepEqual(values, {});
    assert.deepEqual(await team.decrypt(next.encryptedCredentials), {
      databaseId: "db",
      rotatedAt: next.rotatedAt,
      ...all,
    });
  });

  it("a file stays that is the only place that has them", async () => {
    const encryptFor = [team.recipient];
    const { next: before } = await saved(fresh(), { saveCredentials: false, encryptFor });
    const { next } = await saved(before, { saveCredentials: false }, before);
    assert.equal(next.encryptedCredentials, before.encryptedCredentials);
    const { next: forOthers } = await saved(before, { saveCredentials: false, encryptFor: [other.recipient] }, before);
    assert.equal(forOthers.encryptedCredentials, before.encryptedCredentials);
    const { next: shown } = await saved({ ...before, ...all }, { saveCredentials: false }, before, all);
    assert.deepEqual([shown.encryptedCredentials, shown.memory.file], [undefined, undefined]);
    const { next: plain } = await saved({ ...before, ...all }, {}, before);
    assert.deepEqual([plain.encryptedCredentials, credentialsIn(plain)], [undefined, all]);
  });

  it("a file stays that the program asks for, although a read of this run has shown what is in it", async () => {
    const declared = { saveCredentials: false, encryptFor: [team.recipient] } as const;
    const { next: before } = await saved(fresh(), declared);
    const { next, kinds } = await saved(before, { ...declared, rotateEvery: "30d" }, before, all);
    assert.equal(next.encryptedCredentials, before.encryptedCredentials);
    assert.deepEqual([next.memory.file, kinds], [before.memory.file, []]);
  });

  it("a file stays that is the only place that has a next key which is the current one now", async () => {
    const declared = { saveCredentials: false, encryptFor: [team.recipient] } as const;
    const pair = stateAfterReset({ version: 1 }, { currentKey: "k1", nextKey: "k2" }, context);
    const { next: before } = await saved(pair, declared);
    const current = { currentKey: before.memory.current.nextKey ?? "", nextKey: "" };
    const { next } = await saved({ ...before, memory: { ...before.memory, current } }, declared, before);
    assert.equal(next.encryptedCredentials, before.encryptedCredentials);
  });

  it("what cannot be encrypted is saved, and what was declared before is tried again", async () => {
    const others = { rotateEvery: "30d", connection: { port: 7 } };
    const declared = { ...others, saveCredentials: false, encryptFor: ["age1damaged"] } as const;
    const { next, values, failure } = await saved(fresh(), declared);
    assert.equal(failure?.code, "REKEY_NOT_ENCRYPTED");
    assert.deepEqual(values, all);
    assert.deepEqual(next.memory.declared, others);
  });

  it("removing values from the state says so once", async () => {
    const from = (await saved(fresh(), {})).next;
    const { next, kinds } = await saved(from, { saveCredentials: false }, from, all);
    assert.deepEqual(kinds, ["removed"]);
    assert.deepEqual((await saved(next, { saveCredentials: false }, next)).kinds, []);
  });

  it("each change of the form is told by what it does", async () => {
    const encryptFor = [team.recipient];
    const hidden = { saveCredentials: false } as const;
    const gone = (await saved(fresh(), hidden, undefined, all)).next;
    const part = { ...gone, password: "p1" };
    const { next: inFile } = await saved(fresh(), { ...hidden, encryptFor });
    const other = stateAfterReset({ version: 2 }, { password: "p2", restToken: "r2" }, context);
    const rows: readonly [
      state: State,
      declared: Declared,
      from: State | undefined,
      shown: Credentials,
      kinds: string,
    ][] = [
      [gone, {}, gone, {}, "later"],
      [gone, hidden, gone, {}, ""],
      [gone, { ...hidden, encryptFor }, gone, {}, "later"],
      [gone, { ...hidden, rotateEvery: "1d" }, gone, {}, ""],
      [gone, {}, undefined, {}, ""],
      [part, {}, gone, {}, "later"],
      [inFile, { ...hidden, encryptFor, rotateEvery: "1d" }, inFile, {}, ""],
      [inFile, hidden, inFile, {}, "kept"],
      [fresh(), { rotateEvery: "1d" }, fresh(), {}, ""],
      [other, hidden, { ...other, memory: fresh().memory }, { password: "p2", restToken: "r2" }, ""],
    ];
    for (const [index, [state, declared, from, shown, kinds]] of rows.entries()) {
      const { next, kinds: told } = await saved(state, declared, from, shown);
      assert.equal(told.join(), kinds, `row ${index}`);
      assert.equal(next.encryptedCredentials === undefined, state.encryptedCredentials === undefined, `row ${index}`);
    }
  });

  it("a file stays if one of two is nowhere else", async () => {
    const { next: before } = await saved(fresh(), { saveCredentials: false, encryptFor: [team.recipient] });
    const declared = { saveCredentials: false, encryptFor: [other.recipient] } as const;
    const { next } = await saved({ ...before, password: "p1" }, declared, before);
    assert.equal(next.encryptedCredentials, before.encryptedCredentials);
  });

  it("each read of a run counts, for its own secret", () => {
    const run = new FakeRun().start();
    assert.deepEqual(readsIn(subject, run), []);
    readsIn(subject, run).push({}, all);
    assert.deepEqual(readsIn({ ...subject, id: "other" }, run), []);
    const { memory } = fresh();
    assert.equal(isShown(memory, "password", readsIn(subject, run)), true);
  });

  it("recipients are tried before anything is sent, each list of them once in a run", async () => {
    const run = new FakeRun().start();
    await tryRecipients(subject, {}, run);
    await tryRecipients(subject, { encryptFor: [team.recipient] }, run);
    await assert.rejects(
      tryRecipients(subject, { encryptFor: ["age1damaged"] }, run),
      /password of database "db" was not reset.*nothing can be encrypted for one of encryptFor.*REKEY_NOT_ENCRYPTED/s,
    );
  });

  it("if nothing is new that cannot be encrypted, the form that was declared before stays", async () => {
    const from = (await saved(fresh(), { rotateEvery: "1d" })).next;
    const { next, failure } = await saved(from, { encryptFor: ["age1damaged"] }, from);
    assert.deepEqual(next.memory.declared, { rotateEvery: "1d" });
    const { failure: ofNew } = await saved(fresh(), { encryptFor: ["age1damaged"] }, from);
    assert.match(ofNew?.message ?? "", /password of database "db"/);
    assert.notEqual(failure?.message, ofNew?.message);
  });
});
