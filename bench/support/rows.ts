/** The measured cases of a program, in the order of their execution on one stack. */
export const cases = ["preview", "first up", "nothing to do", "rotate one", "rotate all"] as const;
export type Case = (typeof cases)[number];

/** One measurement. */
export interface Row {
  /** The engine, or `wire` without an engine. */
  readonly where: string;
  /** Milliseconds, if there was a network in between. The time is then that from the first to the last request. */
  readonly roundTripMs?: number;
  readonly subject: string;
  readonly case: string;
  /** Number of databases or flow-control keys. */
  readonly count: number;
  readonly seconds: number;
  /** Number of requests to the platform. */
  readonly requests?: number;
  /** Peak memory of the provider host in bytes. */
  readonly hostPeak?: number | undefined;
  /** Size of the resources in the state, in bytes. */
  readonly stateSize?: number;
}

/** A measured value and its limit. */
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

/** The measured value of the rows that match; their median if it was measured several times. */
export function secondsOf(rows: readonly Row[], wanted: Partial<Row>): number | undefined {
  return median(matching(rows, wanted).map(({ seconds }) => seconds));
}

export function matching(rows: readonly Row[], filter: Partial<Row>): Row[] {
  const entries = Object.entries(filter) as [keyof Row, unknown][];
  return rows.filter((row) => entries.every(([name, value]) => row[name] === value));
}

export function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
