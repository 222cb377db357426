import assert from "node:assert/strict";
import { itInPairs } from "../support/suite";
import { leaksOf } from "../support/canaries";
import { type Adapter, adapters, type Result } from "../support/host";
import { withoutSecrets } from "../support/wire";
import { observe, type Observation, phases } from "./phases";
import { assertExpected, type Expected, inWords } from "./expected";
import { type Behaviour, responding } from "../support/httpServer";
import { canaries, Fixture, type FixtureOptions } from "./fixture";

/** One fault of the table, in the phases that it has. */
export interface Fault {
  readonly row: number;
  readonly fault: string;
  /** Default: responds well. */
  readonly platform?: Behaviour;
  /** Of create and update of a PasswordRotation. */
  readonly reset?: Expected;
  /** Of a data source. */
  readonly read?: Expected;
  /** Of a FlowControlReset. Default: as `read`. */
  readonly counters?: Expected | "not in the table";
}

/** Credentials that the platform makes. */
const newCredential = /\b(pw|rt|ro)-\d/;
/** Milliseconds that a busy machine may add. A call with the default deadline, or without one, takes longer. */
const slack = 45_000;

/** The title of a test of the table: what the report is made of. Tests without an adapter use the dynamic one. */
export const titled = (row: number, fault: string, phase: string, result: string, adapter?: Adapter): string =>
  [row, fault, phase, result, ...(adapter === "plugin" ? [adapter] : [])].join(" · ");

/** The parts of a title. */
export type Titled = readonly [row: number, fault: string, phase: string, result: string];

/** A further test of a fixture, once all its faults were observed. */
export interface Afterwards {
  readonly title: Titled;
  readonly test: (fixture: Fixture) => void | Promise<void>;
}

/** Runs the faults of a fixture with each adapter, all at once: most of their time is waiting. */
export function describeFaults(
  name: string,
  options: FixtureOptions,
  faults: readonly Fault[],
  afterwards: readonly Afterwards[] = [],
): void {
  describe(name, () => {
    const fixtures = adapters.map((adapter) => new Fixture(adapter));
    const seen = new Map<string, Promise<Observation>>();
    before(async () => {
      await Promise.all(
        fixtures.map(async (fixture) => {
          await fixture.start(options);
          for (const { key, phase, fault } of casesOf(faults)) {
            const observation = observe(phase, fixture, key, fault.platform ?? responding(200));
            observation.catch(() => undefined);
            seen.set(`${fixture.adapter} ${key}`, observation);
          }
        }),
      );
    });
    after(async () => {
      for (const fixture of fixtures) await fixture.close();
    });

    for (const fixture of fixtures) {
      const { adapter } = fixture;
      for (const { key, phase, fault, expected } of casesOf(faults)) {
        it(titled(fault.row, fault.fault, phase, inWords(expected), adapter), async () => {
          const observation = (await seen.get(`${adapter} ${key}`)) as Observation;
          await assertExpected(phase, key, adapter, observation, expected);
          // A counter reset reads before it resets, and each has its own deadline.
          const deadlines = phase === "counter reset" ? 2 : 1;
          const limit = deadlines * fixture.deadlineSeconds * 1000 + slack;
          assert.ok(observation.milliseconds < limit, `finished after ${observation.milliseconds} ms`);
          assertNoSecrets(fixture, observation.result);
        });
      }
    }
    for (const fixture of fixtures) {
      for (const { title, test } of afterwards) it(titled(...title, fixture.adapter), () => test(fixture));
    }
  });
}

/** Tests a row with each adapter, at the same time. */
export function testRow(title: Titled, test: (fixture: Fixture) => Promise<void>, on = adapters): void {
  itInPairs(
    on,
    (adapter) => titled(...title, adapter),
    async (adapter) => {
      const fixture = new Fixture(adapter);
      await test(fixture).finally(() => fixture.close());
    },
  );
}

/** No secret is in what the process printed or logged, or in what it returned without a mark. */
export function assertNoSecrets({ host }: Fixture, result: Result): void {
  const shown = JSON.stringify(withoutSecrets(result)) + host.said;
  assert.deepEqual(leaksOf(shown, canaries), []);
  assert.doesNotMatch(shown, newCredential);
}

function casesOf(faults: readonly Fault[]) {
  return faults.flatMap((fault, index) =>
    phases.flatMap((phase) => {
      const { reset, read, counters = read } = fault;
      const expected = { create: reset, update: reset, read, "counter reset": counters }[phase];
      if (expected === undefined || expected === "not in the table") return [];
      return [{ key: `k${index}-${phase.replace(" ", "-")}`, phase, fault, expected }];
    }),
  );
}
