import { z } from "zod";

export const text = z.string().min(1, "must not be empty");
export const count = z.int().min(0);
export const visible = z.string().regex(/^[\x21-\x7e]+$/, "must consist of visible ASCII characters, without spaces");

/**
 * An id, a record, or an object with a `record` and its state. Not a union: only the issues of the form that was meant
 * are helpful.
 */
export function idOrRecord<R, S>(idField: string, record: z.ZodType<R>, saved: z.ZodType<S>) {
  return z.unknown().transform((given, context): string | R | S => {
    const isSaved = typeof given === "object" && given !== null && "record" in given && !(idField in given);
    const result = (typeof given === "string" ? text : isSaved ? saved : record).safeParse(given);
    if (result.success) {
      return result.data;
    }
    context.issues.push(...result.error.issues.map((issue) => ({ ...issue, input: given }) as z.core.$ZodRawIssue));
    return z.NEVER;
  });
}
