/** The current time and timers. Tests pass their own. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Calls once, at `time` or as soon as possible after it. @returns a function that cancels the call */
  at(time: number, call: () => void): () => void;
}

/**
 * The maximum delay of Node's timers; a longer one would fire immediately. A caller that is woken too early waits
 * again.
 */
const longestWaitMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, call) {
    const timer = setTimeout(call, Math.min(Math.max(time - Date.now(), 0), longestWaitMs));
    return () => clearTimeout(timer);
  },
};

/** A timer that can be rescheduled. */
export class Alarm {
  #at: number | undefined;
  #cancel = (): void => {};

  constructor(
    readonly clock: Clock,
    readonly ring: () => void,
  ) {}

  /** Reschedules the alarm; `undefined` cancels it. */
  set(at: number | undefined): void {
    if (at === this.#at) {
      return;
    }
    this.#cancel();
    this.#at = at;
    if (at !== undefined) {
      this.#cancel = this.clock.at(at, () => {
        this.#at = undefined;
        this.ring();
      });
    }
  }
}
