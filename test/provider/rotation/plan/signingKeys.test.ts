import { testPlans } from "./plans";

describe("signing keys: why a roll that is due is refused, or waits", () => {
  testPlans(
    `
    # another account                            | keys                | version: 2                   | hours: 50, account: { account: b, address: https://b } | refuse: REKEY_OTHER_ACCOUNT
      refuses those of another address           |                     |                              |                                                        |  | belongs to https://a, but the settings are for https://b
      refuses those of another user or token     |                     |                              | account: { account: b, address: https://a }            |  | a different rekey:queueUserId or rekey:queueToken
      refuses a schedule, even if they are off   |                     | version: 1, rotateEvery: 12h | isScheduleOn: false
      does not matter if nothing is due          |                     | version: 1                   |                                                        | keep
      is not another one if none was known       | keys; of no account |                              |                                                        | rotate: trigger
      is not another one if settings are missing |                     |                              | account: null                                          | rotate: trigger
    # minInterval                                                            | keys                               | version: 2                        | hours: 0.9
      refuses a second roll within an hour                                   |                                    |                                   |                                      | refuse: REKEY_ROLLED_RECENTLY | at 2026-01-01T00.* after 2026-01-01T01:00.*minInterval
      allows a second roll after an hour                                     |                                    |                                   | hours: 1                             | rotate: trigger
      is that of the program                                                 |                                    | minInterval: PT10M                |                                      | rotate: trigger
      lets a schedule wait                                                   |                                    | version: 1, rotateEvery: PT30M    |                                      | read: former, waits: schedule
      lets a date wait                                                       |                                    | version: 1, rotatedSince: hour 24 |                                      | read: former, waits: rotatedSince
      fails for a lost roll by a schedule                                    | keys; rolled by schedule, and lost | version: 1, rotateEvery: PT1H     | hours: 2.9                           | refuse: REKEY_ROLLED_RECENTLY
      refuses a roll in the run that finds another one                       |                                    |                                   | hours: 5, read: { isForeign: true }  | refuse: REKEY_ROLLED_RECENTLY
      refuses it in that run, if it is 0s                                    |                                    | minInterval: 0s                   | hours: 5, read: { isForeign: true }  | refuse: REKEY_ROLLED_RECENTLY | The next \`up\` may roll it
      lets a schedule wait in that run                                       |                                    | version: 1, rotateEvery: 1d       | hours: 99, read: { isForeign: true } | keep, waits: schedule
      allows every roll if it is 0s, by a clock that is a little behind, too |                                    | minInterval: 0s                   | hours: -0.05                         | rotate: trigger
      refuses a roll by a clock that is a little behind                      |                                    |                                   | hours: -0.05                         | refuse: REKEY_ROLLED_RECENTLY
      does not believe a clock that was ahead                                |                                    |                                   | hours: -24                           | rotate: trigger
      does not concern passwords                                             | password                           |                                   | hours: 0                             | rotate: trigger
    `,
  );
});
