import assert from "node:assert/strict";
import { parse } from "yaml";
import { type Properties, unknownValue } from "../../../provider/pulumi/values";
import { type Credentials } from "../../../provider/records/fields";
import { timeAt } from "../../support/rotatedSecret";

/** A row of a table, by the names of its columns. */
export type Row<Column extends string> = Readonly<Record<Column, string>>;

/** Reads a table that is written as text: a line for each row, with `|` between cells. Empty ones may be left out. */
export function tableOf<Column extends string>(columns: readonly Column[], text: string): Row<Column>[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const cells = line.split("|").map((cell) => cell.trim());
      assert.ok(cells[0] && cells.length <= columns.length, line);
      return Object.fromEntries(columns.map((name, nth) => [name, cells[nth] ?? ""])) as Row<Column>;
    });
}

/**
 * The sections of such a table. Each begins with a line that has its title after `#`, and in its other cells what the
 * empty cells below it are.
 */
export function sectionsOf<Column extends string>(columns: readonly Column[], text: string) {
  const sections: { readonly title: string; readonly usually: Row<Column>; readonly rows: Row<Column>[] }[] = [];
  for (const row of tableOf(columns, text)) {
    const [, title] = /^# (.*)$/.exec(row[columns[0] as Column]) ?? [];
    if (title !== undefined) sections.push({ title, usually: row, rows: [] });
    else (sections.at(-1) ?? assert.fail("a row before the first section")).rows.push(row);
  }
  return sections;
}

/** The fields in cells: `version: 2, rotatedSince: hour 3`. `unknown` is a value that is not known yet. */
export function fieldsIn(...cells: readonly string[]): Properties {
  const read = (_: unknown, value: unknown) => {
    const [, hours] = /^hour (-?[\d.]+)$/.exec(String(value)) ?? [];
    if (hours !== undefined) return timeAt(Number(hours)).toISOString();
    return value === "unknown" ? unknownValue : value;
  };
  return Object.assign({}, ...cells.map((cell) => parse(`{ ${cell} }`, read) as Properties)) as Properties;
}

const names = {
  p: "password",
  r: "restToken",
  o: "readOnlyRestToken",
  t: "token",
  k: "currentKey",
  n: "nextKey",
} as const;

/** The credentials in a cell: `p1 r1` are the password and the REST token of generation 1, `k1 n2` a pair of keys. */
export function credentialsOf(cell: string): Credentials {
  const all = cell.split(" ").filter(Boolean);
  return Object.fromEntries(
    all.map((value) => {
      const name = names[value.slice(0, 1) as keyof typeof names];
      return [name ?? assert.fail(cell), name === "nextKey" ? value.replace("n", "k") : value];
    }),
  );
}
