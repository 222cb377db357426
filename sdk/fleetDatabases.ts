import * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/platform/errors";
import { checked, isLate } from "./program";

/** A database of a fleet, with its own trigger. */
export interface FleetMemberArgs {
  /** Id of the database, for Upstash a UUID: `96ad0856-03b1-4ee7-9666-e81abd0349e1`. */
  databaseId: pulumi.Input<string>;
  /**
   * The password of this database is reset when this changes, for example from `1` to `2`, in addition to the fleet's
   * `version`.
   *
   * @default none
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets the password of this database.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
}

/** The databases of a fleet: a list of ids, or a map from names of your choice. Changing a name resets nothing. */
export type FleetDatabases =
  readonly pulumi.Input<string>[] | Readonly<Record<string, pulumi.Input<string | FleetMemberArgs>>>;

/**
 * The databases as the provider takes them: by name. In a list, the id is the name. The values of a map stay Inputs, so
 * that each of them may be unknown in a preview.
 *
 * @param of the fleet, for errors: `PasswordRotationFleet "caches"`
 */
export function databasesByName(of: string, given: pulumi.Input<FleetDatabases>): pulumi.Input<object> {
  if (!isLate(given) && !Array.isArray(given)) return given;
  const known = pulumi.output(given) as pulumi.Output<object>;
  return known.apply((all) => (Array.isArray(all) ? checked(of, () => named(all)) : all));
}

/** @throws InputError if an id is not a text, or is in the list twice */
function named(ids: readonly unknown[]): Record<string, string> {
  const seen = new Set<string>();
  const entries = ids.map((id, index) => {
    // It may be an address with a password in it, which no message shows.
    if (typeof id !== "string") throw new InputError(`databases[${index}]`, "must be the id of a database");
    if (seen.has(id)) {
      throw new InputError(`databases[${index}]`, "is in the list twice: remove one of them");
    }
    seen.add(id);
    return [id, id] as const;
  });
  return Object.fromEntries(entries);
}
