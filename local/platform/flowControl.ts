/**
 * A flow-control key. Counters that are left out are 0; `parallelismMax` and the three settings of the rate are left
 * out where the key has no such limit.
 *
 * @see interface, section 2.2
 */
export interface FlowControlRecord {
  /** The key: any text that is not empty. */
  readonly flowControlKey: string;
  /** Messages waiting for parallelism or rate capacity. */
  readonly waitListSize?: number | undefined;
  /** Most messages that may run at once. */
  readonly parallelismMax?: number | undefined;
  /** Messages that run now. */
  readonly parallelismCount?: number | undefined;
  /** Most messages in one rate period. */
  readonly rateMax?: number | undefined;
  /** Messages dispatched in the current rate period. */
  readonly rateCount?: number | undefined;
  /** Length of the rate period, in seconds; at most a week. Where it is left out, a rate counts in one second. */
  readonly ratePeriod?: number | undefined;
  /** When the current rate period began, Unix time in seconds. */
  readonly ratePeriodStart?: number | undefined;
  /** True while delivery is paused by hand. Not in the document; left out where it is false, as the two below. */
  readonly isPaused?: boolean | undefined;
  /** True while messages cannot change the parallelism. */
  readonly isPinnedParallelism?: boolean | undefined;
  /** True while messages cannot change the rate. */
  readonly isPinnedRate?: boolean | undefined;
}

/** Messages that may run, and that do run, over all keys (interface, section 2.3). */
export interface GlobalParallelism {
  readonly parallelismMax: number;
  readonly parallelismCount: number;
}

/** The longest rate period in seconds: a week (interface, section 8). */
export const longestPeriod = 604_800;

/** A key at its limits, with messages that wait: what somebody sees after a downstream outage. */
export function sampleKey(flowControlKey: string): FlowControlRecord {
  return {
    flowControlKey,
    waitListSize: 42,
    parallelismMax: 10,
    parallelismCount: 10,
    rateMax: 100,
    rateCount: 100,
    ratePeriod: 86_400,
    ratePeriodStart: Math.floor(Date.now() / 1000),
  };
}
