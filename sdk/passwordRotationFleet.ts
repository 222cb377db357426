import * as pulumi from "@pulumi/pulumi";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import {
  connectionArguments,
  connectionFor,
  rememberConnection,
  withConnection,
  type ConnectionArgs,
} from "./connection";
import { type FleetDatabases, readFleetDatabases } from "./fleetDatabases";
import { fleetSettings, shardsOf } from "../provider/rotation/fleet";
import {
  credentialsOf,
  failureOf,
  type FleetCredentials,
  type FleetDatabase,
  type FleetRecord,
  type NamedState,
  nameStates,
  nextRotationOf,
  outputsOfFleet,
  urlsOf,
} from "../provider/rotation/fleetOutputs";
import { refuseImport, requirePackageForHost, valueOnly } from "./dynamicResource";
import { checked, asRunError } from "./program";
import { requireSaved, savedOutputs } from "./rotation";
import { PasswordRotationShard } from "./passwordRotationShard";
import { withoutConnection } from "../provider/rotation/connection";
import { urlFor } from "../provider/rotation/endpoint";
import { checkOptions } from "../provider/rotation/componentOptions";

const type = "rekey:index:PasswordRotationFleet";

/** The arguments of `PasswordRotationFleet`. */
export interface PasswordRotationFleetArgs extends ConnectionArgs {
  /**
   * The databases: a list of ids, which are UUIDs for Upstash, or a map from names to ids or
   * `{ databaseId, version, triggers }`. Adding one resets (or adopts) only that one. Removing one sends nothing. The
   * order and the names do not matter.
   */
  databases: pulumi.Input<FleetDatabases>;
  /**
   * All passwords are reset when this changes, for example from `1` to `2`. `1` and `"1"` are the same.
   *
   * @default none
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets all passwords, in addition to `version`. Removing all of them resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
  /**
   * The first `up` after this time resets a password: an ISO 8601 duration (`P30D`, `PT12H`), or `30d`, `12h`. It
   * counts from each database's last confirmed reset, or from its adoption. Changing it only moves the time of the next
   * reset.
   *
   * @default none: only a changed trigger resets
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Resets each password that is older: an ISO 8601 date (`2026-04-19`, midnight in UTC), or a date and time with a
   * zone (`2026-04-19T18:30:00Z`). A password is as old as its last confirmed reset. One that was adopted is as old as
   * its database, and one of unknown age is reset. A date more than five minutes in the future is refused. Removing it
   * or an earlier date resets nothing.
   *
   * @default none
   */
  rotatedSince?: pulumi.Input<string> | undefined;
  /**
   * Whether adding a database to the fleet resets its password. `false` adopts it unchanged unless it is older than
   * `rotatedSince`, and reads its credentials if `rekey:databasePath` is set. It counts only when a database is added.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
  /**
   * Databases of this fleet that are reset at the same time. `rekey:maxConcurrency` limits all fleets and resources
   * together. Changing it sends nothing.
   *
   * @default `rekey:maxConcurrency`
   */
  concurrency?: pulumi.Input<number> | undefined;
  /**
   * Failures after which no further database of the fleet is started in this run. The next `up` continues.
   * Changing it sends nothing.
   *
   * @default none: all are attempted
   */
  maxFailures?: pulumi.Input<number> | undefined;
  /**
   * Whether to save the platform's records, as the output `records`. They make up most of the state. After switching
   * this on, each record arrives with the database's next reset.
   *
   * @default false
   */
  includeRecords?: pulumi.Input<boolean> | undefined;
  /**
   * Whether the credentials are saved in the state, as secrets. With `false` only marks of them are, and the outputs
   * `credentials` and `connectionUrls` have none: using them stops the program (`REKEY_NOT_SAVED`). Without
   * `encryptFor` or `rekey:databasePath`, it is refused before anything is sent. Changing it resets nothing: after a
   * change to `false`, older states and backups still have the credentials, so set a new `version` as well.
   *
   * @default true
   */
  saveCredentials?: pulumi.Input<boolean> | undefined;
  /**
   * Recipients of [age](https://age-encryption.org) (`age1…`), for whom `encryptedCredentials` is encrypted. One that
   * cannot be used is refused before anything is sent. Changing them resets nothing: credentials are encrypted again if
   * they are saved or can be read, otherwise with the next reset. Without `includeRecords`, saved credentials that are
   * encrypted after their reset have a `connectionUrl` only if `host` and `port` are set.
   *
   * @default none
   */
  encryptFor?: pulumi.Input<string[]> | undefined;
}

