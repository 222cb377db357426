import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Check, type Row, secondsOf } from "../../bench/support/rows";

const root = join(__dirname, "..", "..");
const page = readFileSync(join(root, "docs", "internals", "performance.md"), "utf8");
const { rows, checks } = JSON.parse(readFileSync(join(root, "bench", "results.json"), "utf8")) as {
  rows: Row[];
  checks: Check[];
};

/** The measured value of the check that begins so. */
function measured(start: string): string {
  const found = checks.filter(({ what }) => what.startsWith(start));
  assert.equal(found.length, 1, start);
  return (found[0]?.value ?? NaN).toFixed(2);
}

describe("bench: the page on performance", () => {
  for (const count of [1, 10, 100, 1000]) {
    it(`shows the measured times (databases: ${count})`, () => {
      const seconds = (where: string, subject: string, digits: number) => {
        const value = secondsOf(rows, { where, subject, count, case: "first up" });
        return value === undefined ? "–" : value.toFixed(value >= 100 ? 0 : digits);
      };
      const subjects = ["handWritten", "passwordRotation", "fleet"];
      const ofEngine = (where: string) => subjects.map((subject) => seconds(where, subject, 1));
      const bare = seconds("wire", "bare HTTP", 2);
      const cells = [count.toLocaleString("en"), bare, ...ofEngine("pulumi CLI")];
      const lines = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
      assert.deepEqual(lines.find(([, first]) => first === cells[0])?.slice(1, -1), cells);
    });
  }

  it("shows the measured shares", () => {
    const text = page.replaceAll("\n  ", " ").replaceAll("\n", " ");
    const [ours = NaN, handWritten = NaN] = ["passwordRotation", "handWritten"].map((subject) =>
      secondsOf(rows, { where: "pulumi CLI", subject, count: 100, case: "first up" }),
    );
    for (const claim of [
      `its \`up\` took ${(ours / handWritten).toFixed(1)} times as long`,
      `it took ${measured("pulumi CLI: fleet of 1,000 ÷ (one empty resource")} times the sum`,
      `starts in ${measured("start of the plugin ÷ dynamic host, to the response")} of the time`,
      `takes ${measured("pulumi CLI: CPU time of 300 native")} of the CPU time`,
    ]) {
      assert.ok(text.includes(claim), claim);
    }
  });
});
