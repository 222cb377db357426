import { Agenda } from "../../../../local/platform/queue/agenda";
import { type Clock } from "../../../../local/platform/queue/clock";

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  readonly #agenda = new Agenda<{ call: () => void }>();

  constructor(private time = 1_700_000_000_000) {}

  now(): number {
    return this.time;
  }

  at(time: number, call: () => void): () => void {
    const timer = { call };
    this.#agenda.add(time, timer);
    return () => (timer.call = () => {});
  }

  /** Moves the clock forward, and calls every timer that is due at its own time. */
  move(milliseconds: number): void {
    const end = this.time + milliseconds;
    for (let at = this.#agenda.nextAt; at !== undefined && at <= end; at = this.#agenda.nextAt) {
      this.time = Math.max(this.time, at);
      this.#agenda.takeDue(at)?.call();
    }
    this.time = end;
  }
}
