import * as pulumi from "@pulumi/pulumi";
import { isKnown } from "./pulumiInternals";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { type FleetMember, idIsUnknown, isListedTwice, memberProblem } from "../provider/rotation/fleet";
import { checked, isLate, refusal } from "./program";

/** A database of a fleet, with its own trigger. */
export interface FleetMemberArgs {
  /**
   * Id of the database, for Upstash a UUID: `96ad0856-03b1-4ee7-9666-e81abd0349e1`. It must be known in a preview.
   */
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

/**
 * The databases of a fleet: a list of ids, or a map from names of your choice. Changing a name resets nothing.
 */
export type FleetDatabases =
  readonly pulumi.Input<string>[] | Readonly<Record<string, pulumi.Input<string | FleetMemberArgs>>>;

const argumentNames: NamesOf<FleetMemberArgs> = { databaseId: true, version: true, triggers: true };

type Entry = string | FleetMemberArgs;

/** A database whose name and id are known. Its other inputs may still be unknown. */
export interface NamedDatabase extends FleetMember {
  readonly input: pulumi.Input<unknown>;
}

/**
 * Reads the ids of the databases, which decide which resources exist and must therefore be known. The other values stay
 * Inputs, so that Pulumi still knows which are secret, and their dependencies.
 *
 * @throws RekeyError that names the argument that is unknown or cannot be used.
 */
export async function readFleetDatabases(fleet: string, given: pulumi.Input<FleetDatabases>): Promise<NamedDatabase[]> {
  const argument = `PasswordRotationFleet ${JSON.stringify(fleet)}: databases`;
  const databases = await known(given, argument);
  if (typeof databases !== "object" || databases === null) {
    throw refusal("REKEY_INPUT_INVALID", `${argument} must be a list of ids, or a map of names to ids or databases`);
  }
  const isList = Array.isArray(databases);
  const whole = isLate(given) ? (pulumi.output(given) as pulumi.Output<Record<string, Entry>>) : undefined;
  const entries = Object.entries<pulumi.Input<Entry>>({ ...databases });
  const named = await Promise.all(
    entries.map(async ([key, entry]): Promise<NamedDatabase> => {
      const databaseId = await knownId(entry, `${argument}[${isList ? key : JSON.stringify(key)}]`);
      // Keeps what Pulumi knows of the input: secretness and dependencies.
      const source = whole?.apply((all) => all[key] as Entry) ?? entry;
      const input = isLate(source) ? pulumi.output(source).apply(inShort) : inShort(source);
      return { name: isList ? databaseId : key, databaseId, input };
    }),
  );
  const twice = isListedTwice(argument, named);
  if (twice !== undefined) throw refusal("REKEY_DUPLICATE_DATABASE", twice);
  return named;
}

async function knownId(given: pulumi.Input<Entry>, field: string): Promise<string> {
  const entry: unknown = await known(given, field);
  const inside = typeof entry === "object" && entry !== null;
  if (inside) checked(field, () => refuseUnknown("its arguments", entry, argumentNames));
  const id: unknown = inside ? await known((entry as FleetMemberArgs).databaseId, `${field}.databaseId`) : entry;
  const wrong = memberProblem(id);
  if (wrong !== undefined) throw refusal("REKEY_INPUT_INVALID", `${field} ${wrong}`);
  return id as string;
}

/** The id alone, if nothing else is set. */
function inShort(entry: Entry): pulumi.Input<string> | FleetMemberArgs {
  const alone = typeof entry === "object" && Object.keys(entry).length === 1;
  return alone ? entry.databaseId : entry;
}

async function known<T>(input: pulumi.Input<T>, field: string): Promise<T> {
  if (!isLate(input)) return input;
  const output = pulumi.output(input) as pulumi.Output<T>;
  if (await isKnown(output)) {
    return new Promise((resolve) => void output.apply((value) => resolve(value)));
  }
  throw refusal("REKEY_INPUT_UNKNOWN", idIsUnknown(field));
}
