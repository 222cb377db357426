import assert from "node:assert/strict";
import { Settings } from "luxon";
import { dueAt, dueFrom, readDate, readInterval } from "../../../../provider/rotation/memory/schedule";
import { seed } from "../../../support/suite";

const newYear = "2026-01-01T00:00:00.000Z";
const due: readonly { readonly last: string; readonly every: string; readonly expected: string }[] = [
  { last: newYear, every: "30d", expected: "2026-01-31T00:00:00.000Z" },
  { last: newYear, every: "P30D", expected: "2026-01-31T00:00:00.000Z" },
  { last: newYear, every: "12h", expected: "2026-01-01T12:00:00.000Z" },
  { last: newYear, every: "PT12H", expected: "2026-01-01T12:00:00.000Z" },
  { last: newYear, every: "PT90M", expected: "2026-01-01T01:30:00.000Z" },
  { last: newYear, every: "PT1S", expected: "2026-01-01T00:00:01.000Z" },
  { last: newYear, every: "2w", expected: "2026-01-15T00:00:00.000Z" },
  { last: newYear, every: "P1DT6H", expected: "2026-01-02T06:00:00.000Z" },
  // Months and years follow the calendar; a missing day of a month is its last day.
  { last: "2026-01-31T08:00:00.000Z", every: "P1M", expected: "2026-02-28T08:00:00.000Z" },
  { last: "2028-01-31T08:00:00.000Z", every: "P1M", expected: "2028-02-29T08:00:00.000Z" },
  { last: "2028-02-29T00:00:00.000Z", every: "P1Y", expected: "2029-02-28T00:00:00.000Z" },
  // A day is 24 hours in any time zone of this machine.
  { last: "2026-03-28T12:00:00.000+01:00", every: "P1D", expected: "2026-03-29T11:00:00.000Z" },
];

const refused = ["", "P", "PT", "P0D", "0d", "-P1D", "P1DT-25H", "P1M-30D", "+P1D", "P1X", "PT1H\n", "P8000Y"];
const inOtherUnits = ["6m", "30s", "1.5d", "30", "30D", "30dx", " 30d", "1y", "30 days", "9999999999d", "３０d"];

describe("rotation: interval", () => {
  for (const { last, every, expected } of due) {
    it(`of ${every} ends ${expected} after ${last}`, () => assert.equal(dueAt(last, every).toISOString(), expected));
  }

  it("does not depend on the time zone of the machine", () => {
    Settings.defaultZone = "America/New_York";
    try {
      // In New York, the clocks go forward in between.
      assert.equal(dueAt("2026-03-07T12:00:00.000Z", "P1D").toISOString(), "2026-03-08T12:00:00.000Z");
    } finally {
      Settings.defaultZone = "system";
    }
  });

  it("may be zero, but not negative or endless, if that is allowed", () => {
    for (const zero of ["0s", "0m", "0h", "PT0S"]) assert.equal(readInterval(zero, { orZero: true }).toMillis(), 0);
    for (const written of ["-P1D", "P1M-30D", "P1DT-25H", "P8000Y", "P999999999Y"]) {
      const message = "must be a duration of zero or more that ends before the year 10000";
      assert.throws(() => readInterval(written, { orZero: true }), { message });
    }
  });

  it("may last until the year 9999", () => assert.equal(readInterval("P7999Y").years, 7999));

  for (const written of [...refused, ...inOtherUnits]) {
    it(`refuses ${JSON.stringify(written)}, and does not show it`, () => {
      assert.throws(
        () => readInterval(written),
        /^Error: must be a duration(: a number with h, d or w \(12h, 30d, 4w\), or ISO 8601 \(PT12H, P30D\)| above zero that ends before the year 10000)/,
      );
    });
  }

  it("refuses minutes in the short form, which may be meant as months, and offers both in ISO 8601", () => {
    for (const orZero of [true, false]) {
      assert.throws(() => readInterval("6m", { orZero }), /Write P6M for months, or PT6M for minutes$/);
    }
    assert.equal(dueAt(newYear, "P6M").toISOString(), "2026-07-01T00:00:00.000Z");
    assert.equal(dueAt(newYear, "PT6M").toISOString(), "2026-01-01T00:06:00.000Z");
  });

  it("may be in seconds and minutes where no one takes them for months", () => {
    for (const [written, seconds] of [
      ["30s", 30],
      ["1m", 60],
    ] as const) {
      assert.equal(readInterval(written, { orShort: true }).as("seconds"), seconds);
    }
  });
});

