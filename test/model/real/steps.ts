import fc from "fast-check";
import { type DesiredInputs } from "../desiredInputs";
import { type OutcomeName, outcomeNames, type ResetOutcome, outcomes } from "../outcomes";
import { type Strike, type Victim } from "./fixture";
import { type Point } from "./gate";

export const names = ["a", "b", "c"] as const;
export type Name = (typeof names)[number];

/** One operation of the engine, after the user has edited the program; in plain data. */
export interface Step {
  readonly versions: Readonly<Partial<Record<Name, string | number | null>>>;
  readonly do: "up" | "preview" | "refresh" | "destroy";
  /** What the first request of a database meets. Default: it succeeds. */
  readonly faults: Readonly<Partial<Record<Name, OutcomeName>>>;
  readonly strike?: Strike | undefined;
  /** `rekey:maxConcurrency`. */
  readonly concurrency: 1 | 8;
}

/** What a gate can do to a request without ending a process, or waiting for a deadline. */
const faultName = fc.constantFrom(
  ...outcomeNames.filter((name) => {
    const { verdict, applies, arrives, code, engineEnds }: ResetOutcome = outcomes[name];
    return (
      typeof applies === "boolean" &&
      verdict !== "killed" &&
      arrives !== false &&
      code !== "deadline" &&
      engineEnds === undefined
    );
  }),
);
const version = fc.constantFrom(1, "1", 2, 3, null);
const some = <T>(value: fc.Arbitrary<T>) =>
  fc.record({ a: value, b: value, c: value }, { requiredKeys: [] }) as fc.Arbitrary<Partial<Record<Name, T>>>;

const strike = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      victim: fc.constantFrom<Victim>("engine", "engine", "host", "program", "interrupt"),
      at: fc.constantFrom(1, 1, 2, 3),
      point: fc.constantFrom<Point>("arrived", "applied", "responded"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ victim: fc.constant("engine" as const), afterMs: fc.integer({ min: 50, max: 4000 }) }),
  },
);

const concurrency = fc.constantFrom(1 as const, 8 as const);
const up = fc.record({
  do: fc.constant("up" as const),
  versions: some(version),
  faults: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, some(faultName)),
  strike: fc.option(strike, { nil: undefined, freq: 4 }),
  concurrency,
});
const other = fc.record({
  do: fc.constantFrom("preview" as const, "refresh" as const, "destroy" as const),
  versions: some(version),
  faults: fc.constant({}),
  concurrency,
});

export const sequence: fc.Arbitrary<Step[]> = fc.array(fc.oneof({ weight: 5, arbitrary: up }, other), {
  minLength: 3,
  maxLength: 6,
});

/** A program with a rotation for each name. */
export function programOf(desired: Readonly<Record<Name, DesiredInputs>>): string {
  const lines = names.map((name) => `new PasswordRotation("${name}", ${JSON.stringify(desired[name])});`);
  return ['const { PasswordRotation } = require("pulumi-rekey");', ...lines].join("\n");
}
