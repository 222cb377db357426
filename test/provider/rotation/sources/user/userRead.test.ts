import assert from "node:assert/strict";
import { aclUser } from "../../../../../provider/domain/secretKind";
import { emptyMemory, type Former, type UserMemory } from "../../../../../provider/rotation/memory/memory";
import { readProgram, type RotationInputs } from "../../../../../provider/rotation/program/program";
import { type State } from "../../../../../provider/rotation/memory/state";
import { messageOf } from "../../../../../provider/rotation/messages/findings";
import { afterUserRead, currentIn, hashInList } from "../../../../../provider/rotation/sources/user/userRead";
import { timeAt } from "../../../../support/rotatedSecret";
import { fieldsIn, tableOf } from "../../tables";

const at = timeAt(0).toISOString();
const [now, twelve] = [timeAt(5), Array.from({ length: 12 }, (_, nth) => `old-${nth}`)];
const former = (retireHash: string): Former => ({ retireHash, since: at, validFor: "24h" });
const attempt = { trigger: "", reason: "created", count: 1, firstSentAt: at, lastSentAt: at, adds: true } as const;

/**
 * What a list shows of a user whose current password is `now`, and whose former ones are `a` and `b`: those that are
 * valid then, by default the same; which ones were retired last, and what is said.
 */
const columns = ["title", "hashes", "given", "valid", "retired", "says"] as const;
interface Given {
  readonly kindFacts?: UserMemory;
  readonly expects?: string;
  readonly isFirst?: true;
  readonly goneReason?: string;
  /** Undefined in a refresh. */
  readonly inputs?: RotationInputs;
}
const wordsOf = (cell: string) => cell.split(" ").filter(Boolean);
const again = "^a former password that was retired is valid again: .* It is retired again\\.$";
const rows = tableOf(
  columns,
  `
  nothing, if all that is known is there                       | a b now
  which former ones were retired                               | b now                          |                                                                 | b                     | a
  that all were retired                                        | now                            |                                                                 | -                     | a b
  the last twelve that were retired                            | now                            | kindFacts: { hash: now, retired: [${twelve.join()}] }           | -                     | ${twelve.slice(2).join(" ")} a b
  that the current one is gone, and the former ones stay known | a                              | goneReason: it is gone                                          | a                     | b   | ^it is gone\\.$
  that one that was retired is back, and is retired again      | a b now x                      | kindFacts: { hash: now, retired: [x, y] }                       | x=back:retirement a b | y   | ${again}
  that one is back, for as long as the program says            | now x                          | kindFacts: { hash: now, retired: [x] }, inputs: { overlap: 1h } | x=back:1h             | a b | ${again}
  that one is back that clients may need                       | x                              | kindFacts: { hash: now, retired: [x] }, goneReason: it is gone  | x:retirement          | a b | ^it is gone\\.\\na former .* is valid again, while the current one is not
  how many are not known to Rekey                              | a b now other                  |                                                                 |                       |     | ^as of the last read, the user has 1 password that Rekey does not
  how many are not known, and how to remove them               | a b now other 0123456789abcdef |                                                                 |                       |     | the user has 2 passwords that Rekey does not know.*\`ACL SETUSER app !<hash>\` removes one: what begins with other, 0123456789ab\\. Keep the current one, now\\.
  nothing of what was added and not proven                     | a b now new                    | expects: new
  that it is not certain which one is current                  | a b now                        | kindFacts: {}                                                   |                       |     | is not certain which of the user's hashes is that of the current
  that a user has none before its first rotation               |                                | isFirst: true                                                   |                       |     | ^the user has no password\\.$
  that it has one, which the first retirement removes          | other                          | isFirst: true                                                   |                       |     | ^the user has 1 password that Rekey did not make\\. .* removes it\\.$
  how many it has, all of which the first retirement removes   | x y new                        | isFirst: true, expects: new                                     |                       |     | ^the user has 2 passwords that Rekey did not make\\. The first retirement removes all of them: find out first
  `,
);

describe("userRead: the list of a user's passwords shows", () => {
  for (const { title, says, ...row } of rows) {
    it(title, () => {
      const given = fieldsIn(row.given) as Given;
      const { kindFacts = { hash: "now" }, expects, isFirst, goneReason, inputs } = given;
      const formers = isFirst ? [] : ["a", "b"].map(former);
      const current = { marks: isFirst ? {} : { password: "mark" } };
      const open = expects ? { ...attempt, expects } : undefined;
      const memory = { ...emptyMemory(timeAt(0)), current, formers, kindFacts, attempt: open };
      const program = inputs && readProgram(inputs, aclUser);
      const context = { kind: aclUser, now, canRead: true, isScheduleOn: true, program };
      const saved: State = { rotationCount: 1, memory };
      const { state, findings } = afterUserRead(saved, { hashes: wordsOf(row.hashes), goneReason }, context, "app");
      const after = state.memory;
      const textOf = ({ retireHash = "", isValidAgain, validFor, since }: Former) =>
        since === at ? retireHash : `${retireHash}${isValidAgain ? "=back" : ""}:${validFor}`;
      const valid = after.formers.filter(({ retireHash }) => retireHash !== undefined).map(textOf);
      const expected = row.valid ? wordsOf(row.valid.replace("-", "")) : formers.map(textOf);
      assert.deepEqual([valid, after.kindFacts.retired], [expected, wordsOf(row.retired)]);
      assert.equal(after.current.mustRead, goneReason && true, "the next `up` reads");
      const said = findings.map((finding) => messageOf(finding, aclUser).text).join("\n");
      assert.match(said, says ? new RegExp(says) : /^$/);
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
