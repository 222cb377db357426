import { type Databases } from "../api/databases";
import { type FlowControl } from "../api/flowControl";
import { RefusedError } from "../api/errors/refusedError";
import { type Applied } from "./applied";
import { Ledger } from "./ledger";
import { type PasswordRotationOutputs } from "./outputs";

/** What a run needs from outside. */
export interface RunResources {
  /** The platform's operations; getters, so that a missing setting hurts only who needs it. */
  readonly platform: { readonly databases: Databases; readonly flowControl: FlowControl };
  /** Password resets that one run may send; no limit when undefined. */
  readonly maxResets: () => number | undefined;
  readonly now: () => Date;
}

/** What one run of the engine shares and remembers: it lives as long as the host process. */
export class Run {
  readonly rotations = new Ledger<Applied<PasswordRotationOutputs>>();
  readonly #owners = new Map<string, string>();
  #resets = 0;

  constructor(readonly resources: RunResources) {}

  /** Claims a database for a resource, by the resource's full name; returns the owner that was there before it, if any. */
  claim(databaseId: string, owner: string): string | undefined {
    const first = this.#owners.get(databaseId) ?? owner;
    this.#owners.set(databaseId, first);
    return first === owner ? undefined : first;
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
