import { type Case, cases, type Row } from "./support/rows";
import { runScenario, type Scenario } from "./support/scenario";
import { engine, whySkipped } from "./support/stack";

/**
 * Measures rotations with each kind of program.
 * @returns what was skipped, with the reason
 */
export async function benchRotations(largest: number, report: (rows: Row[]) => void): Promise<string[]> {
  if (whySkipped !== undefined) return [`${engine}: skipped, ${whySkipped}`];
  for (const scenario of scenarios()) if (scenario.count <= largest) report(await runScenario(scenario));
  return [];
}

/** What the checks need. */
function scenarios(): Scenario[] {
  const firstUp: readonly Case[] = ["first up"];
  const few = (["handWritten", "passwordRotation", "fleet"] as const).flatMap((subject) =>
    [1, 10, 100].map((count): Scenario => ({ subject, count, cases: firstUp })),
  );
  const nothing: Scenario = { subject: "noop", count: 1, cases: firstUp };
  const fleet: Scenario = { subject: "fleet", count: 1000, cases: firstUp };
  // The two that are compared run in turns, and their median counts, because the speed of a machine varies.
  const turns = Array.from({ length: 4 }, () => [nothing, fleet]).flat();
  return [
    ...few,
    ...[nothing, { ...fleet, cases }, ...turns],
    { ...fleet, count: 10_000, cases: ["first up", "nothing to do"] },
    { subject: "handWritten", count: 1000, cases: firstUp },
  ];
}
