import assert from "node:assert/strict";
import { messageOf } from "../../../../provider/rotation/messages/findings";
import { leftValid, notesOnFormers } from "../../../../provider/rotation/messages/formerFindings";
import { type Rotation } from "../../../../provider/rotation/program/plan";
import { planned, plansIn } from "../plan/plans";

const once = "until a Retirement retires it";

describe("formerFindings: what the announcement of a rotation adds", () => {
  const rows = plansIn(
    { secret: "token", inputs: "version: 2", given: "formers: [], hours: 48" },
    `
    of the former one, by default                      |                     |                                            |                                                   | keepsFormer: ${once}
    of the former one, for a duration                  |                     | overlap: 24h                               |                                                   | keepsFormer: for 24h
    of the former one, without an overlap              |                     | overlap: none                              |                                                   | replacesFormer
    of the former one, for a date                      |                     | rotatedSince: hour 1                       |                                                   | keepsFormer: ${once}, or until the next \`up\`
    of the former one, which is not older than a date  |                     | rotatedSince: hour -99                     |                                                   | keepsFormer: ${once}
    nothing, if the overlap is not known yet           |                     | overlap: unknown                           |                                                   | -
    nothing, of a password that is replaced            | password            |                                            |                                                   | -
    of a new user                                      | new user            |                                            |                                                   | keepsSeveral: until a Retirement retires them; firstRetirement
    of the passwords before the first rotation         | user; never rotated |                                            |                                                   | keepsSeveral: until a Retirement retires them
    of an older token, for which it waits              |                     |                                            | formers: [retirement]                             | waitsForOlder; keepsFormer: ${once}
    of an older token, whose time is over              |                     | overlap: 12h                               | formers: [12h]                                    | retiresOlder; keepsFormer: for 12h
    of an older token, for a date                      |                     | version: 1, rotatedSince: hour 1           | formers: [retirement]                             | retiresOlderForDate; keepsFormer: ${once}, or until the next \`up\`
    of an older token, for a date it is not older than |                     | version: 1, rotatedSince: hour 1           | formers: [{ generatedAt: hour 2 }]                | retiresOlderForDate; keepsFormer: ${once}, or until the next \`up\`
    of an older password, which stays valid            | user                |                                            | formers: [retirement]                             | keepsOlder; keepsFormer: ${once}
    of ten passwords                                   | user                |                                            | formers: nine                                     | waitsForOlder; keepsFormer: ${once}
    of two passwords, of which one is over             | user                | version: 1, overlap: 12h, rotateEvery: 24h | formers: [12h, { since: hour 47, validFor: 12h }] | retiresOlder; waitsForOlder; keepsFormer: for 12h
    `,
  );
  for (const row of rows) {
    it(row.title, () => {
      const { state, program, plan, context } = planned(row);
      const notes = notesOnFormers(state?.memory, program, plan as Rotation, context);
      const texts = notes.map(({ kind, why }) => (why === undefined ? kind : `${kind}: ${why}`));
      assert.equal(texts.join("; ") || "-", row.plan);
    });
  }
});

describe("formerFindings: what a destroy leaves valid", () => {
  const rows = plansIn(
    { secret: "token", given: "formers: [retirement]" },
    `
    a former token                                  |                 |  |                                   | two tokens may stay valid \\(since 2026-01-01T00.*\\)\\. To remove .*: roll the next token
    a former password that a person has chosen      | user            |  |                                   | : run \`ACL SETUSER app !<hash>\` \\(runbook\\)\\.$
    a former password of Rekey's                    | user            |  | formers: nine                     | : run \`ACL SETUSER app !h2\` \\(runbook\\)\\.$
    what has become former after a Retirement       |                 |  | retiredAt: hour -1                | two tokens may stay valid
    what is valid for a time                        |                 |  | retiredAt: hour 0, formers: [24h] | two tokens may stay valid
    nothing, if a Retirement has retired it         |                 |  | retiredAt: hour 0                 | ^$
    nothing, if none is valid                       |                 |  | formers: []                       | ^$
    a token that was not proven                     | token; unproven |  | formers: []                       | ^a new token that was added at 2026-01-01T01.*, and was never handed out, may stay valid\\. .* reset
    a token that was not proven, after a Retirement | token; unproven |  | retiredAt: hour 0                 | ^a new token that was added
    a password that was not proven                  | user; unproven  |  | formers: []                       | ACL SETUSER app !expected
    `,
  );
  for (const row of rows) {
    it(row.title, () => {
      const { state, context } = planned(row);
      const found = leftValid({ kind: context.kind, id: "app" }, (state ?? assert.fail()).memory, row.given.retiredAt);
      assert.match(found.map((one) => messageOf(one, context.kind).text).join("\n"), new RegExp(row.plan));
    });
  }
});
