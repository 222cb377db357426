import assert from "node:assert/strict";
import { isReadFirst } from "../../../../provider/rotation/program/plan";
import { planned, plansIn, testPlans } from "./plans";

/** In the order of the reasons. */
describe("plan: what is due", () => {
  testPlans(
    `
    # a new resource                    | new password
      is reset                          |  |                                                |  | rotate: created
      is adopted                        |  | initialRotation: false                         |  | adopt
      may be older than a date          |  | initialRotation: false, rotatedSince: hour -99 |  | adopt or rotate
      may be older than an unknown date |  | initialRotation: false, rotatedSince: unknown  |  | adopt or rotate
      may be adopted                    |  | initialRotation: unknown                       |  | maybe: initialRotation
    # inputs that are not known yet | password; lost
      are named, if they decide     |  | triggers: unknown, rotateEvery: unknown, encryptFor: unknown  |  | maybe: triggers,rotateEvery
      are named, each of them       |  | version: unknown, rotatedSince: unknown, minInterval: unknown |  | maybe: version,rotatedSince,minInterval
    # a lost reset                               | password; lost             | version: 2
      is made again                              |                            |                                        |            | rotate again: trigger
      is made again although its version is gone |                            | version: null                          |            | rotate again: trigger
      is made again, whatever else is due        |                            | rotatedSince: hour 24, rotateEvery: 1h | hours: 999 | rotate again: trigger
      is replaced by one for another version     |                            | version: 3                             |            | rotate: trigger
      is replaced by one for the version before  |                            | version: 1                             |            | rotate: trigger
      is the last of three                       | password; lost three times |                                        |            | refuse: REKEY_REPEATEDLY_UNCONFIRMED | has not confirmed its last resets.* set a new version
      is the last, and a new version makes one   | password; lost three times | version: 3                             |            | rotate: trigger
    # the first \`up\` after an import |                    | version: 7, rotatedSince: hour 0, rotateEvery: 1h | hours: 1000
      reads, whatever is due           | password; imported |                                                   |                       | read
      only adopts what cannot be read  | password; imported |                                                   | canRead: false        | keep and save
      reads a token, after a read, too | token; imported    |                                                   | formers: [], read: {} | read
    # a version                                             | password
      is the same if it is written as text                  |                       | version: "1"                      |           | keep
      that is removed asks for nothing                      |                       | version: null                     |           | keep
      that is removed asks for a reset if triggers are left |                       | version: null, triggers: { a: 1 } |           | rotate: trigger
      that is another one asks for a reset                  |                       | version: 2                        |           | rotate: trigger
      that was adopted is the same                          | password; a day older |                                   |           | keep
      comes before a date                                   |                       | version: 2, rotatedSince: hour 24 | hours: 48 | rotate: trigger
    # rotatedSince                             | password
      asks for a reset of what is older        |                          | rotatedSince: hour 0.001               |            | rotate: rotatedSince
      asks for nothing if it is as old         |                          | rotatedSince: hour 0                   |            | keep
      knows the age of a database              | password; a day older    | rotatedSince: hour -24                 |            | keep
      asks for a reset of an older database    | password; a day older    | rotatedSince: hour -23.999             |            | rotate: rotatedSince
      asks for a reset if the age is not known | password; of unknown age | rotatedSince: hour -9999               |            | rotate: rotatedSince
      does not believe a clock that was ahead  |                          | rotatedSince: hour -9999               | hours: -1  | rotate: rotatedSince
      comes before a schedule                  |                          | rotatedSince: hour 24, rotateEvery: 7d | hours: 999 | rotate: rotatedSince
    # a schedule of a week                             | password | rotateEvery: 7d   | saved: { rotateEvery: 7d }
      is not due 12 hours and a minute before its time |          |                   | hours: 155.98 | keep
      is due 12 hours before its time                  |          |                   | hours: 156    | rotate: schedule
      that is removed is saved                         |          | rotateEvery: null | hours: 999    | keep and save
      that is another one is saved, without a read     |          | rotateEvery: 30d  |               | keep and save
    # what was added and not proven   | token; unproven            |                      | formers: [], hours: 48, read: {}
      is due again, for its reason    |                            |                      |  | rotate: schedule
      is due again, for a new version |                            | version: 2           |  | rotate: trigger
      is due again, for a date        |                            | rotatedSince: hour 1 |  | rotate: rotatedSince
      is due however often it failed  | token; unproven nine times |                      |  | rotate: schedule
    `,
  );

  it("says when the schedule began, the secret was generated, or the lost reset was sent", () => {
    const rows = plansIn(
      {},
      `
      its time   | password        | rotateEvery: 7d       | hours: 999
      its age    | password        | rotatedSince: hour 24 | hours: 48
      its lost   | password; lost  | version: 2
      a version  | password        | version: 2
      a schedule | token; unproven |                       | formers: []
      `,
    );
    const lastAt = rows.map(planned).map(({ plan }) => (plan.kind === "rotate" ? plan.lastAt : plan.kind));
    const start = "2026-01-01T00:00:00.000Z";
    assert.deepEqual(lastAt, [start, start, start, undefined, start]);
  });

  it("may be changed by a read that may end a refusal, or settle a lost reset", () => {
    const elsewhere = "hours: 50, account: { account: b, address: https://b }";
    const rows = plansIn(
      { inputs: "version: 2" },
      `
      keys of another account                     | keys                        |  | ${elsewhere}                 | yes
      keys of another account that cannot be read | keys                        |  | ${elsewhere}, canRead: false | no
      minInterval                                 | keys                        |  | hours: 0.5                   | no
      what was shown before a lost reset          | password; lost after a read |  |                              | yes
      what cannot be read                         | password; lost after a read |  | canRead: false               | no
      what was not shown before it                | password; lost              |  |                              | no
      nothing special                             | password                    |  |                              | no
      a new one                                   | new password                |  |                              | no
      `,
    );
    for (const row of rows) {
      const { state, plan, context } = planned(row);
      const isFirst = state !== undefined && isReadFirst({ ...state }, plan, context);
      assert.equal(isFirst ? "yes" : "no", row.plan, row.title);
    }
  });
});

