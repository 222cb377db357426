import { flag, int64, text, type RecordOf } from "./fields";

/**
 * The state of a flow-control key, as the platform returns it.
 *
 * @see docs/interface.md#the-flow-control-record
 */
export const flowControlFields = {
  /** The key. */
  flowControlKey: text,
  /** Messages waiting for parallelism or rate capacity. */
  waitListSize: int64,
  /** Configured maximum of concurrently running messages; undefined if no parallelism is set. */
  parallelismMax: int64,
  /** Messages running now. */
  parallelismCount: int64,
  /** Configured maximum of messages in a rate period; undefined if no rate is set. */
  rateMax: int64,
  /** Messages dispatched in the current rate period. */
  rateCount: int64,
  /** Seconds, length of the rate period (at most a week). */
  ratePeriod: int64,
  /** Unix time (seconds) at which the current rate period began. */
  ratePeriodStart: int64,
  /** True if delivery is paused; undefined if the platform does not return it. */
  isPaused: flag,
  /** True if the parallelism was pinned manually; undefined if the platform does not return it. */
  isPinnedParallelism: flag,
  /** True if the rate was pinned manually; undefined if the platform does not return it. */
  isPinnedRate: flag,
};

/** The counters that a platform may leave out if they are 0. */
type Counter = "waitListSize" | "parallelismCount" | "rateCount";

/** The state of one flow-control key. Counters that the platform leaves out are 0. */
export type FlowControlKey = RecordOf<Omit<typeof flowControlFields, "flowControlKey" | Counter>> &
  Required<RecordOf<Pick<typeof flowControlFields, Counter>>> & {
    /** The key. */
    readonly flowControlKey: string;
    /** True if the platform has any state for the key. */
    readonly exists: boolean;
  };

/** The state of a key from its record; undefined for a key that is unknown to the platform. */
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
 * The parallelism across all keys. Newer platforms return the two counts, older ones only the wait list.
 *
 * @see docs/interface.md#read-the-global-parallelism
 */
export const globalParallelismFields = {
  /** Maximum of messages running at the same time, across all keys. */
  parallelismMax: int64,
  /** Messages running now, across all keys. */
  parallelismCount: int64,
  /** Messages waiting; only older platforms return it. */
  waitListSize: int64,
};

/** How many messages are running, and how many may run, across all keys. */
export type GlobalParallelism = RecordOf<typeof globalParallelismFields>;
