import { flag, int64, text, type RecordOf } from "./fields";

/**
 * What the platform tells of a flow-control key.
 *
 * @see Interface, section 2.2
 */
export const flowControlFields = {
  /** The key. */
  flowControlKey: text,
  /** Messages waiting for parallelism or rate capacity. */
  waitListSize: int64,
  /** Configured maximum of concurrently running messages; missing when no parallelism is set. */
  parallelismMax: int64,
  /** Messages running now. */
  parallelismCount: int64,
  /** Configured maximum of messages in a rate period; missing when no rate is set. */
  rateMax: int64,
  /** Messages dispatched in the current rate period. */
  rateCount: int64,
  /** Seconds, length of the rate period (at most a week). */
  ratePeriod: int64,
  /** Unix time (seconds) at which the current rate period began. */
  ratePeriodStart: int64,
  /** Whether delivery is paused; missing where the platform does not tell. */
  isPaused: flag,
  /** Whether the parallelism was pinned by hand; missing where the platform does not tell. */
  isPinnedParallelism: flag,
  /** Whether the rate was pinned by hand; missing where the platform does not tell. */
  isPinnedRate: flag,
};

/** The counters that a platform leaves out when they are 0. */
type Counter = "waitListSize" | "parallelismCount" | "rateCount";

/** The state of one flow-control key. Counters that the platform leaves out are 0. */
export type FlowControlKey = RecordOf<Omit<typeof flowControlFields, "flowControlKey" | Counter>> & {
  /** The key. */
  readonly flowControlKey: string;
  /** Whether the platform holds any state for the key. */
  readonly exists: boolean;
} & { readonly [K in Counter]: number };

/** The state of a key from what was read of it; nothing read is a key that the platform does not know. */
export function flowControlKeyFrom(
  flowControlKey: string,
  read: RecordOf<typeof flowControlFields> | undefined,
): FlowControlKey {
  return {
    waitListSize: 0,
    parallelismCount: 0,
    rateCount: 0,
    ...read,
    flowControlKey,
    exists: read !== undefined,
  };
}

/**
 * What the platform tells of all messages together. Newer platforms send the two counts, older ones the wait list
 * alone.
 *
 * @see Interface, section 2.3 and 4.4
 */
export const globalParallelismFields = {
  /** Maximum of messages running at the same time, over all keys. */
  parallelismMax: int64,
  /** Messages running now, over all keys. */
  parallelismCount: int64,
  /** Messages waiting; sent by older platforms only, and then alone. */
  waitListSize: int64,
};

/** How many messages run, and may run, over all keys. */
export type GlobalParallelism = RecordOf<typeof globalParallelismFields>;
