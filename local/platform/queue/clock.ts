/** What time it is, and being called at a time; tests hand in one of their own. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Calls once, at `time` or as soon as it can after it. Returns what cancels it. */
  at(time: number, call: () => void): () => void;
}

/** The longest wait of a timer of Node; a longer one would end at once. Who is woken early asks for the rest. */
const longestWait = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, call) {
    const timer = setTimeout(call, Math.min(Math.max(time - Date.now(), 0), longestWait));
    return () => clearTimeout(timer);
  },
};

/** One timer, which can be moved. */
export class Alarm {
  #at: number | undefined;
  #cancel = (): void => {};

  constructor(
    readonly clock: Clock,
    readonly ring: () => void,
  ) {}

  /** Rings at this time, and no longer at the one before; `undefined` for never. */
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
