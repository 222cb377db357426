import assert from "node:assert/strict";
import { dueAt, overdue, readInterval } from "../../../provider/rotation/schedule";
import { nextRotation } from "../../../provider/rotation/planRotation";

const newYear = "2026-01-01T00:00:00.000Z";
const due: readonly (readonly [last: string, every: string, due: string])[] = [
  [newYear, "30d", "2026-01-31T00:00:00.000Z"],
  [newYear, "P30D", "2026-01-31T00:00:00.000Z"],
  [newYear, "12h", "2026-01-01T12:00:00.000Z"],
  [newYear, "PT12H", "2026-01-01T12:00:00.000Z"],
  [newYear, "90m", "2026-01-01T01:30:00.000Z"],
  [newYear, "1s", "2026-01-01T00:00:01.000Z"],
  [newYear, "2w", "2026-01-15T00:00:00.000Z"],
  [newYear, "P1DT6H", "2026-01-02T06:00:00.000Z"],
  // Months and years follow the calendar; a missing day of a month is its last day.
  ["2026-01-31T08:00:00.000Z", "P1M", "2026-02-28T08:00:00.000Z"],
  ["2028-01-31T08:00:00.000Z", "P1M", "2028-02-29T08:00:00.000Z"],
  ["2028-02-29T00:00:00.000Z", "P1Y", "2029-02-28T00:00:00.000Z"],
  // A day is 24 hours in any time zone of this machine.
  ["2026-03-28T12:00:00.000+01:00", "P1D", "2026-03-29T11:00:00.000Z"],
];

const designators = ["", "P", "PT", "P0D", "0d", "PT0S", "-P1D", "P1DT-25H", "P-1D", "P1X", "PT1H\n", "P8000Y"];
const units = ["1.5d", "30", "30D", "30dx", " 30d", "d", "1y", "30 days", "9999999999d", "３０d", "tomorrow"];

describe("rotation: interval", () => {
  for (const [last, every, expected] of due) {
    it(`of ${every} ends ${expected} after ${last}`, () => assert.equal(dueAt(last, every).toISOString(), expected));
  }

  for (const written of [...designators, ...units]) {
    it(`refuses ${JSON.stringify(written)}, and names it`, () => {
      assert.throws(
        () => readInterval(written),
        (error: Error) => error.message.startsWith(JSON.stringify(written)) && /duration/.test(error.message),
      );
    });
  }

  const late: readonly (readonly [every: string, now: string, late: string | undefined])[] = [
    ["30d", "2026-01-30T00:00:00.000Z", undefined],
    ["30d", "2026-02-03T00:00:00.000Z", undefined],
    ["30d", "2026-02-03T00:00:00.001Z", "3 days"],
    ["10d", "2026-01-12T12:00:00.000Z", "1 day"],
    ["1d", "2026-01-02T05:59:00.000Z", "5 hours"],
    ["1h", "2026-01-01T01:59:59.000Z", "59 minutes"],
    ["5s", "2026-01-01T00:00:06.000Z", "1 second"],
    ["P1M", "2026-02-04T02:24:00.001Z", "3 days"],
  ];
  for (const [every, now, expected] of late) {
    it(`of ${every} is ${expected ?? "not"} overdue at ${now}`, () => {
      assert.equal(overdue(newYear, every, new Date(now)), expected);
    });
  }

  it("gives the time of the next rotation, if there is one", () => {
    assert.equal(nextRotation(newYear, "30d"), "2026-01-31T00:00:00.000Z");
    for (const [last, every] of [
      [undefined, "30d"],
      [newYear, undefined],
      [newYear, ""],
    ]) {
      assert.equal(nextRotation(last, every), undefined);
    }
  });

  it("refuses an invalid last time", () => {
    for (const last of ["", "yesterday", "2026-13-01"]) assert.throws(() => dueAt(last, "30d"), /ISO 8601/);
  });
});
