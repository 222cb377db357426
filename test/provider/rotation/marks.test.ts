import assert from "node:assert/strict";
import { StateError } from "../../../provider/platform/errors";
import { type Credentials } from "../../../provider/records/credentials";
import * as marks from "../../../provider/rotation/marks";

const salt = "AAECAwQFBgcICQoLDA0ODw";
const none: marks.Marks = { salt, rank: 3, former: [] };
const { judge, markAll, readMarked, readMarks, writeMarked, writeMarks } = marks;
const withPending = (before: marks.Marks, record: Credentials) => marks.withPending(before, markAll(before, record));
const withFormer = (before: marks.Marks, ...records: readonly Credentials[]) =>
  marks.withFormer(before, ...records.map((record) => markAll(before, record)));

describe("rotation: marks of former credentials", () => {
  it("have this form, which never changes: salt and marks in base64url, 96 bits of HMAC-SHA256", () => {
    const vectors: { marks: marks.Marks; text: string | undefined }[] = [
      { marks: none, text: undefined },
      { marks: withFormer(none, { password: "first" }), text: `1:0:${salt}:zmXRPcpaT57JQams:` },
      { marks: withPending(none, { restToken: "token" }), text: `1:1:${salt}::KcEv2IFg3Z2Fj1q-` },
      {
        marks: withPending(withFormer(none, { password: "first" }, { password: "second" }), { password: "third" }),
        text: `1:0:${salt}:zmXRPcpaT57JQams,UCAAOI_Med36u-W3:Wt9DYxqodvrPEp-8`,
      },
    ];
    for (const { marks: made, text } of vectors) {
      assert.equal(writeMarks(made), text);
      if (text !== undefined) assert.deepEqual(readMarks(text), made);
    }
  });

  it("of current credentials have this form, which never changes", () => {
    const text = `1:${salt}:0=zmXRPcpaT57JQams,6=KcEv2IFg3Z2Fj1q-`;
    const marked = markAll(none, { password: "first", nextKey: "token" });
    assert.equal(writeMarked({ salt, marked }), text);
    assert.deepEqual(readMarked(text), { salt, marked });
    assert.equal(writeMarked({ salt, marked: {} }), undefined);
    for (const damaged of ["", `1:${salt}:`, `2:${salt}:0=zmXRPcpaT57JQams`, `1:${salt}:9=zmXRPcpaT57JQams`]) {
      assert.throws(() => readMarked(damaged), StateError, damaged);
    }
    assert.equal(readMarks(undefined, salt).salt, salt);
    assert.throws(() => readMarks(`1:0:${salt}:zmXRPcpaT57JQams:`, "B".repeat(22)), StateError);
  });

  it("are at most eight, the newest; the pending one becomes former with a confirmed reset", () => {
    let marked = withPending(none, { password: "0" });
    for (let reset = 1; reset <= 9; reset++) marked = withFormer(marked, { password: String(reset) });
    const verdicts = Array.from({ length: 10 }, (_, reset) => judge(marked, [], { password: String(reset) }));
    assert.deepEqual(verdicts, ["current", "current", ...Array<string>(8).fill("stale")]);
    assert.equal(marked.former.length, 8);
    assert.equal(marked.pending, undefined);
  });

  it("keep nothing of the credentials, and have a new salt for each database", () => {
    const [first, second] = [readMarks(undefined), readMarks(undefined)];
    assert.notEqual(first.salt, second.salt);
    assert.doesNotMatch(writeMarks(withFormer(first, { password: "canary" })) ?? "", /canary/);
  });

  it("are refused if they are damaged or of a newer version", () => {
    for (const text of ["", "1:0:short::", `2:0:${salt}::`, `1:0:${salt}:tooshort:`, 5 as unknown as string]) {
      assert.throws(() => readMarks(text), StateError, text);
    }
  });

  it("judge a record as a whole by its first credential", () => {
    const former = withPending(withFormer(none, { password: "former" }), { password: "pending" });
    const verdicts = {
      "a former password and a new token": judge(former, [], { password: "former", restToken: "new" }),
      "the pending password and a new token": judge(former, [], { password: "pending", restToken: "new" }),
      "a new password": judge(former, ["password", "restToken"], { password: "new" }),
      "a new token, with a password that is known to exist": judge(former, ["password"], { restToken: "new" }),
      "a new token, with marks of a password": judge(former, [], { restToken: "new" }),
      "a token of a database without password": judge(none, ["restToken"], { restToken: "new" }),
      nothing: judge(none, [], {}),
    };
    assert.deepEqual(verdicts, {
      "a former password and a new token": "stale",
      "the pending password and a new token": "pending",
      "a new password": "current",
      "a new token, with a password that is known to exist": "hidden",
      "a new token, with marks of a password": "hidden",
      "a token of a database without password": "current",
      nothing: "hidden",
    });
  });
});
