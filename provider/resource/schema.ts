import { z } from "zod";
import { didYouMean, idProblem, isObject, isSet, kindOf, pathPartProblem } from "../records/fields";
import { isPulumiObject, isUnknown } from "../pulumi/values";

export { z };

/** The inputs of a resource or a function: which must be set, and the schema of each that is set. */
export interface InputTable {
  readonly required: readonly string[];
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

/**
 * Checks inputs before anything is sent. Null counts as not set. What is not known yet (in a preview) is let pass.
 */
export function checkTable(
  { required, schemas }: InputTable,
  inputs: Readonly<Record<string, unknown>>,
): { property: string; problem: string }[] {
  const missing = required.filter((property) => !isSet(inputs[property]));
  const wrong = Object.entries(inputs).flatMap(([property, value]) => {
    if (!isSet(value) || isUnknown(value)) return [];
    if (!Object.hasOwn(schemas, property)) {
      const known = Object.keys(schemas);
      const hint = didYouMean(property, known) || `known: ${known.join(", ") || "none"}`;
      return [{ property, problem: `is not an argument (${hint})` }];
    }
    const issue = schemas[property]?.safeParse(value).error?.issues[0];
    if (!issue) return [];
    return [{ property: [property, ...issue.path].join("."), problem: issue.message }];
  });
  return [...missing.map((property) => ({ property, problem: "is required" })), ...wrong];
}

/** The message for a value of another kind than the expected one. */
export function expected(kind: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) => `must be ${kind}, not ${kindOf(input)}`,
  };
}

/** A refinement by a function that returns what is wrong with a value, if anything is. */
export function refuseIf<T>(whatIsWrong: (value: T) => string | undefined) {
  return (value: T, context: z.RefinementCtx) => {
    const wrong = whatIsWrong(value);
    if (wrong !== undefined) context.addIssue(wrong);
  };
}

/** A refinement of an object that has inputs of its own. The problem is that of the first wrong one. */
export function refuseWrong(table: InputTable) {
  return (given: object, context: z.RefinementCtx) => {
    const [wrong] = checkTable(table, { ...given });
    if (wrong) {
      context.addIssue({ code: "custom", message: wrong.problem, path: [wrong.property] });
    }
  };
}

/** A refinement by a function that throws if a value cannot be used. */
export function attempt<T>(use: (value: T) => unknown) {
  return refuseIf((value: T) => {
    try {
      use(value);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

export const text = z
  .string(expected("a string"))
  .superRefine(
    refuseIf((value) => (value.isWellFormed() ? undefined : "must be well-formed Unicode")),
  );
/** A text that is a part of a path, such as a key. */
export const pathPart = z.string(expected("a string")).superRefine(refuseIf(pathPartProblem));
export const id = z.string(expected("a string")).superRefine(refuseIf(idProblem));
export const flag = z.boolean(expected("true or false"));
export const count = z
  .int("must be a whole number, at least 1")
  .min(1, "must be a whole number, at least 1");

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** True if a number may have lost digits, so that another one counts as the same. */
const isInexact = (value: unknown): boolean =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
/** A trigger may have one: unlike a version, it usually is a value from elsewhere. */
const isFraction = (value: unknown): boolean =>
  typeof value === "number" && !Number.isInteger(value);
const fraction =
  "must not be a fraction, which loses its last zeros (2026.10 is 2026.1): write it as text";
const tooLarge = "a number beyond 2^53, which loses digits";
const writeAsText = "write it as text, which counts as a new version once";

/** The inputs that make a resource act once more. `z.record` would not look at a value named `__proto__`. */
export const trigger = {
  version: z.union([z.string(), z.number()], expected("a string or a number")).superRefine(
    refuseIf((value) => {
      if (isInexact(value)) return `must not be ${tooLarge}: ${writeAsText}`;
      return isFraction(value) ? fraction : undefined;
    }),
  ),
  triggers: z.custom<object>(isObject, expected("a map of names to values")).superRefine(
    refuseIf((map) => {
      if (isPulumiObject(map)) {
        return "must be a map of names to values, not an asset, an archive or a resource";
      }
      const entries = Object.entries(map);
      const wrong = entries.find(([, value]) => !scalar.safeParse(value).success);
      if (wrong) {
        return `must hold strings, numbers and booleans only, but ${JSON.stringify(wrong[0])} is ${kindOf(wrong[1])}`;
      }
      const inexact = entries.find(([, value]) => isInexact(value));
      return (
        inexact &&
        `must not hold ${tooLarge}, but ${JSON.stringify(inexact[0])} is one: ${writeAsText}`
      );
    }),
  ),
};
