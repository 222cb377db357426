/** The cases that are measured of a program with databases, in the order in which one stack goes through them. */
export const cases = ["preview", "first up", "nothing to do", "rotate one", "rotate all"] as const;
export type Case = (typeof cases)[number];

/** One measurement. */
export interface Row {
  /** Where it ran: an engine, or nowhere but on the wire. */
  readonly where: string;
  /** Milliseconds, if there was a network in between. The time is then that from the first to the last request. */
  readonly roundTripMs?: number;
  readonly subject: string;
  readonly case: string;
  /** Databases, or flow-control keys. */
  readonly count: number;
  readonly seconds: number;
  /** Requests that the platform answered. */
  readonly requests?: number;
  /** Bytes, most memory of the provider host. */
  readonly hostPeak?: number | undefined;
  /** Bytes of the resources in the state afterwards. */
  readonly stateSize?: number;
}

/** What must hold, and whether it does. */
export interface Check {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly holds: boolean;
}

export function atMost(what: string, value: number, limit: number): Check {
  return { what, value, limit, holds: value <= limit };
}

/** The engines that rows are of. */
export function enginesOf(rows: readonly Row[]): string[] {
  const ofEngines = rows.filter(({ where, roundTripMs }) => where !== "wire" && roundTripMs === undefined);
  return [...new Set(ofEngines.map(({ where }) => where))];
}

/** The measured value of the rows that match; their median, where it was measured several times. */
export function secondsOf(rows: readonly Row[], wanted: Partial<Row>): number | undefined {
  return median(matching(rows, wanted).map(({ seconds }) => seconds));
}

export function matching(rows: readonly Row[], wanted: Partial<Row>): Row[] {
  const entries = Object.entries(wanted) as [keyof Row, unknown][];
  return rows.filter((row) => entries.every(([name, value]) => row[name] === value));
}

export function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
