import * as pulumi from "@pulumi/pulumi";
import { fleetFailure } from "../provider/rotation/fleet/fleetOutputs";
import { type FleetCredentials, type FleetDatabase } from "../provider/rotation/fleet/fleetTypes";
import { InputError } from "../provider/domain/errors";
import { isObject } from "../provider/records/fields";
import { nameProblem } from "../provider/rotation/fleet/fleetPlan";
import { DynamicResource, resourceTitle, refuseOptions } from "./dynamicResource";
import { ending, runError } from "./program";
import { type ConnectionArgs, guard, type RotationArgs, type TriggerArgs } from "./rotation";

/** A database of a fleet, with its own trigger in addition to the fleet's. */
export interface FleetMemberArgs extends TriggerArgs {
  /** Id of the database, for Upstash a UUID: `96ad0856-03b1-4ee7-9666-e81abd0349e1`. */
  databaseId: pulumi.Input<string>;
}

/** The databases of a fleet: a list of ids, or a map from names of your choice. Changing a name resets nothing. */
export type FleetDatabases =
  | readonly pulumi.Input<string>[]
  | Readonly<Record<string, pulumi.Input<string | FleetMemberArgs>>>;

/** The arguments of `PasswordRotationFleet`. */
export interface PasswordRotationFleetArgs extends RotationArgs {
  /**
   * The databases: a list of ids, which are UUIDs for Upstash, or a map from names to ids or
   * `{ databaseId, version, triggers }`. Adding one resets (or adopts) only that one. Removing one makes no request and
   * deletes its saved state. The order and the names do not matter. Ids and names are not secret.
   */
  databases: pulumi.Input<FleetDatabases>;
  /**
   * Where, and as which user, clients connect to each database. `connectionUrls` are built from it. Changing it resets
   * nothing.
   *
   * @default the endpoint and port in each database's record
   */
  connection?: pulumi.Input<ConnectionArgs> | undefined;
  /**
   * Number of failures after which no further database of the fleet is reset in this run. The next `up` continues.
   * Changing it makes no request.
   *
   * @default none: all are attempted
   */
  maxFailures?: pulumi.Input<number> | undefined;
}

/**
 * Rotates the passwords of many hosted databases with one resource. Each database follows the rules of
 * PasswordRotation. If some fail, the others are saved, the run fails at its end and names the failed ones, and the
 * next `up` processes only these.
 *
 * @throws RekeyError also for `replaceOnChanges`, `replaceWith` and `replacementTrigger`, which reset all passwords
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
  /** The known credentials of each database, by its name. Secret. */
  declare readonly credentials: pulumi.Output<Record<string, FleetCredentials>>;
  /**
   * The URL with which Redis clients connect to each database, by its name. Databases without a known password, host or
   * port are left out. Secret.
   */
  declare readonly connectionUrls: pulumi.Output<Record<string, string>>;
  /** An age file with the credentials of each database, by its name, if `encryptFor` is set. Not a secret. */
  declare readonly encryptedCredentials: pulumi.Output<Record<string, string>>;
  /** Names of the databases that failed or were not attempted. `states` has the error of each. */
  declare readonly failed: pulumi.Output<string[]>;
  /** Time of the last confirmed reset in the fleet (ISO 8601, UTC). */
  declare readonly lastRotated: pulumi.Output<string | undefined>;
  /**
   * When `rotateEvery` will have elapsed for the first database (ISO 8601, UTC): the first `up` after this time, or up
   * to 12 hours before it (a tenth of `rotateEvery`, if that is less), resets its password.
   */
  declare readonly nextRotationAt: pulumi.Output<string | undefined>;
  /**
   * JSON text of what a `CredentialVerification` needs: each credential, or its salted hash, and where it is used.
   * Secret.
   */
  declare readonly access: pulumi.Output<string>;
  /** JSON text of what Rekey remembers about the passwords: salted hashes, never the value of a credential. Secret. */
  declare readonly memory: pulumi.Output<string>;

  constructor(
    name: string,
    args: PasswordRotationFleetArgs,
    options: pulumi.CustomResourceOptions = {},
  ) {
    const of = resourceTitle("PasswordRotationFleet", name);
    const why = "a replacement resets all passwords. To reset them all, change version";
    const names = ["replaceOnChanges", "replaceWith", "replacementTrigger"] as const;
    refuseOptions(of, options, { names, code: "REKEY_INPUT_INVALID", why });
    super(
      "PasswordRotationFleet",
      name,
      { ...args, databases: byName(args.databases, of) },
      options,
    );
    guard(this, of, {
      names: ["credentials", "connectionUrls"],
      saveCredentials: args.saveCredentials,
    });
    if (pulumi.runtime.isDryRun()) return;
    // The provider does not fail: the databases that did not fail have consumers.
    this.states.apply((states: Record<string, FleetDatabase> | undefined) => {
      const failure = fleetFailure(states ?? {});
      if (failure) throw runError(failure.code, `${of}: ${failure.text}`);
    });
  }
}

/**
 * The databases as the provider takes them: in a list, the id is the name. The values of a map stay Inputs, of which a
 * preview may know some.
 *
 * @throws InputError for a name that Pulumi does not pass on, or for which it fails without naming it
 */
function byName(databases: pulumi.Input<FleetDatabases>, of: string): pulumi.Input<object> {
  const named = (all: object): object => {
    const isList = Array.isArray(all) && all.every((id) => typeof id === "string");
    const byNames = isList ? Object.fromEntries(all.map((id) => [id, id])) : all;
    const names = isObject(byNames) ? Object.keys(byNames) : [];
    const [problem] = names.flatMap((name) => nameProblem(name) ?? []);
    if (problem === undefined) return byNames;
    throw ending(new InputError("databases", problem, { of, afterReset: true }));
  };
  const isMap =
    isObject(databases) && !pulumi.Output.isInstance(databases) && !(databases instanceof Promise);
  return isMap ? named(databases) : pulumi.output(databases as pulumi.Input<object>).apply(named);
}
