import { type Fault } from "./fault";

/** How a reset differs from one that is applied before its response is sent. */
export type ResetFault = Pick<Fault, "applyAfterMs" | "keepFormerPassword">;

/** Applies resets: at once, late or never. A newer reset of the same secret replaces one that is not applied yet. */
export class LateResets {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** @returns the result of `apply` if the reset is applied at once */
  apply<T>(id: string, { applyAfterMs = 0 }: ResetFault, apply: () => T): T | undefined {
    clearTimeout(this.#timers.get(id));
    if (applyAfterMs === 0) {
      return apply();
    }
    if (applyAfterMs !== "never") {
      // The response was sent long ago: a Redis that is away by then never gets the password.
      const applyLate = (): void => void Promise.resolve(apply()).catch(() => undefined);
      this.#timers.set(id, setTimeout(applyLate, applyAfterMs));
    }
    return undefined;
  }

  /** Forgets the resets that are not applied yet. */
  clear(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
  }
}
