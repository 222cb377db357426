import { engineCommands } from "../engineCommands";

/** A database of a fleet, and its name in the program. */
export interface FleetMember {
  readonly name: string;
  readonly databaseId: string;
}

/** The message for an id that is unknown in a preview. */
export function idIsUnknown(field: string): string {
  return (
    `${field} is unknown. The ids of a fleet's databases decide which resources exist, so they must be known in previews too: ` +
    `read them from the configuration, or create the databases in another stack or in an earlier \`${engineCommands.up}\`.`
  );
}

/** The message for a fleet that contains a database twice; undefined if it does not. */
export function isListedTwice(argument: string, members: readonly FleetMember[]): string | undefined {
  const names = new Map<string, string>();
  for (const { name, databaseId } of members) {
    const other = names.get(databaseId);
    if (other !== undefined) {
      const both =
        other === name ? "it is listed twice" : `it is both ${JSON.stringify(other)} and ${JSON.stringify(name)}`;
      return `${argument} contains the database ${JSON.stringify(databaseId)} twice: ${both}. Remove one of them.`;
    }
    names.set(databaseId, name);
  }
  return undefined;
}

/** Inputs of a fleet that all of its resources get. */
export const fleetSettings = [
  "version",
  "triggers",
  "rotateEvery",
  "initialRotation",
  "concurrency",
  "maxFailures",
  "includeRecords",
] as const;
