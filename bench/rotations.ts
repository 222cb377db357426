import { type Engine, localEngine, pulumiCli } from "../test/support/engine";
import { type Case, cases, type Row } from "./support/rows";
import { runScenario, type Scenario } from "./support/scenario";
import { type Budget } from "./support/budget";

/** A scenario of one engine. */
interface Planned extends Scenario {
  /** Only run if there is time for it. Without it, its check is left out. */
  readonly optional?: boolean;
}

/**
 * Measures rotations with each kind of program, on each available engine. @returns what was skipped, with the reason
 */
export async function benchRotations(
  largest: number,
  budget: Budget,
  report: (rows: Row[]) => void,
): Promise<string[]> {
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
      skip(`${engine.name}, ${subject}, ${count} databases: skipped, the time budget is used up`);
      continue;
    }
    const began = performance.now();
    report(await runScenario(scenario));
    budget.note(kind, count, (performance.now() - began) / 1000 / scenario.cases.length);
  }
  return skipped;
}

function plan(engine: Engine): Planned[] {
  const isLocal = engine.name === localEngine.name;
  const firstUp: readonly Case[] = ["first up"];
  // Needed by the checks and the charts.
  const few = (["handWritten", "passwordRotation", "fleet"] as const).flatMap((subject) =>
    [1, 10, 100].map((count): Planned => ({ engine, subject, count, cases: firstUp })),
  );
  // The other cases, each after its own first up. Those of a fleet are measured with 1,000 databases. These are slow on
  // the CLI.
  const others = (["handWritten", "passwordRotation"] as const).map((subject): Planned => {
    return { engine, subject, count: 100, cases: isLocal ? cases : ["first up", "rotate all"], optional: true };
  });
  const nothing: Planned = { engine, subject: "noop", count: 1, cases: firstUp };
  const fleet: Planned = { engine, subject: "fleet", count: 1000, cases: firstUp };
  // The two that are compared run in turns, and their median counts, because the speed of a machine varies.
  const turns = Array.from({ length: 4 }, () => [nothing, fleet]).flat();
  return [
    ...few,
    ...[nothing, { ...fleet, cases: isLocal ? cases : ([...firstUp, "rotate one", "rotate all"] as const) }, ...turns],
    // The memory of the provider host does not depend on the engine.
    ...(isLocal ? [{ ...fleet, count: 10_000, cases: ["first up", "nothing to do"] as const }] : []),
    // On the CLI it takes about as long as everything before it.
    { engine, subject: "handWritten", count: 1000, cases: firstUp, optional: !isLocal },
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
