// npm run bench [-- <databases>]: measures, prints a table, and writes docs/bench. With a number, measurements with
// more databases are omitted, and nothing is written.
import { benchEngine, type EngineTimes } from "./engine";
import { benchHttp } from "./http";
import { benchImports } from "./imports";
import { benchNetwork } from "./network";
import { benchPlatform } from "./platform";
import { benchReads } from "./reads";
import { benchPlugin } from "./plugin";
import { benchRotations } from "./rotations";
import { checksOf } from "./checks";
import { Budget } from "./support/budget";
import { checkTable, table, writeReport } from "./support/report";
import { type Row } from "./support/rows";

/** Seconds after which no optional measurement starts, so that all end within ten minutes. */
const secondsForAll = 540;

async function main(given: string | undefined): Promise<void> {
  const largest = given === undefined ? Infinity : Number(given);
  if (!(largest >= 1)) {
    throw new Error(
      `${JSON.stringify(given)} is not a number of databases. Nothing was measured: npm run bench -- 100`,
    );
  }
  const counts = [1, 10, 100, 1000].filter((count) => count <= largest);
  const budget = new Budget(secondsForAll);
  const rows: Row[] = [];
  const report = (measured: Row[]): void => {
    rows.push(...measured);
    for (const { where, subject, case: one, count, seconds } of measured) {
      console.log(
        `${budget.elapsed.toFixed(0).padStart(4)} s  ${where}, ${subject}, ${one}, ${count}: ${seconds.toFixed(3)} s`,
      );
    }
  };
  const withoutRows = [...benchImports(), ...(await benchPlugin(largest))];
  await benchPlatform(2, 3);
  await benchHttp(counts, report);
  await benchReads(counts, report);
  await benchNetwork(largest, report);
  report((await benchEngine(Math.min(largest, 200))).flatMap(engineRows));
  const skipped = await benchRotations(largest, budget, report);
  const checks = [...withoutRows, ...checksOf(rows)];
  console.log(`\n${table(rows)}\n\n${checkTable(checks)}\n\n${budget.elapsed.toFixed(0)} s in total.`);
  if (given === undefined) writeReport(rows, checks, skipped);
  if (!checks.every(({ holds }) => holds)) process.exitCode = 1;
}

/** The engine alone, with resources that do nothing. */
function engineRows({ resources, local, cli }: EngineTimes): Row[] {
  const row = { subject: "engine alone", case: "first up", count: resources };
  const rows = [{ ...row, where: "local engine", seconds: local }];
  return cli === undefined ? rows : [...rows, { ...row, where: "pulumi CLI", seconds: cli }];
}

void main(process.argv[2]);
