import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Project } from "../../test/support/project";
import { databaseIds, startBenchPlatform } from "./platform";
import { type Case, cases, type Row } from "./rows";
import { engine, openBenchStack } from "./stack";

/** The measured programs, by file name in `bench/programs`. */
type Subject = "noop" | "handWritten" | "passwordRotation" | "fleet";

/** A program with a number of databases, and the cases to measure on one stack. */
export interface Scenario {
  readonly subject: Subject;
  readonly count: number;
  readonly cases: readonly Case[];
}

/**
 * Runs a scenario on its own platform and stack.
 * @throws Error if a case sends a wrong number of requests
 */
export async function runScenario({ subject, count, cases: selected }: Scenario): Promise<Row[]> {
  const ids = databaseIds(count);
  const platform = await startBenchPlatform({ databases: ids });
  const program = readFileSync(join(__dirname, "..", "programs", `${subject}.ts`), "utf8");
  const project = new Project(program, { main: "index.ts", packages: ["axios"] });
  const setVersions = (first: string, others: string): string =>
    project.write(
      "databases.json",
      JSON.stringify(Object.fromEntries(ids.map((id, index) => [id, index === 0 ? first : others]))),
    );
  const resets = subject === "noop" ? 0 : count;
  const expected = {
    preview: 0,
    "first up": resets,
    "nothing to do": 0,
    "rotate one": Math.min(resets, 1),
    "rotate all": resets,
  };
  try {
    const stack = await openBenchStack(project, platform.environment);
    const rows: Row[] = [];
    setVersions("1", "1");
    for (const one of cases.filter((each) => selected.includes(each))) {
      if (one === "rotate one") setVersions("2", "1");
      if (one === "rotate all") setVersions("3", "3");
      const { seconds, hostPeak } = await (one === "preview" ? stack.preview() : stack.up());
      const requests = await platform.newRequests();
      if (requests !== expected[one]) {
        throw new Error(`${subject}, ${one}, ${count} databases: ${requests} requests instead of ${expected[one]}`);
      }
      const state = one === "first up" ? { stateSize: await stack.stateSize() } : {};
      rows.push({ where: engine, subject, case: one, count, seconds, requests, hostPeak, ...state });
    }
    return rows;
  } finally {
    platform.close();
    project.remove();
  }
}
