import assert from "node:assert/strict";
import { type Credentials } from "../../../provider/records/credentials";
import { judge, markAll, type Marks, withFormer, withPending, withReplaced } from "../../../provider/rotation/marks";

const none: Marks = { salt: "AAECAwQFBgcICQoLDA0ODw", rank: 7, former: [] };
const mark = (credentials: Credentials) => markAll(none, credentials);
const markOf = (value: string) => mark({ password: value }).password ?? "";
const pending = (credentials: Credentials, marks = none) => withPending(marks, mark(credentials));
const former = (...records: readonly Credentials[]) => withFormer(none, ...records.map(mark));

describe("rotation: what a record proves", () => {
  it("is current although it shows only what was always hidden, before anything was marked", () => {
    assert.equal(judge(none, [], { token: "a" }), "current");
    assert.equal(judge(none, ["password"], { token: "a" }), "hidden");
  });

  it("is nothing without the credential that was marked, of a former record or of a pending one", () => {
    for (const marks of [pending({ password: "a" }), former({ password: "a" })]) {
      assert.equal(judge(marks, [], { restToken: "b" }), "hidden");
      assert.equal(judge({ ...marks, rank: 7 }, [], { restToken: "b" }), "hidden");
    }
    // The marked one is masked, although a better one is shown.
    assert.equal(judge(pending({ restToken: "a" }), [], { password: "b" }), "hidden");
    assert.equal(judge(pending({ restToken: "a" }), [], { password: "b", restToken: "c" }), "current");
  });

  it("is nothing by the next key alone", () => {
    assert.equal(judge(none, [], { nextKey: "a" }), "hidden");
    assert.equal(judge(pending({ currentKey: "a" }), [], { nextKey: "b" }), "hidden");
    assert.equal(pending({ nextKey: "a" }), none);
  });

  it("is judged by the expected key, if an unconfirmed roll has one", () => {
    const marks = pending({ currentKey: "a", nextKey: "b" });
    const verdicts = ["a", "b", "c"].map((currentKey) => judge(marks, [], { currentKey }));
    assert.deepEqual(verdicts, ["pending", "current", "other"]);
  });

  it("is remembered once of each record, the newest last, by its best credential", () => {
    const marks = withFormer(former({ password: "a" }, { password: "b" }), mark({ password: "a" }), mark({}));
    assert.deepEqual(marks, { ...none, rank: 0, former: ["b", "a"].map(markOf) });
    const token = former({ restToken: "t", readOnlyRestToken: "r" });
    assert.deepEqual(token, { ...none, rank: 1, former: [markOf("t")] });
    assert.deepEqual(withFormer(pending({ password: "p" }), mark({ restToken: "t" })).former, ["p", "t"].map(markOf));
  });

  it("makes a next key former that was skipped, and not one that became the current", () => {
    const marks = pending({ currentKey: "a", nextKey: "b" });
    const before = mark({ currentKey: "a", nextKey: "b" });
    const after = (credentials: Credentials) => withReplaced(marks, before, mark(credentials)).former;
    assert.deepEqual(after({ currentKey: "b" }), [markOf("a")]);
    assert.deepEqual(after({ currentKey: "c" }), ["b", "a"].map(markOf));
    assert.deepEqual(after({ password: "c" }), [markOf("a")]);
  });
});
