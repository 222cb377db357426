import assert from "node:assert/strict";
import { act, observe, type Observation, type Phase, phases } from "./phases";
import { responding } from "./behaviours";
import { type Expected, hold, inWords } from "./expected";
import { type Behaviour } from "./rawServer";
import { forbidden, World, type WorldOptions } from "./world";

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

/** Milliseconds that a busy machine may add. A call that hangs takes longer. */
const slack = 10_000;

/** The title of a test of the table: what the report is made of. */
export const titled = (row: number, fault: string, phase: string, result: string): string =>
  [row, fault, phase, result].join(" · ");

/** A further test of a world, once all its faults were observed. */
export interface Afterwards {
  readonly title: string;
  readonly test: (world: World) => void | Promise<void>;
}

/** Runs the faults of one world all at once: most of their time is waiting. */
export function describeFaults(
  name: string,
  options: WorldOptions | (() => Promise<WorldOptions>),
  faults: readonly Fault[],
  afterwards: readonly Afterwards[] = [],
): void {
  describe(name, () => {
    const seen = new Map<string, Promise<Observation>>();
    let world: World;
    before(async () => {
      world = await World.start(typeof options === "function" ? await options() : options);
      for (const { key, phase, fault } of casesOf(faults)) {
        const observation = observe(phase, world, key, fault.platform ?? responding(200));
        observation.catch(() => undefined);
        seen.set(key, observation);
      }
    });
    after(() => world?.close());

    for (const { key, phase, fault, expected } of casesOf(faults)) {
      it(titled(fault.row, fault.fault, phase, inWords(expected)), async () => {
        const observation = (await seen.get(key)) as Observation;
        hold(phase, key, observation, expected);
        // A counter reset reads before it resets, and each has a deadline of its own.
        const deadlines = phase === "counter reset" ? 2 : 1;
        const limit = deadlines * world.deadlineSeconds * 1000 + slack;
        assert.ok(observation.milliseconds < limit, `finished after ${observation.milliseconds} ms`);
        const { result } = observation;
        const shown = JSON.stringify([result.kind === "done" ? "" : result.message, world.host.stderr]);
        for (const secret of forbidden) assert.ok(!shown.includes(secret), `a secret is shown: ${shown}`);
        const repeats = isReset(phase) && !["fails", "retriedThenFails"].includes(expected.kind);
        if (repeats) await holdRepeat(world, phase, key, observation);
      });
    }
    for (const { title, test } of afterwards) it(title, () => test(world));
  });
}

/** An engine that repeats the call in the same run gets the same result, and nothing is sent. */
async function holdRepeat(world: World, phase: Phase, key: string, { result, requests }: Observation): Promise<void> {
  assert.deepEqual(await act(phase, world, key), result);
  assert.equal(world.server.count("POST", key), requests);
}

function isReset(phase: Phase): boolean {
  return phase === "create" || phase === "update";
}

function casesOf(faults: readonly Fault[]) {
  return faults.flatMap((fault, index) =>
    phases.flatMap((phase) => {
      const { reset, read, counters = read } = fault;
      const expected = isReset(phase) ? reset : phase === "read" ? read : counters;
      if (expected === undefined || expected === "not in the table") return [];
      return [{ key: `k${index}-${phase.replace(" ", "-")}`, phase, fault, expected }];
    }),
  );
}
