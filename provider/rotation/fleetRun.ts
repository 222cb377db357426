import { RefusedError, type RekeyError } from "../platform/errors";
import { type RequestQueue } from "../platform/requestQueue";
import { type Run } from "../run";
import { type FleetDatabaseState } from "./fleet";
import { databasePassword } from "./kinds/databasePassword";
import { type SecretNotice } from "./notices";

const progressIntervalMs = 5_000;

/** What to save of a database, and what to report about it. */
export interface DatabaseReport {
  readonly databaseId: string;
  readonly state: FleetDatabaseState;
  readonly failure?: RekeyError | undefined;
  readonly notices: readonly SecretNotice[];
}

/** What the shards of a fleet share in a run. The engine calls them separately, and partly concurrently. */
export class FleetRun {
  /** Limits the fleet's concurrency. */
  #queue: RequestQueue | undefined;
  #maxFailures = Infinity;
  #queued = 0;
  #done = 0;
  #failed = 0;
  #lastProgressAt: number;
  /** Calls that are under way, and what the finished ones reported. */
  #open = 0;
  readonly #reports: DatabaseReport[] = [];
  /** Resets that are planned, by shard. */
  readonly #planned = new Map<string, number>();

  private constructor(
    private readonly urn: string,
    private readonly run: Run,
  ) {
    this.#lastProgressAt = run.options.clock.elapsedMs();
  }

  /** @param urn the fleet's URN */
  static of(urn: string, run: Run): FleetRun {
    return run.shared(`fleet ${urn}`, () => new FleetRun(urn, run));
  }

  /**
   * Prepares resets. The first call decides for all shards.
   *
   * @param limits `maxFailures`: failures after which no further reset is started
   * @throws SettingsError if no database could be reset: once, instead of for each of them
   */
  start({
    concurrency,
    maxFailures,
  }: {
    readonly concurrency?: number | null;
    readonly maxFailures?: number | null;
  }): void {
    this.run.platform.operations(databasePassword);
    if (this.#queue) return;
    this.#queue = this.run.platform.queueWithin(concurrency ?? undefined);
    this.#maxFailures = maxFailures ?? Infinity;
  }

  /**
   * Runs a reset when the fleet's concurrency allows it.
   *
   * @returns undefined if the fleet has stopped
   */
  async reset(reset: () => Promise<DatabaseReport>): Promise<DatabaseReport | undefined> {
    this.#queued++;
    return this.#queue?.run(async () => {
      if (this.#failed >= this.#maxFailures) return undefined;
      const result = await reset();
      this.#done++;
      // A refusal of Rekey is not a failure of the platform.
      if (result.failure !== undefined && !(result.failure instanceof RefusedError)) this.#failed++;
      this.#logProgress();
      return result;
    });
  }

  /**
   * Remembers how many resets are planned in a shard.
   *
   * @returns those planned in all shards so far
   */
  countPlanned(shard: string, resets: number): number {
    this.#planned.set(shard, resets);
    return [...this.#planned.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Collects what concurrent calls report, so that a fleet has one line instead of one for each shard.
   *
   * @returns a function to call with the reports of this call: for the last one it returns those of all, otherwise none
   */
  join(): (reports: readonly DatabaseReport[]) => readonly DatabaseReport[] {
    this.#open++;
    return (reports) => {
      this.#reports.push(...reports);
      return --this.#open === 0 ? this.#reports.splice(0) : [];
    };
  }

  #logProgress(): void {
    const { clock, log } = this.run.options;
    if (clock.elapsedMs() - this.#lastProgressAt < progressIntervalMs) return;
    this.#lastProgressAt = clock.elapsedMs();
    const progress = `${this.#done} of ${this.#queued} tried, ${this.#failed} failed`;
    log(`${fleetLabel(this.urn)}: ${progress}.`);
  }
}

/** A fleet in messages, from its URN: `PasswordRotationFleet "caches"` */
export function fleetLabel(urn: string): string {
  return `PasswordRotationFleet ${JSON.stringify(urn.split("::").at(-1))}`;
}
