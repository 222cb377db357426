import assert from "node:assert/strict";
import { queueToken } from "../../../../provider/domain/secretKind";
import { type RotationReason } from "../../../../provider/rotation/memory/memory";
import { validForAfter, willWait } from "../../../../provider/rotation/program/formers";
import { readProgram } from "../../../../provider/rotation/program/program";
import { timeAt } from "../../../support/rotatedSecret";
import { planned, plansIn, testPlans } from "../plan/plans";
import { fieldsIn, tableOf } from "../tables";

describe("formers: a time or a date retires", () => {
  testPlans(
    `
    # of those that are valid                           | token |                        | hours: 48, read: {}
      what is over                                      |       | overlap: 12h           | formers: [12h]                          | retire: time
      at its time                                       |       | overlap: 48h           | formers: [48h]                          | retire: time
      before its time not                               |       | overlap: 49h           | formers: [49h]                          | keep
      with another overlap not, until that is saved     |       | overlap: 1h            | formers: [12h]                          | keep and save
      with schedules off not                            |       | overlap: 12h           | formers: [12h], isScheduleOn: false     | keep
      what \`none\` has left                            |       | overlap: none          | formers: [none]                         | retire: time
      what is older than the date                       |       | rotatedSince: hour -1  |                                         | retire: date
      what is not older than the date not               |       | rotatedSince: hour -24 |                                         | keep
      what is of unknown age                            |       | rotatedSince: hour -99 | formers: one of unknown age             | retire: date
      what a date has replaced, with schedules off, too |       |                        | formers: [next up], isScheduleOn: false | retire: date
      what a date has replaced, and what is over        |       | overlap: 12h           | formers: [12h, next up]                 | retire: date
      what was retired and is back, for a duration      | user  | overlap: 24h           | formers: [{ isValidAgain: true }]       | retire: time
      what is back not, if a Retirement does it         | user  |                        | formers: [{ isValidAgain: true }]       | keep
    `,
  );
});

describe("formers: for how long what a rotation replaces stays valid", () => {
  const rows = tableOf(
    ["title", "reason", "inputs", "validFor"],
    `
    until a Retirement, by default                | trigger      |                                     | retirement
    for a duration                                | trigger      | overlap: 24h                        | 24h
    until the hand-over                           | trigger      | overlap: none                       | none
    until the next up, for a date                 | rotatedSince |                                     | next up
    until the next up, if it is older than a date | trigger      | rotatedSince: hour 1                | next up
    until a Retirement, if it is not older        | trigger      | rotatedSince: hour -1               | retirement
    until the hand-over, also for a date          | trigger      | rotatedSince: hour 1, overlap: none | none
    `,
  );
  for (const { title, reason, inputs, validFor } of rows) {
    it(title, () => {
      const current = { generatedAt: timeAt(0).toISOString() };
      const program = readProgram(fieldsIn(inputs), queueToken);
      assert.equal(validForAfter(reason as RotationReason, current, program, timeAt(5)), validFor);
    });
  }
});

describe("formers: whether one will wait for a Retirement after a plan", () => {
  const rows = plansIn(
    { secret: "token", given: "hours: 48" },
    `
    none, if none is valid and none is made        |  |                          | formers: []             | no
    what a version makes                           |  | version: 2               | formers: []             | yes
    what a version makes, for a duration, does not |  | version: 2, overlap: 24h | formers: []             | no
    what a date makes                              |  | rotatedSince: hour 1     | formers: []             | yes
    what is valid until a Retirement               |  |                          |                         | yes
    what is valid for a time does not              |  | overlap: 72h             | formers: [72h]          | no
    what is valid for a time from now on does not  |  | overlap: 72h             | formers: [retirement]   | no
    one of two, which a date has replaced          |  | overlap: 72h             | formers: [72h, next up] | yes
    is unknown with the overlap                    |  | overlap: unknown         | formers: []             | unknown
    is unknown with the version                    |  | version: unknown         |                         | unknown
    `,
  );
  for (const row of rows) {
    it(row.title, () => {
      const { state, program, plan, context } = planned(row);
      const waits = willWait((state ?? assert.fail()).memory, program, plan, context.now);
      assert.equal(waits === undefined ? "unknown" : waits ? "yes" : "no", row.plan);
    });
  }
});
