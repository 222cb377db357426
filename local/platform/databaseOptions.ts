import { z } from "zod";
import { type DatabaseRecord } from "./databaseRecord";
import { type SavedDatabase } from "./databases";
import { count, idOrRecord, text } from "./optionTypes";

const record = z.looseObject({ database_id: text }, "must be an id, or an object with a database_id");

const savedDatabase = z.strictObject({
  record,
  password: text.optional(),
  restToken: text.optional(),
  readOnlyRestToken: text.optional(),
  resets: count.optional(),
  generation: z.int().min(1).optional(),
  lastResetAt: z.iso.datetime("must be a UTC time, such as 2026-01-31T12:00:00Z").optional(),
}) satisfies z.ZodType<SavedDatabase>;

export const database = idOrRecord<DatabaseRecord, SavedDatabase>("database_id", record, savedDatabase);

export function databaseId(given: string | DatabaseRecord | SavedDatabase): string {
  if (typeof given === "string") {
    return given;
  }
  return "database_id" in given ? given.database_id : given.record.database_id;
}
