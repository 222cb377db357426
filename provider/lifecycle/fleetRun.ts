import { type Line } from "../api/line";

export interface FleetRunOptions {
  /** What the fleet is called. */
  readonly name: string;
  /** Failures after which nothing more is begun; no limit when undefined. */
  readonly maxFailures: number | undefined;
  /** Where the fleet's databases wait for their turn. */
  readonly line: Line;
  readonly now: () => Date;
  /** Shows the user a line while the run goes on. */
  readonly say: (line: string) => void;
}

/** What the program calls a fleet, from its full name. */
export function fleetName(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}

/** Milliseconds between two lines about how far a fleet is. */
const pause = 5_000;

/** What the shards of a fleet share in a run: they are separate calls of the engine, and some of them at the same time. */
export class FleetRun {
  #planned = 0;
  #done = 0;
  #failed = 0;
  #lastSaid: number;

  constructor(private readonly options: FleetRunOptions) {
    this.#lastSaid = options.now().getTime();
  }

  /**
   * Makes a reset when its turn has come.
   *
   * @param reset says whether it failed.
   * @returns undefined where the fleet has stopped before.
   */
  async reset<T extends { readonly failed: boolean }>(reset: () => Promise<T>): Promise<T | undefined> {
    this.#planned++;
    return this.options.line.run(async () => {
      if (this.#failed >= (this.options.maxFailures ?? Infinity)) return undefined;
      const result = await reset();
      this.#done++;
      if (result.failed) this.#failed++;
      this.#sayHowFar();
      return result;
    }, false);
  }

  #sayHowFar(): void {
    const now = this.options.now().getTime();
    if (now - this.#lastSaid < pause) return;
    this.#lastSaid = now;
    const { name, say } = this.options;
    say(
      `PasswordRotationFleet ${JSON.stringify(name)}: ${this.#done} of ${this.#planned} tried, ${this.#failed} failed.`,
    );
  }
}
