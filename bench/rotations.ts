import { type Engine, localEngine, pulumiCli } from "../test/support/engine";
import { type Case, cases, type Row } from "./support/rows";
import { runScenario, type Scenario } from "./support/scenario";

/**
 * Measures rotations with each kind of program, on each available engine.
 * @returns the engines that were skipped, with the reason
 */
export async function benchRotations(largest: number, report: (rows: Row[]) => void): Promise<string[]> {
  const engines = [localEngine, pulumiCli];
  for (const scenario of engines.filter(({ unavailable }) => unavailable === undefined).flatMap(scenariosOf)) {
    if (scenario.count <= largest) report(await runScenario(scenario));
  }
  return engines.flatMap(({ name, unavailable }) =>
    unavailable === undefined ? [] : [`${name}: skipped, ${unavailable}`],
  );
}

/** What the checks need. */
function scenariosOf(engine: Engine): Scenario[] {
  const isLocal = engine.name === localEngine.name;
  const firstUp: readonly Case[] = ["first up"];
  const few = (["handWritten", "passwordRotation", "fleet"] as const).flatMap((subject) =>
    [1, 10, 100].map((count): Scenario => ({ engine, subject, count, cases: firstUp })),
  );
  const nothing: Scenario = { engine, subject: "noop", count: 1, cases: firstUp };
  const fleet: Scenario = { engine, subject: "fleet", count: 1000, cases: firstUp };
  // The two that are compared run in turns, and their median counts, because the speed of a machine varies.
  const turns = Array.from({ length: 4 }, () => [nothing, fleet]).flat();
  return [
    ...few,
    ...[nothing, { ...fleet, cases: isLocal ? cases : ([...firstUp, "rotate one", "rotate all"] as const) }, ...turns],
    // The memory of the provider host does not depend on the engine.
    ...(isLocal ? [{ ...fleet, count: 10_000, cases: ["first up", "nothing to do"] as const }] : []),
    { engine, subject: "handWritten", count: 1000, cases: firstUp },
  ];
}
