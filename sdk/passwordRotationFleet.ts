import * as pulumi from "@pulumi/pulumi";
import { shardOf } from "../provider/rotation/fleets";
import { type FleetDatabases, type NamedDatabase, readFleetDatabases } from "./fleetDatabases";
import {
  credentialsOf,
  databasesOf,
  failedOf,
  failureOf,
  type FleetCredentials,
  type FleetDatabase,
  type FleetRecord,
  lastRotatedOf,
  type NamedState,
  nameStates,
  oldestOf,
  recordsOf,
  secretsFrom,
} from "./fleetOutputs";
import { requirePackageForHost } from "./hostPackage";
import { nextRotation } from "./nextRotation";
import { valueOnly } from "./owners";
import { PasswordRotationShard } from "./passwordRotationShard";

const type = "rekey:index:PasswordRotationFleet";

/** What a `PasswordRotationFleet` is made of. */
export interface PasswordRotationFleetArgs {
  /**
   * The databases: a list of ids, or a map of names to ids or to `{ databaseId, version, triggers }`. Adding one resets
   * (or adopts) it alone; removing one sends nothing, and forgets it; another place in the list or another name is no
   * change.
   */
  databases: pulumi.Input<FleetDatabases>;
  /**
   * All passwords are reset when this changes. How it is written does not matter: `1` and `"1"` are the same.
   *
   * @default none: no reset is asked for by version
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets all passwords, together with `version`.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
  /**
   * Time after which the first `up` resets a password again: an ISO 8601 duration (`P30D`, `PT12H`) or `30d`, `12h`. It
   * counts from each database's own last confirmed reset, on an adopted one from its adoption.
   *
   * @default none: only a changed trigger resets
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Whether a database's password is reset when the database is new in the fleet. `false` adopts it as it is.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
  /**
   * Databases of this fleet that are reset at the same time. `rekey:maxConcurrency` holds besides, for all fleets and
   * resources together.
   *
   * @default what `rekey:maxConcurrency` says
   */
  concurrency?: pulumi.Input<number> | undefined;
  /**
   * Failures after which no further database of the fleet is begun in this run. What is done is kept, and the next `up`
   * takes up the rest.
   *
   * @default none: all are tried
   */
  maxFailures?: pulumi.Input<number> | undefined;
  /**
   * Whether the platform's records are saved, as the output `records`. They are most of the state. Switched on, each
   * record comes with the database's next reset.
   *
   * @default false
   */
  includeRecords?: pulumi.Input<boolean> | undefined;
}

/** What the fleet's outputs are made of. */
interface Made {
  readonly states: pulumi.Output<NamedState[]>;
  readonly credentials: pulumi.Output<Record<string, FleetCredentials>>;
}

/**
 * Rotates the passwords of many hosted databases at the cost of a few resources. For each of them the rules of
 * PasswordRotation hold. Where some fail, the others are saved; the run fails at its end and names those that did, and
 * the next `up` takes up these alone.
 *
 * @see Interface, section 4.1
 */
export class PasswordRotationFleet extends pulumi.ComponentResource<Made> {
  /** How each database stands, by its name (in a list: its id). */
  readonly databases: pulumi.Output<Record<string, FleetDatabase>>;
  /** What the platform sent of each database's credentials, by its name. Secret. */
  readonly credentials: pulumi.Output<Record<string, FleetCredentials>>;
  /** The databases' records, by their names; undefined without `includeRecords`. */
  readonly records: pulumi.Output<Record<string, FleetRecord> | undefined>;
  /** Names of the databases that are not as wanted: they failed, or were not tried. */
  readonly failed: pulumi.Output<string[]>;
  /** Time of the last confirmed reset in the fleet (ISO 8601, UTC). */
  readonly lastRotated: pulumi.Output<string | undefined>;
  /** Time from which the next `up` resets the first of the passwords by `rotateEvery` (ISO 8601, UTC). */
  readonly nextRotationAt: pulumi.Output<string | undefined>;

  /**
   * @param name unique name of the fleet in its stack. A rename without `aliases` makes a new fleet, and so a reset of
   * all.
   * @throws RunError if Pulumi's provider host would not find or configure this package, or an id is not known.
   */
  constructor(name: string, args: PasswordRotationFleetArgs, options?: pulumi.ComponentResourceOptions) {
    requirePackageForHost();
    // What can be enumerated would be saved once more, as the component's own inputs.
    super(type, name, Object.defineProperty({}, "args", { value: args }), options);
    const made = this.getData();
    const states = pulumi.output(made.then((parts) => parts.states));
    this.credentials = pulumi.output(made.then((parts) => parts.credentials));
    this.databases = states.apply(databasesOf);
    this.records = pulumi
      .all([states, args.includeRecords])
      .apply(([all, wanted]) => (wanted ? recordsOf(all) : undefined));
    this.failed = states.apply(failedOf);
    this.lastRotated = states.apply(lastRotatedOf);
    this.nextRotationAt = pulumi
      .all([states, args.rotateEvery])
      .apply(([all, every]) => nextRotation(oldestOf(all), every));
    if (!pulumi.runtime.isDryRun()) states.apply((all) => requireAllDone(name, all));
  }

  /** Makes the shards. Called by the base class, before anything of this one is set. */
  protected override async initialize(
    { args }: { args: PasswordRotationFleetArgs },
    options: pulumi.ComponentResourceOptions | undefined,
    name: string,
  ): Promise<Made> {
    const { databases, ...fleet } = args;
    const named = await readFleetDatabases(name, databases);
    const shards = new Map<string, NamedDatabase[]>();
    for (const database of named) {
      const shard = shardOf(database.databaseId);
      shards.set(shard, [...(shards.get(shard) ?? []), database]);
    }
    const { dependsOn, retainOnDelete } = options ?? {};
    const more = { ...(dependsOn && { dependsOn }), ...(retainOnDelete !== undefined && { retainOnDelete }) };
    const made = [...shards].sort().map(([shard, members]) => {
      const inputs = { ...fleet, fleet: valueOnly(this.urn) };
      return new PasswordRotationShard(`${name}-${shard}`, shard, members, inputs, { ...more, parent: this });
    });
    return {
      states: pulumi.all(made.map(({ rotations }) => rotations)).apply((lists) => {
        return nameStates(
          named,
          lists.flatMap((list) => list ?? []),
        );
      }),
      credentials: pulumi
        .all(made.map(({ secrets }) => secrets))
        .apply((texts) => credentialsOf(named, texts.flatMap(secretsFrom))),
    };
  }
}

/** Only once all shards have answered: each of them saves what it did, so that none can fail by itself. */
function requireAllDone(name: string, states: readonly NamedState[]): void {
  const failure = failureOf(name, states);
  if (failure !== undefined) throw new pulumi.RunError(failure);
}
