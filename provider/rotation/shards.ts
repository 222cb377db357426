import { createHash } from "node:crypto";

/** Shards of a fleet. Each is one resource: the engine writes its whole state for each resource it changes. */
const shardCount = 16;

/**
 * The shard of a database, `00` to `15`, by its id alone and for ever. Frozen by test vectors: a database that came to
 * another shard would be a new one there, and so be reset.
 */
export function shardOf(databaseId: string): string {
  const [first = 0] = createHash("sha256").update(databaseId).digest();
  return String(first % shardCount).padStart(2, "0");
}