const argumentNames: NamesOf<PasswordRotationFleetArgs> = {
  databases: true,
  ...(Object.fromEntries(fleetSettings.map((name) => [name, true])) as Record<(typeof fleetSettings)[number], true>),
  ...connectionArguments,
};

/** What the constructor is given. */
interface Given {
  readonly args: Omit<PasswordRotationFleetArgs, keyof ConnectionArgs>;
  readonly connection: pulumi.Inputs;
  readonly options: pulumi.CustomResourceOptions;
}

/** The sources of the fleet's outputs. */
interface Made {
  readonly states: pulumi.Output<NamedState[]>;
  readonly credentials: pulumi.Output<Record<string, FleetCredentials>>;
}

/**
 * Rotates the passwords of many hosted databases with a few resources. Each database follows the rules of
 * PasswordRotation. If some fail, the others are saved, the run fails at its end and names the failed ones, and the
 * next `up` processes only these.
 *
 * Renaming the fleet without `aliases` replaces it, and so resets all passwords. The option `ignoreChanges` can contain
 * all arguments except `databases` and those of the connection.
 *
 * @throws RekeyError if Pulumi's provider host cannot find or configure this package, an id is unknown, an argument
 * does not exist, one of the connection cannot be used, or an option cannot be applied.
 * @example
 * ```ts
 * const caches = new PasswordRotationFleet("caches", {
 *   databases: ["db-1", "db-2"],
 *   initialRotation: false, // without this line, the first `pulumi up` resets all passwords
 *   rotateEvery: "30d",
 * });
 * export const firstPassword = caches.credentials.apply((all) => all["db-1"]?.password);
 * ```
 */
export class PasswordRotationFleet extends pulumi.ComponentResource<Made> {
  /**
   * The state of each database, by its name.
   *
   * @remarks In a list, the id is the name.
   */
  readonly databases: pulumi.Output<Record<string, FleetDatabase>>;
  /** An age file with the credentials of each database, by its name, if `encryptFor` is set. Not a secret. */
  readonly encryptedCredentials: pulumi.Output<Record<string, string>>;
  /** The databases' records, by their names; undefined without `includeRecords`. */
  readonly records: pulumi.Output<Record<string, FleetRecord> | undefined>;
  /** Names of the databases that failed or were not attempted. */
  readonly failed: pulumi.Output<string[]>;
  /** Time of the last confirmed reset in the fleet (ISO 8601, UTC). */
  readonly lastRotated: pulumi.Output<string | undefined>;
  /** The next `up` after this time resets the first password because of `rotateEvery` (ISO 8601, UTC). */
  readonly nextRotationAt: pulumi.Output<string | undefined>;

  readonly #credentials: pulumi.Output<Record<string, FleetCredentials>>;
  readonly #saveCredentials: pulumi.Input<boolean> | undefined;
  readonly #of: string;

