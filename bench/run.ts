// npm run bench [-- <databases>]: measures, prints a table, and writes bench/results.*. With a number, measurements
// with more databases are omitted, and nothing is written.
import { benchEngine } from "./engine";
import { benchHttp } from "./http";
import { benchImports } from "./imports";
import { benchNetwork } from "./network";
import { benchReads } from "./reads";
import { benchPlugin } from "./plugin";
import { benchRotations } from "./rotations";
import { checksOf } from "./checks";
import { checkTable, table, writeReport } from "./support/report";
import { type Row } from "./support/rows";

async function main(given: string | undefined): Promise<void> {
  const largest = given === undefined ? Infinity : Number(given);
  if (!(largest >= 1)) {
    throw new Error(
      `${JSON.stringify(given)} is not a number of databases. Nothing was measured: npm run bench -- 100`,
    );
  }
  const counts = [1, 10, 100, 1000].filter((count) => count <= largest);
  const began = performance.now();
  const elapsed = () => ((performance.now() - began) / 1000).toFixed(0);
  const rows: Row[] = [];
  const report = (measured: Row[]): void => {
    rows.push(...measured);
    for (const { where, subject, case: one, count, seconds } of measured) {
      console.log(`${elapsed().padStart(4)} s  ${where}, ${subject}, ${one}, ${count}: ${seconds.toFixed(3)} s`);
    }
  };
  const withoutRows = [...benchImports(), ...(await benchPlugin(largest))];
  await benchHttp(counts, report);
  await benchReads(counts, report);
  await benchNetwork(largest, report);
  await benchEngine(Math.min(largest, 200), report);
  const skipped = await benchRotations(largest, report);
  const checks = [...withoutRows, ...checksOf(rows)];
  console.log([`\n${table(rows)}\n\n${checkTable(checks)}\n`, ...skipped, `${elapsed()} s in total.`].join("\n"));
  if (given === undefined) writeReport(rows, checks, skipped);
  if (!checks.every(({ holds }) => holds)) process.exitCode = 1;
}

void main(process.argv[2]);
