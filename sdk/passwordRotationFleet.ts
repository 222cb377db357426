import * as pulumi from "@pulumi/pulumi";
import {
  type FleetCredentials,
  type FleetDatabase,
  fleetFailure,
  type FleetRecord,
} from "../provider/rotation/fleetOutputs";
import { type ConnectionArgs } from "./connection";
import { DynamicResource, isOfType, nameOf } from "./dynamicResource";
import { databasesByName, type FleetDatabases } from "./fleetDatabases";
import { refusal, runError } from "./program";
import { requireSaved, type RotationArgs } from "./rotation";

const type = "PasswordRotationFleet";

/** The arguments of `PasswordRotationFleet`. Those of every rotation apply to each database. */
export interface PasswordRotationFleetArgs extends RotationArgs {
  /**
   * The databases: a list of ids, which are UUIDs for Upstash, or a map from names to ids or
   * `{ databaseId, version, triggers }`. Adding one resets (or adopts) only that one. Removing one sends nothing, and
   * deletes its saved state. The order and the names do not matter. Ids and names are not secret.
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
   * Whether adding a database to the fleet resets its password. `false` adopts it unchanged unless it is older than
   * `rotatedSince`, and reads its credentials if `rekey:databasePath` is set. It counts only when a database is added.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
  /**
   * Where and as which user clients connect to each database: `connectionUrls` are made of it. Changing it resets
   * nothing.
   *
   * @default the endpoint and the port of each database's record
   */
  connection?: pulumi.Input<ConnectionArgs> | undefined;
  /**
   * Databases that are reset at the same time, at most `rekey:maxConcurrency`. Changing it sends nothing.
   *
   * @default `rekey:maxConcurrency`
   */
  concurrency?: pulumi.Input<number> | undefined;
  /**
   * Failures after which no further database of the fleet is reset in this run. The next `up` continues. Changing it
   * sends nothing.
   *
   * @default none: all are attempted
   */
  maxFailures?: pulumi.Input<number> | undefined;
  /**
   * Whether to save the platform's whole records, as the output `records`. They make up most of the state. Changing it
   * sends nothing: it takes effect with the next reset.
   *
   * @default false: only what clients need to connect
   */
  includeRecords?: pulumi.Input<boolean> | undefined;
}

/**
 * Rotates the passwords of many hosted databases with one resource. Each database follows the rules of
 * PasswordRotation. If some fail, the others are saved, the run fails at its end and names the failed ones, and the
 * next `up` processes only these.
 *
 * Renaming the fleet without `aliases` replaces it, and so resets all passwords.
 *
 * @throws RekeyError if Pulumi's provider host cannot find or configure this package, if another resource of the
 * program rotates one of the passwords, for the option `import` or `id`, and for `replaceOnChanges`, `replaceWith` or
 * `replacementTrigger`, which would reset all passwords.
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
export class PasswordRotationFleet extends DynamicResource {
  /** The id, `fleet`. */
  declare readonly fleet: pulumi.Output<string>;
  /**
   * The state of each database, by its name.
   *
   * @remarks In a list, the id is the name.
   */
  declare readonly states: pulumi.Output<Record<string, FleetDatabase>>;
  /** The credentials of each database that are known, by its name. Secret. */
  declare readonly credentials: pulumi.Output<Record<string, FleetCredentials>>;
  /**
   * The URL with which clients of Redis connect to each database, by its name. Databases without a known password,
   * host or port are left out. Secret.
   */
  declare readonly connectionUrls: pulumi.Output<Record<string, string>>;
  /**
   * The databases' records, by their names, as the platform returned them with the last reset or a later read: without
   * `includeRecords` only `endpoint`, `port` and `tls`.
   */
  declare readonly records: pulumi.Output<Record<string, FleetRecord>>;
  /** An age file with the credentials of each database, by its name, if `encryptFor` is set. Not a secret. */
  declare readonly encryptedCredentials: pulumi.Output<Record<string, string>>;
  /** Names of the databases that failed or were not attempted. `states` has the error of each. */
  declare readonly failed: pulumi.Output<string[]>;
  /** Time of the last confirmed reset in the fleet (ISO 8601, UTC). */
  declare readonly lastRotated: pulumi.Output<string | undefined>;
  /** The next `up` after this time resets the first password because of `rotateEvery` (ISO 8601, UTC). */
  declare readonly nextRotationAt: pulumi.Output<string | undefined>;
  /** JSON text of what a `CredentialVerification` needs: each credential, or its mark, and where it is used. Secret. */
  declare readonly access: pulumi.Output<string>;
  /** JSON text of all that Rekey remembers of the passwords: marks, and never the value of a credential. Secret. */
  declare readonly memory: pulumi.Output<string>;

  constructor(name: string, args: PasswordRotationFleetArgs, options: pulumi.CustomResourceOptions = {}) {
    const of = nameOf(type, name);
    refuseReplacement(of, options);
    super(type, name, { ...args, databases: databasesByName(of, args.databases) }, options, ["databases"]);
    for (const output of ["credentials", "connectionUrls"] as const) {
      const saved: pulumi.Output<object | undefined> = this[output];
      const known = saved.apply((all) => (all && Object.keys(all).length > 0 ? all : undefined));
      const get = () =>
        pulumi.all([saved, requireSaved(`${of}: ${output}`, args.saveCredentials, known)]).apply(([all]) => all);
      // Only a program that uses it stops, and not one that exports the whole resource.
      Object.defineProperty(this, output, { get, enumerable: args.saveCredentials !== false });
    }
    if (pulumi.runtime.isDryRun()) return;
    // The provider does not fail: the databases that did not fail have consumers.
    this.states.apply((states: Record<string, FleetDatabase> | undefined) => {
      const failure = fleetFailure(states ?? {});
      if (failure) throw runError(failure.code, `${of}: ${failure.text}`);
    });
  }

  /** Whether an object is a PasswordRotationFleet, even from another copy of this package. */
  static override isInstance(this: void, object: unknown): object is PasswordRotationFleet {
    return isOfType(type, object);
  }
}

/** @throws RekeyError for an option that would replace the fleet */
function refuseReplacement(of: string, options: object): void {
  for (const option of ["replaceOnChanges", "replaceWith", "replacementTrigger"]) {
    const value = (options as Readonly<Record<string, unknown>>)[option];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    throw refusal(
      "REKEY_INPUT_INVALID",
      `${of} does not support the option \`${option}\`: a replacement resets all passwords. Nothing was sent. Remove the option; to reset all passwords, change version.`,
    );
  }
}
