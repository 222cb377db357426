import { testPlans } from "./plans";

describe("gates: what refuses a rotation that is due, or makes it wait", () => {
  testPlans(
    `
    # rekey:scheduledResets off           | password                   | rotateEvery: 7d | hours: 999, isScheduleOn: false
      lets a schedule wait                |                            |                 |                            | keep, waits: schedule     | rekey:scheduledResets is off
      saves another schedule meanwhile    |                            | rotateEvery: 1d | saved: { rotateEvery: 7d } | keep and save, waits: schedule
      does not concern a version          |                            | version: 2      |                            | rotate: trigger
      fails for a lost scheduled reset    | password; lost by schedule |                 |                            | refuse: REKEY_UNCONFIRMED | \\(2026-01-08T00:00:00.000Z\\) was not confirmed.* Run \`up\` once with rekey:scheduledResets on
      does not concern another lost reset | password; lost             | version: 2      |                            | rotate again: trigger
    # saveCredentials false                             | password     | version: 2, saveCredentials: false
      refuses what no read shows                        |              |                    | read: { shown: { restToken: r1 } } | refuse: REKEY_NOT_ENCRYPTED | does not show it, so the new one would be lost
      allows what a read shows                          |              |                    | read: { shown: { password: p1 } }  | rotate: trigger
      reads first                                       |              |                    |                                    | rotate: trigger
      allows a new one of which a read shows anything   | new password |                    | read: { shown: { restToken: r1 } } | rotate: created
      refuses a new one of which no read shows anything | new password |                    | read: {}                           | refuse: REKEY_NOT_ENCRYPTED
      refuses what cannot be read                       |              |                    | canRead: false                     | refuse: REKEY_NOT_ENCRYPTED
      allows what is encrypted                          |              | encryptFor: [age1] | read: {}                           | rotate: trigger
    # the queue's own token                                 | token      | version: 2, overlap: none | ownToken: own, formers: []        | refuse: REKEY_QUEUE_TOKEN_IN_USE
      is not reset                                          | token; own |                           |                                   |  | ^it is rekey:queueToken, which .* Set rekey:queueUserId
      is not reset if it is the read-only token             | token; own for reads
      is not that of another user                           |            |                           | read: { shown: { token: other } } | rotate: trigger
      is not the known one of another user, which is hidden |            |                           | read: {}                          | rotate: trigger
      may have been shown by an earlier read of the run     |            |                           | read: { shownInRun: [{ readOnlyToken: own }, {}] }
      stays valid if another one is added                   | token; own | overlap: retirement       |                                   | rotate: trigger
      may be one that is not known, and not shown           | new token  |                           | read: {}                          |  | ^it is not shown, and may be rekey:queueToken
      may be one that cannot be read                        | new token  |                           | canRead: false
      may be shown by the read before the reset             | new token  |                           |                                   | rotate: created
      is none without rekey:queueToken                      | token; own |                           | ownToken: null                    | rotate: trigger
    # a former one that is valid, and a new version            | token                   | version: 2    | hours: 48, read: {}
      waits for the former token                               |                         |               |                                                 | keep, waits: trigger | ^the former token has been valid, too, since 2026-01-01T00.*by the first \`up\` after the one at whose end a Retirement retires
      waits for the end of its duration                        |                         | overlap: 72h  | formers: [72h]                                  | keep, waits: trigger | by the first \`up\` after 2026-01-04T00:00:00\\.000Z
      does not wait for what is due to be retired              |                         | overlap: 12h  | formers: [12h]                                  | rotate: trigger
      does not wait if none is valid                           |                         |               | formers: []                                     | rotate: trigger
      does not wait if the current one is replaced at once     |                         | overlap: none |                                                 | rotate: trigger
      is planned before the read has shown more                |                         |               | read: null                                      | rotate: trigger
      adds a further password of a user                        | user                    |               |                                                 | rotate: trigger
      adds the tenth password                                  | user                    |               | formers: eight                                  | rotate: trigger
      waits at ten passwords                                   | user                    |               | formers: nine                                   | keep, waits: trigger | ^the former password has been valid, too, since 2026-01-01T00:00
      does not wait at ten passwords of others                 | user                    |               | formers: nine of others                         | rotate: trigger
      waits at ten passwords for the first end of a duration   | user                    | overlap: 72h  | formers: nine for 72h                           | keep, waits: trigger | after 2026-01-04T00:00:00\\.000Z$
      waits for the oldest one, also if a clock was set back   |                         |               | formers: [{ since: hour 3 }, { since: hour 2 }] | keep, waits: trigger | since 2026-01-01T02
      waits while the current hash is not certain              | user; of uncertain hash |               |                                                 | keep, waits: trigger
      waits for what is back like for any other one            | user; of uncertain hash |               | formers: [{ isValidAgain: true }]               | keep, waits: trigger
      does not wait for what is back before the first rotation | user; never rotated     |               | formers: [{ isValidAgain: true }]               | rotate: trigger
    # a former one that is valid, and a schedule or a date             | user  | rotateEvery: 24h                         | hours: 48, read: {}
      waits for the former token                                       | token |                                          |                                                   | keep, waits: schedule
      waits for the former password                                    |       |                                          |                                                   | keep, waits: schedule
      does not wait for what is back                                   |       |                                          | formers: [{ isValidAgain: true }]                 | rotate: schedule
      waits for another one than what is back                          |       |                                          | formers: [{ isValidAgain: true }, 24h]            | keep and save, waits: schedule
      does not wait for what is due to be retired                      |       | overlap: 12h                             | formers: [12h]                                    | rotate: schedule
      retires what is over, while it waits for another one             |       | overlap: 12h                             | formers: [12h, { since: hour 47, validFor: 12h }] | retire: time, waits: schedule
      retires for a date while it waits, with schedules off            |       |                                          | formers: [next up], isScheduleOn: false           | retire: date, waits: schedule
      waits and saves another overlap                                  |       | overlap: 72h                             |                                                   | keep and save, waits: schedule
      never waits for a date                                           | token | rotateEvery: null, rotatedSince: hour 1  |                                                   | rotate: rotatedSince
      never waits for a date, at ten passwords either                  |       | rotateEvery: null, rotatedSince: hour 1  | formers: nine                                     | rotate: rotatedSince
      does not wait for a date, which the former one is not older than | token | rotateEvery: null, rotatedSince: hour 24 | formers: [{ generatedAt: hour 47 }]               | rotate: rotatedSince
    # another server, at which the current one is not | user |                      | hours: 48, read: { goneReason: it is gone, isOtherServer: true }
      fails for a schedule                            |      | rotateEvery: 24h     |  | refuse: REKEY_VERIFICATION_FAILED | ^it is gone$
      rotates for a version                           |      | version: 2           |  | rotate: trigger
      rotates for a date                              |      | rotatedSince: hour 1 |  | rotate: rotatedSince
    `,
  );
});
