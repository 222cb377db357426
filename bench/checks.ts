import { atMost, type Check, matching, type Row } from "./support/rows";

/** What the measurements must show; a check whose measurements were not made is left out. */
export function checksOf(rows: readonly Row[]): Check[] {
  const engines = [...new Set(rows.map(({ where }) => where))].filter((where) => where !== "wire");
  const checks = [
    ...engines.map((where) =>
      share(
        `state per PasswordRotation ÷ hand-written, ${where}`,
        0.4,
        statePer(rows, where, "passwordRotation"),
        statePer(rows, where, "handWritten"),
      ),
    ),
    ...matching(rows, { subject: "getFlowControlKey", count: 1000 }).map(({ requests = NaN }) =>
      atMost("requests for 1,000 flow-control keys", requests, 2),
    ),
  ];
  return checks.filter((check) => check !== undefined);
}

/** Bytes of state that one more database makes. */
function statePer(rows: readonly Row[], where: string, subject: string): number | undefined {
  const sizes = matching(rows, { where, subject, case: "first up" }).sort((a, b) => a.count - b.count);
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (first?.stateSize === undefined || last?.stateSize === undefined || first === last) return undefined;
  return (last.stateSize - first.stateSize) / (last.count - first.count);
}

function share(what: string, limit: number, value: number | undefined, of: number | undefined): Check | undefined {
  return value === undefined || of === undefined ? undefined : atMost(what, value / of, limit);
}
