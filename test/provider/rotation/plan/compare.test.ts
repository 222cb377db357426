import assert from "node:assert/strict";
import { kinds, type SecretKind } from "../../../../provider/domain/secretKind";
import { compare, identityIn, knownCredential, replacedMarks } from "../../../../provider/rotation/plan/compare";
import { type Marks } from "../../../../provider/rotation/memory/marks";
import { type Attempt } from "../../../../provider/rotation/memory/memory";
import { type CredentialName } from "../../../../provider/records/fields";
import { tableOf } from "../tables";

const sent: Attempt = { trigger: "", reason: "trigger", count: 1, firstSentAt: "", lastSentAt: "" };

/** Marks of the identity: what is current, was replaced, is expected by an open attempt (`any`), and is shown. */
const cases = tableOf(
  ["title", "current", "past", "expects", "shown", "verdict"],
  `
  what is not shown proves nothing                            | a |   |     |   | hidden
  what is not shown proves nothing, although nothing is known |   |   |     |   | hidden
  what is not shown proves nothing of an attempt              | a |   | b   |   | hidden
  the current one is unchanged                                | a |   |     | a | unchanged
  the current one shows that an attempt was not applied       | a |   | b   | a | unchanged
  one that was replaced is late                               | b | a |     | a | late
  one that was replaced is late, also for an attempt          | b | a | any | a | late
  one that was replaced is late, also if it is expected       | b | a | a   | a | late
  one that was replaced is late, although it is current again | a | a |     | a | late
  another one is new                                          | a |   |     | b | new
  the first one that is shown is new                          |   |   |     | a | new
  another one may be that of an attempt                       | a |   | any | b | new
  the expected one is that of the attempt                     | a |   | b   | b | new
  another one than the expected one is someone else's         | a |   | b   | c | foreign
  `,
);

/** What one read proves of a kind, by one of its identities. */
function verdictOf(
  kind: SecretKind,
  { current, past, expects, shown }: (typeof cases)[number],
  identity: CredentialName,
) {
  const marked = (mark: string): Marks => (mark === "" ? {} : { [identity]: mark });
  const attempt = expects ? { ...sent, ...(expects !== "any" && { expects }) } : undefined;
  const known = { marks: marked(current), identity: current === "" ? undefined : identity };
  return compare({ current: known, past: past === "" ? [] : [past], attempt }, marked(shown), kind);
}

describe("compare: what a read proves", () => {
  for (const kind of kinds) {
    it(`of a ${kind.word} of a ${kind.noun}, by each of its identities`, () => {
      for (const one of cases) {
        for (const name of kind.identities) {
          assert.equal(verdictOf(kind, one, name), one.verdict, `${name}: ${one.title}`);
        }
      }
    });

    it(`of a ${kind.word} of a ${kind.noun} has no other credential than the known one`, () => {
      const current = { marks: { password: "a", token: "a", currentKey: "a" }, identity: kind.identities[0] };
      assert.equal(compare({ current, past: [] }, { readOnlyToken: "a" }, kind), "hidden");
      assert.equal(identityIn(kind, { readOnlyToken: "a" }), undefined);
      assert.equal(knownCredential(kind, { readOnlyToken: "a" }, {}), undefined);
    });
  }

  const [database, keys] = [kinds[0], kinds.find(({ shape }) => shape === "rolls")] as [SecretKind, SecretKind];

  it("stays by the first identity that was known, although a better one is shown later", () => {
    const current = { marks: { restToken: "r" }, identity: "restToken" } as const;
    assert.equal(compare({ current, past: [] }, { password: "p", restToken: "r" }, database), "unchanged");
    assert.equal(compare({ current, past: [] }, { password: "p" }, database), "hidden");
    assert.equal(identityIn(database, { password: "p", restToken: "r" }), "password");
    const connection = { username: "u-{id}" };
    const known = { name: "restToken", mark: "r", username: "u-{id}" };
    assert.deepEqual(knownCredential(database, { restToken: "r" }, { connection }), known);
  });

  it("of keys expects the next one of the pair, also without an attempt", () => {
    const current = { marks: { currentKey: "a", nextKey: "b" }, identity: "currentKey" } as const;
    const verdict = (currentKey: string, attempt?: Attempt) =>
      compare({ current, past: [], attempt }, { currentKey }, keys);
    assert.deepEqual([verdict("b"), verdict("c")], ["new", "foreign"]);
    assert.deepEqual([verdict("c", sent), verdict("c", { ...sent, expects: "b" })], ["new", "foreign"]);
  });

  it("remembers both keys of a pair, and of a record each credential by which it may be compared", () => {
    assert.deepEqual(replacedMarks(keys, { currentKey: "a", nextKey: "b" }), ["a", "b"]);
    assert.deepEqual(replacedMarks(database, { restToken: "r", password: "p", readOnlyRestToken: "o" }), ["p", "r"]);
    assert.deepEqual(replacedMarks(database, {}), []);
  });
});
