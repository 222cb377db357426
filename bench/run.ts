// npm run bench [-- <databases>]: measures, prints a table, and writes docs/bench. With a number, what needs more
// databases is left out, and nothing is written.
import { benchEngine, type EngineTimes } from "./engine";
import { benchHttp } from "./http";
import { benchImports } from "./imports";
import { benchNetwork } from "./network";
import { benchPlatform } from "./platform";
import { benchReads } from "./reads";
import { benchRotations } from "./rotations";
import { checksOf } from "./checks";
import { Budget } from "./support/budget";
import { checkTable, table, writeReport } from "./support/report";
import { type Row } from "./support/rows";

/** Seconds after which nothing optional is begun: all must end within ten minutes. */
const secondsForAll = 540;

async function main(given: string | undefined): Promise<void> {
  const largest = given === undefined ? Infinity : Number(given);
  if (!(largest >= 1)) throw new Error(`${JSON.stringify(given)} is no number of databases`);
  const counts = [1, 10, 100, 1000].filter((count) => count <= largest);
  const budget = new Budget(secondsForAll);
  const rows: Row[] = [];
  const tell = (measured: Row[]): void => {
    rows.push(...measured);
    for (const { where, subject, case: one, count, seconds } of measured) {
      console.log(
        `${budget.elapsed.toFixed(0).padStart(4)} s  ${where}, ${subject}, ${one}, ${count}: ${seconds.toFixed(3)} s`,
      );
    }
  };
  const imports = benchImports();
  await benchPlatform(2, 3);
  await benchHttp(counts, tell);
  await benchReads(counts, tell);
  await benchNetwork(largest, tell);
  tell((await benchEngine(Math.min(largest, 200))).flatMap(engineRows));
  const skipped = await benchRotations(largest, budget, tell);
  const checks = [...imports, ...checksOf(rows)];
  console.log(`\n${table(rows)}\n\n${checkTable(checks)}\n\n${budget.elapsed.toFixed(0)} s in all.`);
  if (given === undefined) writeReport(rows, checks, skipped);
  if (!checks.every(({ holds }) => holds)) process.exitCode = 1;
}

/** An engine by itself: resources that do nothing. */
function engineRows({ resources, local, cli }: EngineTimes): Row[] {
  const row = { subject: "engine alone", case: "first up", count: resources };
  const rows = [{ ...row, where: "local engine", seconds: local }];
  return cli === undefined ? rows : [...rows, { ...row, where: "pulumi CLI", seconds: cli }];
}

void main(process.argv[2]);
