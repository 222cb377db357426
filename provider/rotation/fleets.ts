import { createHash } from "node:crypto";
import { type Trigger } from "./trigger";

/**
 * The trigger of one database of a fleet: the fleet's and its own. The prefixes keep the two apart. Frozen by test
 * vectors, like the canonical form of a trigger.
 */
export function combineTriggers(fleet: Trigger, own: Trigger): Trigger {
  const of = (prefix: string, { triggers }: Trigger) =>
    Object.entries(triggers ?? {}).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const triggers = Object.fromEntries([...of("fleet", fleet), ...of("own", own), ["version", own.version]]);
  return { version: fleet.version, triggers };
}

/** Shards of a fleet. Each is one resource: the engine writes its whole state for each resource it changes. */
const shardCount = 16;

/**
 * The shard of a database, `00` to `15`, which depends on its id only. Frozen by test vectors: a database in another
 * shard would be a new one there, and so be reset.
 */
export function shardOf(databaseId: string): string {
  const [first = 0] = createHash("sha256").update(databaseId).digest();
  return String(first % shardCount).padStart(2, "0");
}
