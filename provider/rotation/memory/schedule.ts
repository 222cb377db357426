import type * as luxon from "luxon";
import { isSet } from "../../records/fields";

/** Loaded on first use: most resources do not rotate by time. */
const calendar = (): typeof luxon => require("luxon") as typeof luxon;

const short = /^(\d{1,9})([smhdw])$/;
/** They have the same length at any time in UTC, unlike the months and years of ISO 8601. */
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The milliseconds of a number with a unit; undefined if the text is something else. */
function shortMs(written: string): number | undefined {
  const [, count, unit] = short.exec(written) ?? [];
  return unit === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Durations in addition to those above zero in hours, days, weeks and ISO 8601. */
interface IntervalOptions {
  readonly orZero?: boolean;
  /** Also `s` and `m`, for durations that no one takes for months. */
  readonly orShort?: boolean;
  /** Values of the input that are not durations, as an error names them: `"retirement", "none"` */
  readonly orValues?: string;
}

/**
 * Reads a time between rotations: an ISO 8601 duration (`P30D`, `PT12H`, `P1M`) or a number with `h`, `d` or `w`
 * (`30d`, `12h`). Months and years are the calendar's, in UTC.
 *
 * @throws Error that names the expected form if it is not a duration, without the text, which may be secret
 */
export function readInterval(written: string, options: IntervalOptions = {}): luxon.Duration {
  const { orZero, orShort, orValues } = options;
  const duration = durationIn(written, options);
  const mustBe = `must be ${orValues ? `${orValues} or ` : ""}a duration`;
  if (!duration.isValid) {
    const [, count, unit] = short.exec(written) ?? [];
    const which = unit === "m" ? `. Write P${count}M for months, or PT${count}M for minutes` : "";
    const letters = orShort ? "s, m, h, d" : "h, d";
    throw new Error(
      `${mustBe}: a number with ${letters} or w (12h, 30d, 4w), or ISO 8601 (PT12H, P30D)${which}`,
    );
  }
  const start = calendar().DateTime.utc(2000);
  const end = start.plus(duration);
  const isLong = end > start || (orZero && +end === +start);
  if (/[+-]/.test(written) || !end.isValid || !isLong || end.year > 9999) {
    const size = orZero ? "of zero or more" : "above zero";
    throw new Error(`${mustBe} ${size} that ends before the year 10000`);
  }
  return duration;
}

function durationIn(written: string, { orZero, orShort }: IntervalOptions): luxon.Duration {
  const { Duration } = calendar();
  const milliseconds = shortMs(written);
  const isAllowed = /[hdw]/.test(written) || orShort || (orZero && milliseconds === 0);
  return milliseconds !== undefined && isAllowed
    ? Duration.fromMillis(milliseconds)
    : Duration.fromISO(written);
}

/** No zone of the world is further than 14 hours from UTC. */
const zone = /Z|[+-]((0\d|1[0-3])(:?[0-5]\d)?|14(:?00)?)/;
const date = new RegExp(
  `^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d([.,]\\d+)?)?(${zone.source}))?$`,
);

/**
 * Reads a date, which means its midnight in UTC, or a date and time with a zone.
 *
 * @throws Error that names the expected form if it is neither, without the text, which may be secret
 */
export function readDate(written: string): Date {
  const read = date.test(written)
    ? calendar().DateTime.fromISO(written, { zone: "utc" })
    : undefined;
  if (read?.isValid) return read.toJSDate();
  throw new Error(
    "must be a date (2026-04-19), or a date and time with a zone (2026-04-19T18:30:00Z), in ISO 8601",
  );
}

/** The most by which a schedule counts as due before its time. */
const mostEarlyMs = 12 * 3_600_000;

/**
 * The time from which a schedule counts as due: a tenth of the interval before its time, at most 12 hours. Schedulers
 * start jobs up to some hours late: without it, a job that starts earlier than the last one did would skip a rotation.
 */
export function dueFrom(last: string, written: string): Date {
  const due = dueAt(last, written).getTime();
  return new Date(due - Math.min(mostEarlyMs, (due - Date.parse(last)) / 10));
}

/** True if a schedule that does not count as due yet will do so within a tenth of its interval. */
export function isDueSoon(last: string, written: string, now: Date): boolean {
  const leftMs = dueFrom(last, written).getTime() - now.getTime();
  return leftMs > 0 && leftMs <= (dueAt(last, written).getTime() - Date.parse(last)) / 10;
}

/** Milliseconds by which the clocks of two machines may differ. */
export const clockToleranceMs = 5 * 60_000;

/** True for the time of a clock that was ahead. */
export function isFuture(time: string, now: Date): boolean {
  return Date.parse(time) > now.getTime() + clockToleranceMs;
}

/** The problem of a date that is to come. */
export function futureProblem(date: string, now: Date): string | undefined {
  if (!isFuture(readDate(date).toISOString(), now)) return undefined;
  return `must not be more than five minutes in the future: by this machine's clock, it is ${now.toISOString()}`;
}

/** A time, or now if it is that of a clock that was ahead. */
export function pastTime(time: string, now: Date): string {
  return isFuture(time, now) ? now.toISOString() : time;
}

/** The time that is `written` after the last rotation. */
export function dueAt(last: string, written: string): Date {
  const milliseconds = shortMs(written);
  if (milliseconds !== undefined) return new Date(Date.parse(last) + milliseconds);
  const { DateTime, Duration } = calendar();
  return DateTime.fromISO(last, { zone: "utc" }).plus(Duration.fromISO(written)).toJSDate();
}

/** True if a secret is older than a date, or of unknown age. A time in the future is that of a clock that was ahead. */
export function isOlder(
  { generatedAt }: { readonly generatedAt?: string | undefined },
  rotatedSince: string | null | undefined,
  now: Date,
): boolean {
  if (!isSet(rotatedSince)) return false;
  if (generatedAt === undefined || isFuture(generatedAt, now)) return true;
  return new Date(generatedAt) < readDate(rotatedSince);
}