  constructor(name: string, args: PasswordRotationFleetArgs, options: pulumi.ComponentResourceOptions = {}) {
    requirePackageForHost();
    refuseImport("PasswordRotationFleet", name, options);
    const of = `PasswordRotationFleet ${JSON.stringify(name)}`;
    checked(of, () => checkOptions({ ...options }, fleetSettings));
    checked(of, () => refuseUnknown("its arguments", args, argumentNames));
    // Nothing happens to the component itself, so hooks run for its resources only.
    const { hooks, ...own } = options;
    // Enumerable properties would be saved once more, as the component's own inputs.
    super(
      type,
      name,
      Object.defineProperty({}, "given", {
        value: { args: withoutConnection(args), connection: connectionFor(args.encryptFor, args), options },
      }),
      own,
    );
    rememberConnection(this, of, args, args.includeRecords);
    const made = this.getData();
    const states = pulumi.output(made.then((parts) => parts.states));
    this.#saveCredentials = args.saveCredentials;
    this.#of = of;
    this.#credentials = pulumi.output(made.then((parts) => parts.credentials));
    savedOutputs.set(this, { credentials: this.#credentials });
    const outputs = states.apply(outputsOfFleet);
    this.encryptedCredentials = outputs.apply(({ encryptedCredentials }) => encryptedCredentials);
    this.databases = outputs.apply(({ databases }) => databases);
    this.records = pulumi
      .all([outputs, args.includeRecords])
      .apply(([{ records }, wanted]) => (wanted ? records : undefined));
    this.failed = outputs.apply(({ failed }) => failed);
    this.lastRotated = outputs.apply(({ lastRotated }) => lastRotated);
    this.nextRotationAt = pulumi
      .all([outputs, args.rotateEvery])
      .apply(([{ oldest }, every]) => nextRotationOf(oldest, every, options.ignoreChanges));
    if (pulumi.runtime.isDryRun()) return;
    // After all shards are saved: a shard cannot fail and save its results.
    states.apply((all) => {
      const failure = failureOf(name, all);
      if (failure !== undefined) throw asRunError(new Error(failure));
    });
  }

  /** The credentials of each database, by its name. Secret. */
  get credentials(): pulumi.Output<Record<string, FleetCredentials>> {
    if (this.#saveCredentials === undefined) return this.#credentials;
    const known = this.#credentials.apply((all) => {
      const names = Object.values(all).flatMap((credentials) => Object.keys(credentials));
      return names.every((name) => name === "currentMarks") ? undefined : all;
    });
    const saved = requireSaved(`${this.#of}: credentials`, this.#saveCredentials, known);
    return pulumi.all([this.#credentials, saved]).apply(([all]) => all);
  }

  /**
   * The URL with which clients of Redis connect to each database, by its name. Databases without a known password are
   * left out. Secret. It needs `includeRecords: true`; otherwise set `port`, and a `host` that does not contain
   * `{endpoint}`.
   *
   * @remarks Not saved, but derived from the saved outputs and the arguments `host`, `port`, `tls` and `username`.
   */
  get connectionUrls(): pulumi.Output<Record<string, string>> {
    const values = pulumi.all([this.databases, this.credentials, this.records]);
    return pulumi.secret(
      withConnection(this, values, ([databases, credentials, records], connection, setting) =>
        urlsOf({ databases, credentials, records }, (database, password) =>
          urlFor(database, connection, password, setting),
        ),
      ),
    );
  }

  /** Creates the shards. Called by the base class before this constructor continues. */
  protected override async initialize(
    { given: { args, connection, options } }: { given: Given },
    _own: unknown,
    name: string,
  ): Promise<Made> {
    const { databases, ...fleet } = args;
    const named = await readFleetDatabases(name, databases);
    const given = passedOn.flatMap((option) => (options[option] === undefined ? [] : [[option, options[option]]]));
    const more = Object.fromEntries(given) as pulumi.CustomResourceOptions;
    const made = shardsOf(named).map(([shard, members]) => {
      const inputs = { ...fleet, ...connection, fleet: valueOnly(this.urn) };
      return new PasswordRotationShard(name, shard, members, inputs, { ...more, parent: this });
    });
    return {
      states: pulumi.all(made.map(({ rotations }) => rotations)).apply((lists) => {
        return nameStates(
          named,
          lists.flatMap((list) => list ?? []),
        );
      }),
      credentials: pulumi.all(made.map(({ secrets }) => secrets)).apply((texts) => credentialsOf(named, texts)),
    };
  }
}

/** Options that Pulumi does not pass on to the resources of a component. */
const passedOn = [
  "customTimeouts",
  "deleteBeforeReplace",
  "dependsOn",
  "hideDiffs",
  "hooks",
  "ignoreChanges",
  "retainOnDelete",
] as const;
