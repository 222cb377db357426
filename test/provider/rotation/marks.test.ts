import assert from "node:assert/strict";
import { StateError } from "../../../provider/platform/errors";
import { judge, readMarks, withFormer, withPending, writeMarks } from "../../../provider/rotation/marks";

const salt = "AAECAwQFBgcICQoLDA0ODw";
const none = { salt, rank: 3, former: [] };

describe("rotation: marks of former credentials", () => {
  it("have this form, which never changes: salt and marks in base64url, 96 bits of HMAC-SHA256", () => {
    const vectors = [
      { marks: none, text: undefined },
      { marks: withFormer(none, { password: "first" }), text: `1:0:${salt}:zmXRPcpaT57JQams:` },
      { marks: withPending(none, { restToken: "token" }), text: `1:1:${salt}::KcEv2IFg3Z2Fj1q-` },
      {
        marks: withPending(withFormer(none, { password: "first" }, { password: "second" }), { password: "third" }),
        text: `1:0:${salt}:zmXRPcpaT57JQams,UCAAOI_Med36u-W3:Wt9DYxqodvrPEp-8`,
      },
    ];
    for (const { marks, text } of vectors) {
      assert.equal(writeMarks(marks), text);
      if (text !== undefined) assert.deepEqual(readMarks(text), marks);
    }
  });

  it("are at most eight, the newest; the pending one becomes former with a confirmed reset", () => {
    let marks = withPending(none, { password: "0" });
    for (let reset = 1; reset <= 9; reset++) marks = withFormer(marks, { password: String(reset) });
    const verdicts = Array.from({ length: 10 }, (_, reset) => judge(marks, [], { password: String(reset) }));
    assert.deepEqual(verdicts, ["current", "current", ...Array<string>(8).fill("stale")]);
    assert.equal(marks.former.length, 8);
    assert.equal(marks.pending, undefined);
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
    const marks = withPending(withFormer(none, { password: "former" }), { password: "pending" });
    const verdicts = {
      "a former password and a new token": judge(marks, [], { password: "former", restToken: "new" }),
      "the pending password and a new token": judge(marks, [], { password: "pending", restToken: "new" }),
      "a new password": judge(marks, ["password", "restToken"], { password: "new" }),
      "a new token, with a password that is known to exist": judge(marks, ["password"], { restToken: "new" }),
      "a new token, with marks of a password": judge(marks, [], { restToken: "new" }),
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
