import { type FlowControlKey, type GlobalParallelism } from "../records/flowControl";
import { RequestError } from "../platform/errors";
import { type FlowControl } from "../platform/flowControl";
import { pathPartProblem } from "../records/fields";

/**
 * Keys that are read one by one; more are read by one list. By default this many requests run at once, so they take no
 * longer than the list, and do not fetch other keys.
 */
export const maxSingleReads = 8;

/** The reads that are started in one turn of the event loop. */
interface Turn {
  readonly end: Promise<void>;
  readonly keys: Set<string>;
  /** By what is read. */
  readonly reads: Map<string, Promise<unknown>>;
}

const everything = "list";

/**
 * Reads of the queue that share their requests within one turn of the event loop. Nothing is sent before the turn ends,
 * and nothing is kept after it: a read that is started after a reset is sent after it.
 */
export class SharedReads {
  #turn: Turn | undefined;

  constructor(private readonly flowControl: FlowControl) {}

  /** As `FlowControl.get`: the same key once, and many keys by one list. */
  get(key: string): Promise<FlowControlKey> {
    const turn = this.#currentTurn();
    turn.keys.add(key);
    return once(turn, `key ${key}`, async () => {
      // A list that is read anyway contains the key too.
      const worthwhile = turn.keys.size > maxSingleReads || turn.reads.has(everything);
      const listed = worthwhile ? await once(turn, "list by key", () => this.#listed(turn)) : undefined;
      return listed?.get(key) ?? this.flowControl.get(key);
    });
  }

  /** As `FlowControl.list`. */
  list(search?: string): Promise<FlowControlKey[]> {
    return this.#list(this.#currentTurn(), search);
  }

  /** As `FlowControl.globalParallelism`. */
  globalParallelism(): Promise<GlobalParallelism> {
    return once(this.#currentTurn(), "global parallelism", () => this.flowControl.globalParallelism());
  }

  /** The records of the list by key; empty if the list could not be read. */
  async #listed(turn: Turn): Promise<ReadonlyMap<string, FlowControlKey | undefined>> {
    try {
      return byKey(await this.#list(turn));
    } catch (error) {
      // The single reads report the failure for each key.
      if (error instanceof RequestError) return new Map();
      throw error;
    }
  }

  #list(turn: Turn, search?: string): Promise<FlowControlKey[]> {
    const name = search === undefined ? everything : `search ${search}`;
    return once(turn, name, () => this.flowControl.list(search));
  }

  #currentTurn(): Turn {
    const end = () => new Promise<void>((resolve) => setImmediate(() => resolve((this.#turn = undefined))));
    return (this.#turn ??= { end: end(), keys: new Set(), reads: new Map() });
  }
}

function once<T>({ end, reads }: Turn, name: string, read: () => Promise<T>): Promise<T> {
  const result = (reads.get(name) as Promise<T> | undefined) ?? end.then(read);
  reads.set(name, result);
  return result;
}

/** The records by key; undefined for a key that is listed twice, or that a single read would refuse. */
function byKey(entries: readonly FlowControlKey[]): ReadonlyMap<string, FlowControlKey | undefined> {
  const found = new Map<string, FlowControlKey | undefined>();
  for (const entry of entries) {
    const { flowControlKey: key } = entry;
    const usable = !found.has(key) && pathPartProblem(key) === undefined;
    found.set(key, usable ? entry : undefined);
  }
  return found;
}
