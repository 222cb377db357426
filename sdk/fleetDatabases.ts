import * as pulumi from "@pulumi/pulumi";
import { isKnown } from "./pulumiInternals";
import { engineCommands } from "../provider/engineCommands";

/** A database of a fleet that has more to say than its id. */
export interface FleetDatabaseArgs {
  /** Id of the database. It must be known in a preview. */
  databaseId: pulumi.Input<string>;
  /**
   * The password of this database is reset when this changes, besides when the fleet's `version` does.
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
 * The databases of a fleet: their ids, or by names of your own. A name can be changed at any time: it resets nothing.
 */
export type FleetDatabases =
  readonly pulumi.Input<string>[] | Readonly<Record<string, pulumi.Input<string | FleetDatabaseArgs>>>;

type Entry = string | FleetDatabaseArgs;

/** A database whose name and id are known, while what else is said of it may come later. */
export interface NamedDatabase {
  readonly name: string;
  readonly databaseId: string;
  readonly input: pulumi.Input<string | FleetDatabaseArgs>;
}

/**
 * Reads which databases there are: that decides which resources are made, and so must be known at once. What else is
 * said of them stays an Input, with all that Pulumi knows of it: whether it is secret, and where it comes from.
 *
 * @throws RunError that names the argument that is unknown or cannot be used.
 */
export async function readFleetDatabases(fleet: string, given: pulumi.Input<FleetDatabases>): Promise<NamedDatabase[]> {
  const argument = `PasswordRotationFleet ${JSON.stringify(fleet)}: databases`;
  const databases = await known(given, argument);
  if (typeof databases !== "object" || databases === null) {
    throw new pulumi.RunError(`${argument} must be a list of ids, or a map of names to ids or databases`);
  }
  const isList = Array.isArray(databases);
  const whole = isLate(given) ? (pulumi.output(given) as pulumi.Output<Record<string, Entry>>) : undefined;
  const entries = Object.entries<pulumi.Input<Entry>>(databases as Record<string, pulumi.Input<Entry>>);
  const named = await Promise.all(
    entries.map(async ([key, entry]): Promise<NamedDatabase> => {
      const databaseId = await knownId(entry, `${argument}[${isList ? key : JSON.stringify(key)}]`);
      // From where it came, so that nothing is lost of what Pulumi knows of it.
      const source = whole?.apply((all) => all[key] as Entry) ?? entry;
      const input = isLate(source)
        ? pulumi.output(source).apply((late) => inShort(late) as Entry)
        : inShort(source as Entry);
      return { name: isList ? databaseId : key, databaseId, input };
    }),
  );
  requireDistinct(argument, named);
  return named;
}

async function knownId(given: pulumi.Input<Entry>, field: string): Promise<string> {
  const entry: unknown = await known(given, field);
  const inside = typeof entry === "object" && entry !== null;
  const id: unknown = inside ? await known((entry as FleetDatabaseArgs).databaseId, `${field}.databaseId`) : entry;
  if (typeof id === "string") return id;
  throw new pulumi.RunError(`${field} must be the id of a database, or hold it as databaseId`);
}

/** The id alone, where nothing else is said of the database. */
function inShort(entry: Entry): pulumi.Input<string> | FleetDatabaseArgs {
  const alone = typeof entry === "object" && Object.keys(entry).length === 1;
  return alone ? entry.databaseId : entry;
}

function isLate(input: unknown): boolean {
  return pulumi.Output.isInstance(input) || input instanceof Promise;
}

async function known<T>(input: pulumi.Input<T>, field: string): Promise<T> {
  if (!isLate(input)) return input as T;
  const output = pulumi.output(input) as pulumi.Output<T>;
  if (await isKnown(output)) {
    return new Promise((resolve) => void output.apply((value) => resolve(value)));
  }
  throw new pulumi.RunError(
    `${field} is not known yet. The ids of a fleet's databases decide which resources there are, so they must be known in a preview too: ` +
      `take them from the configuration, or create the databases in another stack or by an earlier \`${engineCommands.up}\`.`,
  );
}

function requireDistinct(argument: string, databases: readonly NamedDatabase[]): void {
  const names = new Map<string, string>();
  for (const { name, databaseId } of databases) {
    const other = names.get(databaseId);
    if (other !== undefined) {
      const both =
        other === name ? "it is listed twice" : `it is both ${JSON.stringify(other)} and ${JSON.stringify(name)}`;
      throw new pulumi.RunError(
        `${argument} holds the database ${JSON.stringify(databaseId)} twice: ${both}. Remove one of them.`,
      );
    }
    names.set(databaseId, name);
  }
}
