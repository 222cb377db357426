import { type Databases } from "../api/databases";
import { type FlowControl } from "../api/flowControl";
import { type Line } from "../api/line";
import { RefusedError } from "../api/errors/refusedError";
import { type Applied } from "./applied";
import { fleetName, FleetRun } from "./fleetRun";
import { Ledger } from "./ledger";
import { type PasswordRotationOutputs } from "./outputs";

/** What a run needs from outside. */
export interface RunResources {
  /** The platform's operations; getters, so that a missing setting hurts only who needs it. */
  readonly platform: {
    readonly databases: Databases;
    readonly flowControl: FlowControl;
    /** A line in front of the one that all requests share. */
    lineWithin(concurrency: number | undefined): Line;
  };
  /** Password resets that one run may send; no limit when undefined. */
  readonly maxResets: () => number | undefined;
  readonly now: () => Date;
  /** Shows the user a line while the run goes on. */
  readonly say: (line: string) => void;
}

/** What a shard knows of its fleet. */
interface FleetLimits {
  readonly fleet: string;
  readonly concurrency?: number | null;
  readonly maxFailures?: number | null;
}

/** What one run of the engine shares and remembers: it lives as long as the host process. */
export class Run {
  readonly rotations = new Ledger<Applied<PasswordRotationOutputs>>();
  readonly #owners = new Map<string, string>();
  readonly #fleets = new Map<string, FleetRun>();
  #resets = 0;

  constructor(readonly resources: RunResources) {}

  /** Claims a database for a resource, by the resource's full name; returns the owner that was there before it, if any. */
  claim(databaseId: string, owner: string): string | undefined {
    const first = this.#owners.get(databaseId) ?? owner;
    this.#owners.set(databaseId, first);
    return first === owner ? undefined : first;
  }

  /**
   * What the shards of a fleet share.
   *
   * @throws SettingsError where no database could be reset: better once than for each of them.
   */
  fleet({ fleet: urn, concurrency, maxFailures }: FleetLimits): FleetRun {
    const { platform, now, say } = this.resources;
    void platform.databases;
    const known = this.#fleets.get(urn);
    if (known) return known;
    const line = platform.lineWithin(concurrency ?? undefined);
    const fleet = new FleetRun({ name: fleetName(urn), maxFailures: maxFailures ?? undefined, line, now, say });
    this.#fleets.set(urn, fleet);
    return fleet;
  }

  /**
   * Takes one of the run's password resets; a reset that was not made gives it back.
   *
   * @throws RefusedError when there is none left.
   */
  takeReset(databaseId: string): () => void {
    const limit = this.resources.maxResets();
    if (limit !== undefined && this.#resets >= limit) {
      throw new RefusedError(
        databaseId,
        `this run has already sent ${limit} resets, the limit that rekey:maxResetsPerRun sets. Check that so many are meant, then raise the limit or run again`,
      );
    }
    this.#resets++;
    return () => {
      this.#resets--;
    };
  }
}
