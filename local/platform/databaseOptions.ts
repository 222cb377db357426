import { z } from "zod";
import { type DatabaseRecord } from "./databaseRecord";
import { type SavedDatabase } from "./databases";

export const text = z.string().min(1, "must not be empty");
export const count = z.int().min(0);

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

// Not a union: only the issues of the form that was meant are helpful.
export const database = z.unknown().transform((given, context): string | DatabaseRecord | SavedDatabase => {
  const isSaved = typeof given === "object" && given !== null && "record" in given && !("database_id" in given);
  const result = (typeof given === "string" ? text : isSaved ? savedDatabase : record).safeParse(given);
  if (result.success) {
    return result.data;
  }
  context.issues.push(...result.error.issues.map((issue) => ({ ...issue, input: given }) as z.core.$ZodRawIssue));
  return z.NEVER;
});

export function databaseId(given: string | DatabaseRecord | SavedDatabase): string {
  if (typeof given === "string") {
    return given;
  }
  return "database_id" in given ? given.database_id : given.record.database_id;
}
