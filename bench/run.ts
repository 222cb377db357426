// npm run bench [-- <rounds>]: measures on the real engine, compares the medians of five rounds with their limits, and
// writes bench/results.md. With another number of rounds, nothing is written.
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { type Measured, measureEngine, measureNetwork, measureProcessor } from "./measures";

const usualRounds = 5;

async function main(rounds: number): Promise<void> {
  if (!(rounds >= 1)) throw new Error("Name a number of rounds: npm run bench -- 1");
  const all: Measured[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const measure of [measureProcessor, measureEngine, measureNetwork]) {
      for (const measured of await measure()) {
        all.push(measured);
        const { what, seconds, baseline } = measured;
        console.log(
          `${round}/${rounds}  ${ratioOf(measured).toFixed(2)}  ${what}: ${digits(seconds)} s ÷ ${digits(baseline)} s`,
        );
      }
    }
  }
  const rows = [...new Set(all.map(({ what }) => what))].map((what) => rowOf(all.filter((one) => one.what === what)));
  const table = [
    ["measure", "Rekey, s", "baseline, s", "ratio", "range", "at most", ""],
    ["---", "---", "---", "---", "---", "---", "---"],
    ...rows.map(({ cells }) => cells),
  ];
  const text = table.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  console.log(text);
  if (rounds === usualRounds) writeFileSync(join(__dirname, "results.md"), `${head()}\n${text}\n`);
  process.exit(rows.every(({ holds }) => holds) ? 0 : 1);
}

/** All rounds of one measure. */
function rowOf(runs: readonly Measured[]): { holds: boolean; cells: string[] } {
  const { what = "", limit = NaN } = runs[0] ?? {};
  const ratios = runs.map(ratioOf);
  const ratio = median(ratios);
  const holds = ratio <= limit;
  const medians = [median(runs.map(({ seconds }) => seconds)), median(runs.map(({ baseline }) => baseline)), ratio];
  const range = `${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))}`;
  return { holds, cells: [what, ...medians.map(digits), range, String(limit), holds ? "holds" : "FAILS"] };
}

function head(): string {
  const processors = `${cpus().length} × ${cpus()[0]?.model}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = [
    processors,
    memory,
    process.platform,
    `Node ${process.version}`,
    new Date().toISOString().slice(0, 10),
  ];
  return `<!-- Written by \`npm run bench\`. Do not edit. -->

# Results

Medians of ${usualRounds} rounds, each with its own baseline. ${machine.join(", ")}.
`;
}

function ratioOf({ seconds, baseline }: Measured): number {
  return seconds / baseline;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

void main(Number(process.argv[2] ?? usualRounds));
