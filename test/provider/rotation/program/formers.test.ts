import assert from "node:assert/strict";
import { emptyMemory } from "../../../../provider/rotation/memory/memory";
import { validForAfter } from "../../../../provider/rotation/program/formers";
import { type Rotation } from "../../../../provider/rotation/program/plan";
import { readProgram } from "../../../../provider/rotation/program/program";
import { timeAt } from "../../../support/rotatedSecret";
import { testPlans } from "../plan/plans";
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
      const { current } = emptyMemory(timeAt(0));
      const memory = { current: { ...current, generatedAt: timeAt(0).toISOString() } };
      const program = readProgram(fieldsIn(inputs));
      assert.equal(validForAfter({ reason: reason as Rotation["reason"] }, memory, program, timeAt(5)), validFor);
    });
  }
});
