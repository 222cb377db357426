import fc from "fast-check";
import { type OutcomeName, outcomeNames, outcomes } from "./outcomes";
import { type UpOptions } from "./inProcessEngine";
import { type Delivery, deliveries, goodReads, type ReadName, readNames, type Reads } from "./reads";
import { type Name, names, type DesiredInputs } from "./desiredInputs";

/** One step of a sequence, in plain data: what a failure prints can be run again as it stands. */
export type Step =
  | ({
      readonly do: "up";
      readonly requests: Readonly<Record<Name, readonly OutcomeName[]>>;
      readonly reads?: Readonly<Record<Name, Reads>>;
    } & UpOptions)
  | { readonly do: "preview"; readonly versionIsKnown: boolean }
  | { readonly do: "refresh"; readonly reads?: Readonly<Record<Name, Reads>> }
  | { readonly do: "destroy" }
  /** The user edits the program: some arguments of a resource, or the whole of it (`undefined` takes it away). */
  | { readonly do: "edit"; readonly name: Name; readonly change: Partial<Omit<DesiredInputs, "databaseId">> }
  | { readonly do: "move"; readonly name: Name; readonly databaseId: string }
  | { readonly do: "remove"; readonly name: Name }
  /** Negative where the clock is set back. */
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "upgrade" }
  /** The user sets or removes `rekey:databasePath`. */
  | { readonly do: "set"; readonly canRead: boolean }
  /** The platform delivers credentials in another way. */
  | { readonly do: "deliver"; readonly delivery: Delivery }
  /** Someone changes a password outside of Rekey. */
  | { readonly do: "change"; readonly name: Name };

const name = fc.constantFrom(...names);
const mostlyGood = fc.oneof(fc.constant<OutcomeName>("good"), {
  weight: 2,
  arbitrary: fc.constantFrom(...outcomeNames),
});
const lost = fc.constantFrom(...outcomeNames.filter((outcome) => outcomes[outcome].verdict === "unknown"));
const requests = fc.oneof(
  { weight: 3, arbitrary: fc.array(mostlyGood, { minLength: 1, maxLength: 4 }) },
  fc.tuple(lost),
);

/** What reads meet: mostly nothing. */
const readsOf = (all: readonly ReadName[]) => {
  const read = fc.oneof({ weight: 3, arbitrary: fc.constant<ReadName>("good") }, fc.constantFrom(...all));
  const reads = fc.oneof(fc.constant(goodReads), fc.record({ before: read, after: read }));
  return fc.record({ a: reads, b: reads });
};

const version = fc.constantFrom(undefined, 1, "1", 2, "2", "02", 3);
const triggers = fc.constantFrom(undefined, {}, { by: 1 }, { by: "1" }, { by: null }, { by: 2, of: "x" }, { of: "x" });
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ version }) },
  { weight: 2, arbitrary: fc.record({ triggers }) },
  fc.record({ rotateEvery: fc.constantFrom(undefined, "12h" as const, "P1D" as const, "7d" as const) }),
  fc.record({ initialRotation: fc.constantFrom(undefined, true, false) }),
  fc.constant({ version: undefined, triggers: undefined }),
);

export const plainUp: UpOptions = { repeats: 0, forced: false, goesOn: false, limit: undefined };

const up = fc.record({
  do: fc.constant("up" as const),
  requests: fc.record({ a: requests, b: requests }),
  reads: readsOf(readNames),
  repeats: fc.constantFrom(0, 0, 0, 1, 2),
  forced: fc.constantFrom(false, false, true),
  goesOn: fc.boolean(),
  limit: fc.constantFrom(undefined, undefined, undefined, 0, 1),
});

const refresh = fc.record({
  do: fc.constant("refresh" as const),
  reads: readsOf(readNames.filter((one) => one !== "killed")),
});

const steps: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 18, arbitrary: up },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("edit" as const), name, change }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("preview" as const), versionIsKnown: fc.boolean() }) },
  { weight: 3, arbitrary: refresh },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: -50, max: 200 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), name }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("move" as const), name, databaseId: fc.constantFrom("1", "2") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), name }) },
  { weight: 1, arbitrary: fc.constant({ do: "destroy" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "upgrade" as const }) },
];
/** With a platform that can be read. */
const readSteps: readonly fc.WeightedArbitrary<Step>[] = [
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("deliver" as const), delivery: fc.constantFrom(...deliveries) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("set" as const), canRead: fc.boolean() }) },
];

const sequenceOf = (all: readonly fc.WeightedArbitrary<Step>[]) => {
  return fc.array(fc.oneof(...all), { minLength: 1, maxLength: 30, size: "max" });
};
export const sequences = { on: sequenceOf([...steps, ...readSteps]), off: sequenceOf(steps) };
