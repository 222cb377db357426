import { randomUUID } from "node:crypto";
import { Cron } from "croner";
import { Refused } from "../refused";
import { type Draft } from "./messages";

/** A schedule: a message that is published repeatedly. Times are Unix time in milliseconds. */
export interface Schedule {
  readonly scheduleId: string;
  /** As given. */
  readonly cron: string;
  readonly createdAt: number;
  readonly draft: Draft;
  readonly isPaused: boolean;
  readonly lastAt: number | undefined;
  readonly nextAt: number | undefined;
}

/**
 * The schedules, in memory. It has no clock: `takeDue` returns the messages to publish now, `wakeAt` is the time of the
 * next call.
 */
export class Schedules {
  readonly #schedules = new Map<string, Schedule>();

  get all(): ReadonlyMap<string, Schedule> {
    return this.#schedules;
  }

  get wakeAt(): number | undefined {
    const times = [...this.#schedules.values()].flatMap(({ nextAt, isPaused }) => (isPaused ? [] : (nextAt ?? [])));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Adds a schedule, or replaces the one with this id. @throws Refused if the cron expression is invalid */
  add(scheduleId: string | undefined, cron: string, draft: Draft, now: number): Schedule {
    const id = scheduleId ?? `scd_${randomUUID()}`;
    const createdAt = this.#schedules.get(id)?.createdAt ?? now;
    const nextAt = next(cron, now);
    const schedule = {
      scheduleId: id,
      cron,
      createdAt,
      draft: { ...draft, scheduleId: id },
      isPaused: false,
      lastAt: undefined,
      nextAt,
    };
    this.#schedules.set(id, schedule);
    return schedule;
  }

  /** Pauses or resumes a schedule. Runs that were missed during a pause are not made up for. */
  pause(id: string, isPaused: boolean, now: number): boolean {
    const schedule = this.#schedules.get(id);
    if (schedule !== undefined) {
      this.#schedules.set(id, { ...schedule, isPaused, nextAt: next(schedule.cron, now) });
    }
    return schedule !== undefined;
  }

  delete(id: string): boolean {
    return this.#schedules.delete(id);
  }

  /** The messages of the due schedules: one each, regardless of how many runs were missed. */
  takeDue(now: number): Draft[] {
    const due = [...this.#schedules.values()].filter(({ isPaused, nextAt = Infinity }) => !isPaused && nextAt <= now);
    for (const schedule of due) {
      this.#schedules.set(schedule.scheduleId, { ...schedule, lastAt: now, nextAt: next(schedule.cron, now) });
    }
    return due.map(({ draft }) => draft);
  }
}

/**
 * The next run of an expression such as `0 4 * * *`, optionally with the prefix `CRON_TZ=<zone> `. Default time zone:
 * UTC.
 */
function next(text: string, now: number): number | undefined {
  const field = "Upstash-Cron";
  const [, timezone = "UTC", pattern = ""] = /^(?:CRON_TZ=(\S+)\s+)?(.*)$/s.exec(text) ?? [];
  if (pattern.trim().split(/\s+/).length < 5 && !pattern.startsWith("@")) {
    throw new Refused(field, `${JSON.stringify(text)} has fewer than five fields; example: "0 4 * * *"`);
  }
  try {
    return new Cron(pattern, { timezone, paused: true }).nextRun(new Date(now))?.getTime();
  } catch (error) {
    throw new Refused(field, `${JSON.stringify(text)} is not a cron expression: ${(error as Error).message}`);
  }
}
