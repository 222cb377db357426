import fc from "fast-check";
import { type FaultName, faults } from "./faults";
import { type Point } from "./gate";

export const names = ["a", "b", "c"] as const;
export type Name = (typeof names)[number];

/** What is struck: the engine, the provider host or the program is killed; or the engine gets a ^C. */
export type Victim = "engine" | "host" | "program" | "interrupt";

/** One operation of the engine, after the user has edited the program; in plain data. */
export interface Step {
  readonly versions: Readonly<Partial<Record<Name, string | number | null>>>;
  readonly do: "up" | "preview" | "refresh" | "destroy";
  readonly faults: Readonly<Partial<Record<Name, FaultName>>>;
  /** Who is struck when: at a point of the nth request, or so many milliseconds after the start. */
  readonly strike?:
    { readonly victim: Victim; readonly at: number; readonly point: Point } | { readonly afterMs: number } | undefined;
  /** `rekey:maxConcurrency`. */
  readonly concurrency: 1 | 8;
}

const faultName = fc.constantFrom(...(Object.keys(faults) as FaultName[]));
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
  { weight: 1, arbitrary: fc.record({ afterMs: fc.integer({ min: 50, max: 4000 }) }) },
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
