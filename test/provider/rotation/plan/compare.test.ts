import assert from "node:assert/strict";
import { kinds, type SecretKind } from "../../../../provider/domain/secretKind";
import {
  compare,
  identityIn,
  knownCredential,
  replacedMarks,
  type Verdict,
} from "../../../../provider/rotation/plan/compare";
import { type Marks } from "../../../../provider/rotation/memory/marks";
import { type Attempt } from "../../../../provider/rotation/memory/memory";

const sent: Attempt = { trigger: "", reason: "trigger", count: 1, firstSentAt: "", lastSentAt: "" };

interface Case {
  /** Marks of the identity: what is current, was replaced, is expected, and is shown. */
  readonly current?: string;
  readonly past?: readonly string[];
  /** Whether an attempt is open. */
  readonly isOpen?: true;
  readonly expects?: string;
  readonly shown?: string;
  readonly verdict: Verdict;
}

/** What one read proves, of each kind: by its first identity. */
const cases: Readonly<Record<string, Case>> = {
  "what is not shown proves nothing": { current: "a", verdict: "hidden" },
  "what is not shown proves nothing, although nothing is known": { verdict: "hidden" },
  "what is not shown proves nothing of an attempt": { current: "a", isOpen: true, expects: "b", verdict: "hidden" },
  "the current one is unchanged": { current: "a", shown: "a", verdict: "unchanged" },
  "the current one shows that an attempt was not applied": {
    ...{ current: "a", isOpen: true, expects: "b", shown: "a" },
    verdict: "unchanged",
  },
  "one that was replaced is late": { current: "b", past: ["a"], shown: "a", verdict: "late" },
  "one that was replaced is late, also for an attempt": {
    ...{ current: "b", past: ["a"], isOpen: true, shown: "a" },
    verdict: "late",
  },
  "one that was replaced is late, also if it is expected": {
    ...{ current: "b", past: ["a"], isOpen: true, expects: "a", shown: "a" },
    verdict: "late",
  },
  "one that was replaced is late, although it is current again": {
    current: "a",
    past: ["a"],
    shown: "a",
    verdict: "late",
  },
  "another one is new": { current: "a", shown: "b", verdict: "new" },
  "the first one that is shown is new": { shown: "a", verdict: "new" },
  "another one may be that of an attempt": { current: "a", isOpen: true, shown: "b", verdict: "new" },
  "the expected one is that of the attempt": {
    ...{ current: "a", isOpen: true, expects: "b", shown: "b" },
    verdict: "new",
  },
  "another one than the expected one is someone else's": {
    ...{ current: "a", isOpen: true, expects: "b", shown: "c" },
    verdict: "foreign",
  },
};

const marked = (name: string, mark: string | undefined): Marks => (mark === undefined ? {} : { [name]: mark });

function verdictOf(
  kind: SecretKind,
  { current, past = [], isOpen, expects, shown }: Case,
  identity = kind.identities[0],
) {
  const attempt = isOpen && { ...sent, expects };
  const known = { marks: marked(identity, current), identity: current === undefined ? undefined : identity };
  return compare({ current: known, past, attempt }, marked(identity, shown), kind);
}

describe("rotation: the comparison", () => {
  for (const kind of kinds) {
    it(`of a ${kind.word} of a ${kind.noun}, by each of its identities`, () => {
      for (const [title, one] of Object.entries(cases)) {
        for (const name of kind.identities) assert.equal(verdictOf(kind, one, name), one.verdict, `${name}: ${title}`);
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
