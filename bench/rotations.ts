import { type Engine, localEngine, pulumiCli } from "../test/support/engine";
import { type Case, cases, type Row } from "./support/rows";
import { runScenario, type Scenario } from "./support/scenario";
import { type Budget } from "./support/budget";

/** What one engine goes through. */
interface Planned extends Scenario {
  /** Done only where there is time for it; the others are what the checks need. */
  readonly optional?: boolean;
}

/**
 * Rotations of databases by programs of each kind, on each engine that runs here. Returns what was skipped, and why.
 */
export async function benchRotations(largest: number, budget: Budget, tell: (rows: Row[]) => void): Promise<string[]> {
  const skipped: string[] = [];
  const skip = (what: string): void => {
    console.log(`      ${what}`);
    skipped.push(what);
  };
  const engines = [localEngine, pulumiCli].filter(({ name, unavailable }) => {
    if (unavailable !== undefined) skip(`${name}: skipped, ${unavailable}`);
    return unavailable === undefined;
  });
  const planned = engines.flatMap(plan).filter(({ count }) => count <= largest);
  const inOrder = [...planned.filter(({ optional }) => !optional), ...planned.filter(({ optional }) => optional)];
  for (const scenario of inOrder) {
    const { engine, subject, count } = scenario;
    const kind = `${subject} ${engine.name}`;
    if (scenario.optional && !budget.allows(kind, count, scenario.cases.length)) {
      skip(`${engine.name}, ${subject}, ${count} databases: skipped, the time for it is used up`);
      continue;
    }
    const began = performance.now();
    tell(await runScenario(scenario));
    budget.note(kind, count, (performance.now() - began) / 1000 / scenario.cases.length);
  }
  return skipped;
}

function plan(engine: Engine): Planned[] {
  const isLocal = engine.name === localEngine.name;
  const firstUp: readonly Case[] = ["first up"];
  // What the checks and the charts need.
  const few = (["handWritten", "passwordRotation", "fleet"] as const).flatMap((subject) =>
    [1, 10, 100].map((count): Planned => ({ engine, subject, count, cases: firstUp })),
  );
  // The other cases, after a first up of their own. Those of a fleet are measured with 1,000; these take long on an
  // engine that is slow with resources.
  const others = (["handWritten", "passwordRotation"] as const).map((subject): Planned => {
    return { engine, subject, count: 100, cases: isLocal ? cases : ["first up", "rotate all"], optional: true };
  });
  const nothing: Planned = { engine, subject: "noop", count: 1, cases: firstUp };
  const fleet: Planned = { engine, subject: "fleet", count: 1000, cases: firstUp };
  // The two that are held against each other take turns, and the median counts: a machine has better and worse moments.
  const turns = Array.from({ length: 4 }, () => [nothing, fleet]).flat();
  return [
    ...few,
    ...[nothing, { ...fleet, cases: isLocal ? cases : ([...firstUp, "rotate one", "rotate all"] as const) }, ...turns],
    // The memory of a host does not depend on the engine.
    ...(isLocal ? [{ ...fleet, count: 10_000, cases: ["first up", "nothing to do"] as const }] : []),
    { engine, subject: "handWritten", count: 1000, cases: firstUp },
    ...others,
    {
      engine,
      subject: "passwordRotation",
      count: 1000,
      cases: ["first up", "nothing to do", "rotate one"],
      optional: true,
    },
  ];
}