/** What is to be refused, retired, saved or read although no rotation is due. */
describe("plan: upkeep", () => {
  testPlans(
    `
    # of one of which only one is valid                 | password             | connection: { port: 7000 }                                   | saved: {}
      saves another connection                          |                      |                                                              |                | keep and save
      saves a connection that is not known yet          |                      | connection: { host: unknown }                                |                | keep and save
      reads what could not be read after the last reset | password; to be read | connection: null                                             |                | read
      does nothing for another form                     |                      | connection: null, saveCredentials: false, encryptFor: [age1] |                | keep
    # of a former one that may be valid             | token            |                  | hours: 48, read: {}
      reads before it knows more                    |                  |                  | read: null                               | read: former
      keeps after the read                          |                  |                  |                                          | keep
      keeps what cannot be read                     |                  |                  | read: null, canRead: false               | keep
      keeps without a read if none is valid         |                  |                  | read: null, formers: one that is retired | keep
      reads for keys until they may be rolled again | keys             |                  | read: null, hours: 0.5                   | read: former
      keeps keys that may be rolled again           | keys             |                  | read: null, hours: 1                     | keep
      saves that nothing waits any more             |                  |                  | waits: it is due                         | keep and save
      reads first, although nothing waits any more  |                  |                  | waits: it is due, read: null             | read: former
      keeps what still waits                        |                  | rotateEvery: 24h | waits: it is due                         | keep, waits: schedule
      saves another overlap                         |                  | overlap: 24h     |                                          | keep and save
      saves an overlap that is not known yet        |                  | overlap: unknown |                                          | keep and save
      saves what a server has not saved             | user; not saved  |                  | read: null                               | save
      reads what a refresh has not found            | user; to be read |                  | read: null, formers: []                  | read
    # of a current one that is gone                    | user |                  | hours: 48, read: { goneReason: it is gone } | refuse: REKEY_VERIFICATION_FAILED
      fails if nothing is due                          |      |                  |                                             |  | ^it is gone$
      fails although a former one is due to be retired |      | overlap: 12h     | formers: [12h]
      fails although something is not saved            | user; not saved
      fails if schedules are off                       |      | rotateEvery: 24h | isScheduleOn: false
      rotates for a version                            |      | version: 2       |                                             | rotate: trigger
      rotates for a schedule that would wait           |      | rotateEvery: 24h |                                             | rotate: schedule
      rotates at ten passwords                         |      | version: 2       | formers: nine                               | rotate: trigger
    `,
  );
});