describe("rotation: a schedule whose jobs start late", () => {
  const hour = 3_600_000;
  const nightly = 24 * hour;
  const jobs = { nightly, weekly: 7 * nightly };
  const delays = { "44 minutes to 12 hours": [44 / 60, 12], "5 to 30 minutes": [5 / 60, 0.5] } as const;

  /** How old a secret gets in 2,000 years, in intervals. */
  function oldest(every: string, job: keyof typeof jobs, [least, most]: readonly [number, number]): number {
    const dueAfter = dueFrom(newYear, every).getTime() - Date.parse(newYear);
    let state = seed;
    const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
    let last = 0;
    let oldestMs = 0;
    for (let planned = 0; planned < 2000 * 365 * nightly; planned += jobs[job]) {
      const now = planned + (least + random() * (most - least)) * hour;
      oldestMs = Math.max(oldestMs, now - last);
      if (now - last >= dueAfter) last = now;
    }
    return oldestMs / (dueAt(newYear, every).getTime() - Date.parse(newYear));
  }

  for (const every of ["7d", "30d", "90d"]) {
    for (const job of ["nightly", "weekly"] as const) {
      for (const delay of ["44 minutes to 12 hours", "5 to 30 minutes"] as const) {
        it(`lets no secret become older than 1.2 intervals (${every}, a ${job} job, ${delay} late)`, () =>
          assert.ok(oldest(every, job, delays[delay]) < 1.2));
      }
    }
  }

  it("needs jobs that start within a tenth of the interval of the same time (1d, a nightly job)", () => {
    assert.ok(oldest("1d", "nightly", [0, 2.4]) < 1.2);
    assert.ok(oldest("1d", "nightly", delays["44 minutes to 12 hours"]) > 2);
  });
});

describe("rotation: date", () => {
  const dates = {
    "2026-04-19": "2026-04-19T00:00:00.000Z",
    "2028-02-29": "2028-02-29T00:00:00.000Z",
    "2026-04-19T18:30Z": "2026-04-19T18:30:00.000Z",
    "2026-04-19T18:30:15Z": "2026-04-19T18:30:15.000Z",
    "2026-04-19T18:30:15.1234567Z": "2026-04-19T18:30:15.123Z",
    "2026-04-19T18:30:15,5+02:00": "2026-04-19T16:30:15.500Z",
    "2026-04-19T18:30-0330": "2026-04-19T22:00:00.000Z",
    "2026-04-19T18:30+02": "2026-04-19T16:30:00.000Z",
    "2026-04-19T18:30+14:00": "2026-04-19T04:30:00.000Z",
    "2026-04-19T18:30-1359": "2026-04-20T08:29:00.000Z",
  };
  for (const [written, expected] of Object.entries(dates)) {
    it(`${written} is ${expected} in any time zone of this machine`, () => {
      Settings.defaultZone = "America/New_York";
      try {
        assert.equal(readDate(written).toISOString(), expected);
      } finally {
        Settings.defaultZone = "system";
      }
    });
  }

  const withoutZone = ["2026-04-19T18:30:00", "2026-04-19 18:30"];
  const parts = ["", "2026", "2026-04", "T18:30Z", "20260419", "2026-W16-7", "2026-109"];
  const zones = ["+15", "-14:01", "+1430", "-99:00", "+02:60", "z"].map((zone) => `2026-04-19T18:30${zone}`);
  const others = ["2026-02-30", "2026-13-01", "2026-04-19T25:00Z", "2026-04-19Z", "30d", "2026-04-19\n", "1776556800"];
  for (const written of [...withoutZone, ...parts, ...zones, ...others]) {
    it(`refuses ${JSON.stringify(written)}, and does not show it`, () => {
      assert.throws(() => readDate(written), {
        message: "must be a date (2026-04-19), or a date and time with a zone (2026-04-19T18:30:00Z), in ISO 8601",
      });
    });
  }
});
