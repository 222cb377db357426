/**
 * A flow-control key. Missing counters are 0 and missing flags false. Responses have every field, except
 * `parallelismMax` and `rateMax` of a key without such a limit.
 *
 * @see docs/interface.md#the-flow-control-record
 */
export interface FlowControlRecord {
  /** Name of the key: letters, digits, `-`, `_` and `.`. */
  readonly flowControlKey: string;
  /** Messages waiting for parallelism or rate capacity. */
  readonly waitListSize?: number | undefined;
  /** Maximum number of messages that run at the same time. */
  readonly parallelismMax?: number | undefined;
  /** Number of messages that are running. */
  readonly parallelismCount?: number | undefined;
  /** Maximum number of messages dispatched in one rate period. */
  readonly rateMax?: number | undefined;
  /** Messages dispatched in the current rate period. */
  readonly rateCount?: number | undefined;
  /** Length of the rate period in seconds, at most a week. Default: 1. */
  readonly ratePeriod?: number | undefined;
  /** Start of the current rate period: Unix time in seconds. Default: now. */
  readonly ratePeriodStart?: number | undefined;
  /** Whether delivery is paused. Like the next two fields, it is not part of the specified interface. */
  readonly isPaused?: boolean | undefined;
  /** Whether messages cannot change the parallelism limit. */
  readonly isPinnedParallelism?: boolean | undefined;
  /** Whether messages cannot change the rate limit. */
  readonly isPinnedRate?: boolean | undefined;
}

/**
 * The parallelism limit and the number of running messages, over all keys. @see
 * docs/interface.md#read-the-global-parallelism
 */
export interface GlobalParallelism {
  readonly parallelismMax: number;
  readonly parallelismCount: number;
}

/** The names that a key may have, as at the public platform. */
export const keyPattern = /^[A-Za-z0-9_.-]+$/;

/** Why others are refused. */
export const keyProblem = "must contain letters, digits, hyphens, underscores and dots only";

/** Maximum length of a rate period in seconds: a week. @see docs/interface.md#limits */
export const longestPeriodSeconds = 604_800;

/** A key at its limits with waiting messages, as after an outage of their destination. A reset delivers them. */
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
