import assert from "node:assert/strict";
import { leaksOf } from "../support/canaries";
import { type Adapter, adapters } from "../support/host";
import { withoutSecrets } from "../support/wire";
import { act, observe, type Observation, type Phase, phases } from "./phases";
import { responding } from "./behaviours";
import { type Expected, hold, inWords } from "./expected";
import { type Behaviour } from "./rawServer";
import { canaries, World, type WorldOptions } from "./world";

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

/** A further test of a world, once all its faults were observed. */
export interface Afterwards {
  readonly title: Titled;
  readonly test: (world: World) => void | Promise<void>;
}

/** The world of an adapter, and what was seen in it. */
interface Scene {
  readonly world: World;
  readonly seen: Map<string, Promise<Observation>>;
}

type Options = WorldOptions | (() => Promise<WorldOptions>);

/** Runs the faults of one world with each adapter, all at once: most of their time is waiting. */
export function describeFaults(
  name: string,
  options: Options,
  faults: readonly Fault[],
  afterwards: readonly Afterwards[] = [],
): void {
  describe(name, () => {
    const scenes = new Map<Adapter, Scene>();
    const sceneOf = (adapter: Adapter) => scenes.get(adapter) as Scene;
    before(async () => {
      await Promise.all(
        adapters.map(async (adapter) => {
          const world = await World.start({ ...(typeof options === "function" ? await options() : options), adapter });
          const seen: Scene["seen"] = new Map();
          scenes.set(adapter, { world, seen });
          for (const { key, phase, fault } of casesOf(faults)) {
            const observation = observe(phase, world, key, fault.platform ?? responding(200));
            observation.catch(() => undefined);
            seen.set(key, observation);
          }
        }),
      );
    });
    after(async () => {
      for (const { world } of scenes.values()) await world.close();
    });

    for (const adapter of adapters) {
      for (const { key, phase, fault, expected } of casesOf(faults)) {
        it(titled(fault.row, fault.fault, phase, inWords(expected), adapter), async () => {
          const { world, seen } = sceneOf(adapter);
          const observation = (await seen.get(key)) as Observation;
          hold(phase, key, adapter, observation, expected);
          // A counter reset reads before it resets, and each has its own deadline.
          const deadlines = phase === "counter reset" ? 2 : 1;
          const limit = deadlines * world.deadlineSeconds * 1000 + slack;
          assert.ok(observation.milliseconds < limit, `finished after ${observation.milliseconds} ms`);
          holdSecrets(world, observation);
          const repeats = isReset(phase) && !["fails", "retriedThenFails"].includes(expected.kind);
          if (repeats) await holdRepeat(world, phase, key, observation);
        });
      }
    }
    for (const adapter of adapters) {
      for (const { title, test } of afterwards) it(titled(...title, adapter), () => test(sceneOf(adapter).world));
    }
  });
}

/** What a test of a row works with. All of it ends with the test. */
export interface Stage {
  readonly adapter: Adapter;
  readonly start: (options?: WorldOptions) => Promise<World>;
  /** Closes this at the end, before what was started earlier. */
  readonly closes: <T extends { close(): Promise<unknown> }>(one: T) => T;
}

/** Tests a row with each adapter, all at once: most of the time is waiting. */
export function testRow(title: Titled, test: (stage: Stage) => Promise<void>, on = adapters): void {
  const runs = new Map<Adapter, Promise<void>>();
  const run = (adapter: Adapter): Promise<void> => {
    const running = runs.get(adapter) ?? onStage(adapter, test);
    running.catch(() => undefined);
    runs.set(adapter, running);
    return running;
  };
  for (const adapter of on) {
    it(titled(...title, adapter), () => {
      for (const each of on) void run(each);
      return run(adapter);
    });
  }
}

async function onStage(adapter: Adapter, test: (stage: Stage) => Promise<void>): Promise<void> {
  const open: { close(): Promise<unknown> }[] = [];
  const closes: Stage["closes"] = (one) => {
    open.push(one);
    return one;
  };
  try {
    await test({ adapter, closes, start: async (options) => closes(await World.start({ ...options, adapter })) });
  } finally {
    for (const one of open.reverse()) await one.close();
  }
}

/** No secret is in what the process printed or logged, or in what it returned without a mark. */
function holdSecrets({ host }: World, { result }: Observation): void {
  const shown = [JSON.stringify(withoutSecrets(result)), host.stderr, host.engine.received].join("\n");
  assert.deepEqual(leaksOf(shown, canaries), []);
  assert.doesNotMatch(shown, newCredential);
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
