// Loaded with the first check: loading zod takes about 50 ms, which no other call should wait for.
import { z } from "zod";
import { readInterval } from "./schedule";
import { kindOf, secondsProblem, type fleetSettings } from "./arguments";
import { type CheckFailure } from "./resource";
import { pathPartProblem, isObject } from "../records/fields";

/** The inputs of a resource: which must be set, and the schema of each that is set. */
interface InputTable {
  readonly required: readonly string[];
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

/**
 * Checks inputs before anything is sent. Null counts as not set. What is not known yet (in a preview) is let pass.
 *
 * @param unknown names of the inputs that are not known yet, or hold something that is not.
 */
export function checkInputs(
  { required, schemas }: InputTable,
  inputs: Readonly<Record<string, unknown>>,
  unknown: ReadonlySet<string>,
): CheckFailure[] {
  const failures: CheckFailure[] = [];
  for (const property of required) {
    if ((inputs[property] ?? undefined) === undefined) failures.push({ property, reason: `${property} is required` });
  }
  for (const [property, value] of Object.entries(inputs)) {
    if (value === null || value === undefined || unknown.has(property)) continue;
    const schema = Object.hasOwn(schemas, property) ? schemas[property] : notAnInput;
    const wrong = schema?.safeParse(value).error?.issues[0];
    if (wrong) failures.push({ property, reason: `${property} ${wrong.message}` });
  }
  return failures;
}

const notAnInput = z.never("is not an input of this resource");

const pathPart = z.string(expected("a string")).superRefine(refuse(pathPartProblem));

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Whether a number may have lost digits, so that another one counts as the same. */
const isInexact = (value: unknown): boolean => typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
const tooLarge = "a number beyond 2^53, which loses digits";
const writeAsText = "write it as text, which counts as a new version once";

/** What makes a resource act once more. `z.record` would not look at a value named `__proto__`. */
const trigger = {
  version: z
    .union([z.string(), z.number()], expected("a string or a number"))
    .superRefine(refuse((value) => (isInexact(value) ? `must not be ${tooLarge}: ${writeAsText}` : undefined))),
  triggers: z.custom<object>(isObject, expected("a map of names to values")).superRefine(
    refuse((map) => {
      const entries = Object.entries(map);
      const wrong = entries.find(([, value]) => !scalar.safeParse(value).success);
      if (wrong) {
        return `must hold strings, numbers and booleans only, but ${JSON.stringify(wrong[0])} is ${kindOf(wrong[1])}`;
      }
      const inexact = entries.find(([, value]) => isInexact(value));
      return inexact && `must not hold ${tooLarge}, but ${JSON.stringify(inexact[0])} is one: ${writeAsText}`;
    }),
  ),
};

const interval = z.string(expected("a duration written as a string")).superRefine(
  refuse((written) => {
    try {
      readInterval(written);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }),
);

const flag = z.boolean(expected("true or false"));
const count = z.int("must be a whole number, at least 1").min(1, "must be a whole number, at least 1");

/** A database of a fleet. */
export const fleetDatabaseInputs: InputTable = {
  required: ["databaseId"],
  schemas: { databaseId: pathPart, ...trigger },
};

const fleetDatabases = z.array(z.unknown(), expected("a list of databases")).superRefine(
  refuse((databases) => {
    const wrong = databases.find((one) => typeof one !== "string" && !isObject(one));
    return wrong === undefined ? undefined : `must hold databases, but one is ${kindOf(wrong)}`;
  }),
);

const rotation = { ...trigger, rotateEvery: interval, initialRotation: flag };
/** What the SDK sets, not the program. */
const hidden = z.unknown();

export const passwordRotationInputs: InputTable = {
  required: ["databaseId"],
  schemas: { databaseId: pathPart, ...rotation, owner: hidden, otherOwners: hidden },
};

/** A fleet without its databases. */
export const passwordRotationFleetInputs: InputTable = {
  required: [],
  schemas: { ...rotation, concurrency: count, maxFailures: count, includeRecords: flag } satisfies Record<
    (typeof fleetSettings)[number],
    z.ZodType
  >,
};

export const passwordRotationShardInputs: InputTable = {
  required: ["databases"],
  schemas: {
    databases: fleetDatabases,
    ...passwordRotationFleetInputs.schemas,
    shard: hidden,
    fleet: hidden,
    otherOwners: hidden,
  },
};

/** A verification without what is verified. */
export const verificationInputs: InputTable = {
  required: [],
  schemas: { withinSeconds: z.unknown().superRefine(refuse(secondsProblem)) },
};

export const passwordVerificationInputs: InputTable = {
  required: ["subject", "targets"],
  schemas: { subject: hidden, targets: hidden, ...verificationInputs.schemas },
};

export const flowControlResetInputs: InputTable = {
  required: ["flowControlKey"],
  schemas: { flowControlKey: pathPart, ...trigger },
};

const longestPeriodSeconds = 604_800;

/** A whole number of seconds, written as such or as a duration. */
const period = z.union([z.number(), z.string()], expected("a duration, or a number of seconds")).superRefine(
  refuse((written) => {
    try {
      const seconds = typeof written === "number" ? written : readInterval(written).as("seconds");
      const isUsable = Number.isInteger(seconds) && seconds >= 1 && seconds <= longestPeriodSeconds;
      return isUsable ? undefined : "must be whole seconds, at least 1 and at most a week";
    } catch (error) {
      return (error as Error).message;
    }
  }),
);

export const flowControlLimitsInputs: InputTable = {
  required: ["flowControlKey"],
  schemas: {
    flowControlKey: pathPart,
    parallelism: count,
    rate: count,
    period,
    paused: flag,
    owner: hidden,
    otherOwners: hidden,
  },
};

/** The message for a value of another kind than the expected one. */
function expected(kind: string) {
  return { error: ({ input }: { readonly input?: unknown }) => `must be ${kind}, not ${kindOf(input)}` };
}

/** A refinement by a function that returns what is wrong with a value, if anything is. */
function refuse<T>(whatIsWrong: (value: T) => string | undefined) {
  return (value: T, context: z.RefinementCtx) => {
    const wrong = whatIsWrong(value);
    if (wrong !== undefined) context.addIssue(wrong);
  };
}
