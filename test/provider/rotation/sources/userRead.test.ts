import assert from "node:assert/strict";
import { aclUser } from "../../../../provider/domain/secretKind";
import { type Attempt, emptyMemory, type Former, type UserMemory } from "../../../../provider/rotation/memory/memory";
import { readProgram, type RotationInputs } from "../../../../provider/rotation/program/program";
import { type State } from "../../../../provider/rotation/memory/state";
import { messageOf } from "../../../../provider/rotation/messages/findings";
import { afterUserRead, currentIn, hashInList } from "../../../../provider/rotation/sources/userRead";
import { timeAt } from "../../../support/rotatedSecret";

const at = timeAt(0).toISOString();
const [now, twelve] = [timeAt(5), Array.from({ length: 12 }, (_, nth) => `old-${nth}`)];
const former = (retireHash: string): Former => ({ retireHash, since: at, validFor: "24h" });
const attempt = { trigger: "", reason: "created", count: 1, firstSentAt: at, lastSentAt: at, adds: true } as const;

/** What a list shows of a user whose current password is `now`, and whose former ones are `a` and `b`. */
interface Case {
  readonly hashes: readonly string[];
  readonly kindFacts?: UserMemory;
  readonly attempt?: Attempt;
  readonly isFirst?: true;
  readonly goneReason?: string;
  /** Undefined in a refresh. */
  readonly inputs?: RotationInputs;
  /** Default: those of before. */
  readonly valid?: readonly string[];
  readonly retired?: readonly string[];
  readonly says?: RegExp;
}

const goneReason = "it is gone";
const cases: Readonly<Record<string, Case>> = {
  "nothing, if all that is known is there": { hashes: ["a", "b", "now"] },
  "which former ones were retired": { hashes: ["b", "now"], valid: ["b"], retired: ["a"] },
  "that all were retired": { hashes: ["now"], valid: [], retired: ["a", "b"] },
  "the last twelve that were retired": {
    ...{ hashes: ["now"], kindFacts: { hash: "now", retired: twelve } },
    ...{ valid: [], retired: [...twelve.slice(2), "a", "b"] },
  },
  "that the current one is gone, and the former ones stay known": {
    ...{ hashes: ["a"], goneReason, valid: ["a"], retired: ["b"], says: /^it is gone\.$/ },
  },
  "that one that was retired is back, and is retired again": {
    ...{ hashes: ["a", "b", "now", "x"], kindFacts: { hash: "now", retired: ["x", "y"] } },
    ...{
      valid: ["x back: retirement", "a", "b"],
      retired: ["y"],
      says: /^a former password that was retired is valid again: .* It is retired again\.$/,
    },
  },
  "that one is back, for as long as the program says": {
    ...{ hashes: ["now", "x"], kindFacts: { hash: "now", retired: ["x"] }, inputs: { overlap: "1h" } },
    ...{
      valid: ["x back: 1h"],
      retired: ["a", "b"],
      says: /^a former password that was retired is valid again: .* It is retired again\.$/,
    },
  },
  "that one is back that clients may need, while the current one is gone": {
    ...{ hashes: ["x"], kindFacts: { hash: "now", retired: ["x"] }, goneReason },
    ...{
      valid: ["x: retirement"],
      retired: ["a", "b"],
      says: /^it is gone\.\na former .* is valid again, while the current one is not/,
    },
  },
  "how many are not known to Rekey": {
    ...{
      hashes: ["a", "b", "now", "other"],
      says: /^as of the last read, the user has 1 password that Rekey does not/,
    },
  },
  "how many are not known, and how to remove them": {
    hashes: ["a", "b", "now", "other", "0123456789abcdef"],
    says: /the user has 2 passwords that Rekey does not know.*`ACL SETUSER app !<hash>` removes one: what begins with other, 0123456789ab\. Keep the current one, now\./,
  },
  "nothing of what was added and not proven": {
    ...{ hashes: ["a", "b", "now", "new"], attempt: { ...attempt, expects: "new" } },
  },
  "that it is not certain which one is current": {
    ...{
      hashes: ["a", "b", "now"],
      kindFacts: {},
      says: /is not certain which of the user's hashes is that of the current/,
    },
  },
  "that a user has none before its first rotation": {
    ...{ hashes: [], isFirst: true, says: /^the user has no password\.$/ },
  },
  "that it has one, which the first retirement removes": {
    ...{
      hashes: ["other"],
      isFirst: true,
      says: /^the user has 1 password that Rekey did not make\. .* removes it\.$/,
    },
  },
  "how many it has, all of which the first retirement removes": {
    ...{ hashes: ["x", "y", "new"], attempt: { ...attempt, expects: "new" }, isFirst: true },
    says: /^the user has 2 passwords that Rekey did not make\. The first retirement removes all of them: find out first/,
  },
};

describe("rotation: the list of a user's passwords shows", () => {
  for (const [title, { hashes, kindFacts = { hash: "now" }, isFirst, inputs, ...one }] of Object.entries(cases)) {
    it(title, () => {
      const formers = isFirst ? [] : ["a", "b"].map(former);
      const current = { marks: isFirst ? {} : { password: "mark" } };
      const memory = { ...emptyMemory(timeAt(0)), current, formers, kindFacts, attempt: one.attempt };
      const saved: State = { rotationCount: 1, memory };
      const program = inputs && readProgram(inputs, aclUser);
      const context = { kind: aclUser, now, canRead: true, isScheduleOn: true, program };
      const { state, findings } = afterUserRead(saved, { hashes, goneReason: one.goneReason }, context, "app");
      const after = state.memory;
      const textOf = ({ retireHash = "", isValidAgain, validFor, since }: Former) =>
        since === at ? retireHash : `${retireHash}${isValidAgain ? " back" : ""}: ${validFor}`;
      const valid = after.formers.filter(({ retireHash }) => retireHash !== undefined).map(textOf);
      assert.deepEqual(valid, one.valid ?? formers.map(textOf));
      assert.deepEqual(after.kindFacts.retired, one.retired ?? []);
      assert.equal(after.current.mustRead, one.goneReason && true, "the next `up` reads");
      assert.match(findings.map((finding) => messageOf(finding, aclUser).text).join("\n"), one.says ?? /^$/);
    });
  }

  /** Only an empty list, or one whose hashes are not certain, leaves it to a login. */
  const shown: readonly (readonly [hashes: string[], hash: string | undefined, shows: string])[] = [
    [["a", "now"], "now", "listed"],
    [["a"], "now", "gone"],
    [[], "now", "unclear"],
    [["a"], undefined, "unclear"],
    [[], undefined, "unclear"],
  ];
  for (const [hashes, hash = "which is not certain", shows] of shown) {
    it(`the current one, ${hash}, as ${shows} in [${hashes.join(", ")}]`, () =>
      assert.equal(currentIn(hashes, hash === "now" ? hash : undefined), shows));
  }

  it("under which hash it lists a token: its SHA-256, otherwise the only one that is new", () => {
    assert.equal(hashInList("own", ["a"], ["a", "b", "own"]), "own");
    assert.equal(hashInList("own", ["a"], ["a", "b"]), "b");
    assert.equal(hashInList("own", ["a"], ["a", "b", "c"]), undefined);
    assert.equal(hashInList("own", ["a"], ["a"]), undefined);
  });
});
