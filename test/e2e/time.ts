import { mock } from "node:test";

const hourMs = 3_600_000;

/** Moves the time of this process on, where it stands still until it is moved again, or `resetTime` is called. */
export function moveOn(hours: number): void {
  const now = Date.now() + hours * hourMs;
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now });
}

/** A spec that moves the time calls it after each test. */
export function resetTime(): void {
  mock.timers.reset();
}
