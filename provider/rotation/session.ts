import { RefusedError } from "../platform/errors";
import { type RequestQueue } from "../platform/requestQueue";
import { type DatabaseResponse } from "../records/response";
import { type HostSetting } from "./clientEndpoint";

/** What a session depends on. */
export interface SessionOptions {
  /** The platform's operations; getters, so that a missing setting fails only the calls that need it. */
  readonly platform: {
    readonly databases: { resetPassword(id: string, secrets?: readonly string[]): Promise<DatabaseResponse> };
    queueWithin(concurrency?: number): RequestQueue;
  };
  /** Password resets that one run may send; no limit if undefined. */
  readonly maxResets: () => number | undefined;
  /** @throws SettingsError if rekey:databaseHost cannot be used */
  readonly databaseHost: () => HostSetting | undefined;
  /** The mark of the account; undefined if its settings are missing or cannot be used. */
  readonly account: () => string | undefined;
  readonly now: () => Date;
  /** Shows the user a line during the run. */
  readonly log: (line: string) => void;
}

/** What the resources of one run of the engine share. It lives as long as the host process. */
export class Session<Options extends SessionOptions = SessionOptions> {
  readonly #rotations = new Map<string, Promise<unknown>>();
  readonly #owners = new Map<string, string>();
  readonly #fleets = new Map<string, FleetSession>();
  /** The planned resets of each shard, by the URN of its fleet. */
  readonly #planned = new Map<string, Map<string, number>>();
  #resets = 0;

  constructor(readonly options: Options) {}

  /**
   * Performs a rotation at most once in this run. An engine may repeat a call (an error hook does): it then gets the
   * first call's result, and nothing is sent again. A rotation that failed was not done, and may be tried again.
   */
  rotateOnce<T>(key: string, rotate: () => Promise<T>): Promise<T> {
    const known = this.#rotations.get(key);
    if (known) return known as Promise<T>;
    const result = rotate();
    this.#rotations.set(key, result);
    result.catch(() => this.#rotations.delete(key));
    return result;
  }

  /**
   * Claims a database for a resource.
   *
   * @param owner the resource's URN
   * @param otherOwners URNs of other resources of the program for the same database, as far as the program knew them
   * @returns why the resource cannot rotate it; undefined if it can
   */
  claim(databaseId: string, owner: string, otherOwners: readonly string[] | undefined): string | undefined {
    const other = otherOwners?.[0];
    const first = typeof other === "string" ? other : (this.#owners.get(databaseId) ?? owner);
    if (first === owner) {
      this.#owners.set(databaseId, owner);
      return undefined;
    }
    const advice =
      "Remove one of them. If both have reset it, the saved password of one is stale: set a new version on the one that stays";
    return `database ${JSON.stringify(databaseId)} is already rotated by ${first}: each reset by one invalidates the password of the other. ${advice}`;
  }

  /**
   * What the shards of a fleet share.
   *
   * @param urn the fleet's URN
   * @throws SettingsError if no database could be reset: once, instead of for each of them.
   */
  fleet(urn: string, concurrency?: number | null, maxFailures?: number | null): FleetSession {
    const { platform } = this.options;
    void platform.databases;
    const known = this.#fleets.get(urn);
    if (known) return known;
    const queue = platform.queueWithin(concurrency ?? undefined);
    const fleet = new FleetSession(fleetName(urn), queue, maxFailures ?? Infinity, this.options);
    this.#fleets.set(urn, fleet);
    return fleet;
  }

  /**
   * Remembers how many resets are planned in a shard.
   *
   * @param urn the fleet's URN
   * @returns those planned in all shards of the fleet so far
   */
  countPlanned(urn: string, shard: string, resets: number): number {
    const shards = (this.#planned.get(urn) ?? new Map<string, number>()).set(shard, resets);
    this.#planned.set(urn, shards);
    return [...shards.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Counts one password reset against the run's limit. The returned function undoes that, for a reset that was not
   * made.
   *
   * @throws RefusedError if none is left.
   */
  takeReset(databaseId: string): () => void {
    const limit = this.options.maxResets() ?? Infinity;
    if (this.#resets >= limit) {
      throw new RefusedError(
        "REKEY_RESET_LIMIT",
        databaseId,
        `this run has already sent ${limit} resets, the limit set by rekey:maxResetsPerRun. Check that this many resets are intended, then raise the limit or run again`,
      );
    }
    this.#resets++;
    return () => {
      this.#resets--;
    };
  }
}

/** The name of a fleet in its program, from its URN. */
export function fleetName(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}

const progressIntervalMs = 5_000;

/** What the shards of a fleet share in a run. The engine calls them separately, and partly concurrently. */
export class FleetSession {
  #planned = 0;
  #done = 0;
  #failed = 0;
  #lastProgressAt: number;

  /**
   * @param queue limits the fleet's concurrency
   * @param maxFailures failures after which no further database is started
   */
  constructor(
    private readonly name: string,
    private readonly queue: RequestQueue,
    private readonly maxFailures: number,
    private readonly options: Pick<SessionOptions, "now" | "log">,
  ) {
    this.#lastProgressAt = options.now().getTime();
  }

  /**
   * Runs a reset when the queue allows it.
   *
   * @returns undefined if the fleet has stopped.
   */
  async reset<T extends { readonly failed: boolean }>(reset: () => Promise<T>): Promise<T | undefined> {
    this.#planned++;
    return this.queue.runReset(async () => {
      if (this.#failed >= this.maxFailures) return undefined;
      const result = await reset();
      this.#done++;
      if (result.failed) this.#failed++;
      this.#logProgress();
      return result;
    }, false);
  }

  #logProgress(): void {
    const now = this.options.now().getTime();
    if (now - this.#lastProgressAt < progressIntervalMs) return;
    this.#lastProgressAt = now;
    const progress = `${this.#done} of ${this.#planned} tried, ${this.#failed} failed`;
    this.options.log(`PasswordRotationFleet ${JSON.stringify(this.name)}: ${progress}.`);
  }
}
