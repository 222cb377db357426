import { z } from "zod";
import { count, idOrRecord, text, visible } from "./optionTypes";
import { type SavedTokenResource, type TokenResourceRecord } from "./tokenResources";

const record = z.looseObject({ id: text }, "must be an id, or an object with an id");

const saved = z.strictObject({
  record,
  token: visible.optional(),
  readOnlyToken: visible.optional(),
  resets: count.optional(),
}) satisfies z.ZodType<SavedTokenResource>;

export const tokenResource = idOrRecord<TokenResourceRecord, SavedTokenResource>("id", record, saved);

export function tokenResourceId(given: string | TokenResourceRecord | SavedTokenResource): string {
  if (typeof given === "string") {
    return given;
  }
  return "id" in given ? given.id : given.record.id;
}
