/**
 * A flow-control key. Counters that are left out are 0; `parallelismMax` and the three settings of the rate are left out where the key has
 * no such limit.
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
  /** Length of the rate period, in seconds; at most a week. */
  readonly ratePeriod?: number | undefined;
  /** When the current rate period began, Unix time in seconds. */
  readonly ratePeriodStart?: number | undefined;
}

/** Messages that may run, and that do run, over all keys (interface, section 2.3). */
export interface GlobalParallelism {
  readonly parallelismMax: number;
  readonly parallelismCount: number;
}

/** The flow-control keys and their counters, in memory. */
export class FlowControl {
  readonly #initial: readonly FlowControlRecord[];
  readonly #keys = new Map<string, FlowControlRecord>();

  constructor(initial: readonly FlowControlRecord[]) {
    this.#initial = initial;
    this.restore();
  }

  get all(): ReadonlyMap<string, FlowControlRecord> {
    return this.#keys;
  }

  /** Keys whose name contains `text`: how a search matches is not shown in the document. */
  search(text: string): FlowControlRecord[] {
    return [...this.#keys.values()].filter(({ flowControlKey }) => flowControlKey.includes(text));
  }

  /** Adds the key, or replaces all that is known of it. */
  set(record: FlowControlRecord): void {
    this.#keys.set(record.flowControlKey, record);
  }

  /** Clears the rate counter, and the parallelism counter unless `rateOnly`. `false`: there is no such key. */
  resetCounters(key: string, { rateOnly }: { rateOnly: boolean }): boolean {
    const record = this.#keys.get(key);
    if (record === undefined) {
      return false;
    }
    const hasRate = record.rateMax !== undefined || record.ratePeriodStart !== undefined;
    this.#keys.set(key, {
      ...record,
      ...(rateOnly ? {} : { parallelismCount: 0 }),
      rateCount: 0,
      ...(hasRate ? { ratePeriodStart: unixTime() } : {}),
    });
    return true;
  }

  /** The sum of what runs, over all keys. */
  get parallelismCount(): number {
    return [...this.#keys.values()].reduce((sum, { parallelismCount = 0 }) => sum + parallelismCount, 0);
  }

  /** Back to the keys of the start. */
  restore(): void {
    this.#keys.clear();
    for (const record of this.#initial) {
      this.set(record);
    }
  }
}

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
    ratePeriodStart: unixTime(),
  };
}

function unixTime(): number {
  return Math.floor(Date.now() / 1000);
}
