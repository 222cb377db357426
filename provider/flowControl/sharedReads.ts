import { type FlowControlKey, type GlobalParallelism } from "../records/flowControl";
import { RequestError } from "../domain/errors";
import { type FlowControl } from "../platform/flowControl";

/**
 * Keys that are read one by one; more are read by one list. By default this many requests run at once, so they take no
 * longer than the list, and do not fetch other keys.
 */
export const maxSingleReads = 8;

/** The reads that are started in one turn of the event loop, by what is read. */
interface Turn {
  readonly end: Promise<void>;
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
    return readOnce(turn, `key ${key}`, async () => {
      // A list that is read anyway contains the key too.
      const worthwhile = turn.reads.size > maxSingleReads || turn.reads.has(everything);
      const listed = worthwhile
        ? await readOnce(turn, "list by key", () => this.#byKey(turn))
        : undefined;
      return listed?.get(key) ?? this.flowControl.get(key);
    });
  }

  /** As `FlowControl.list`. */
  list(search?: string): Promise<FlowControlKey[]> {
    return this.#list(this.#currentTurn(), search);
  }

  /** As `FlowControl.globalParallelism`. */
  globalParallelism(): Promise<GlobalParallelism> {
    return readOnce(this.#currentTurn(), "global parallelism", () =>
      this.flowControl.globalParallelism(),
    );
  }

  /** The records of the list. Empty if it could not be read: the single reads report the failure for each key. */
  async #byKey(turn: Turn): Promise<ReadonlyMap<string, FlowControlKey>> {
    try {
      return new Map((await this.#list(turn)).map((one) => [one.flowControlKey, one]));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return new Map();
    }
  }

  #list(turn: Turn, search?: string): Promise<FlowControlKey[]> {
    const name = search === undefined ? everything : `search ${search}`;
    return readOnce(turn, name, () => this.flowControl.list(search));
  }

  #currentTurn(): Turn {
    const end = () =>
      new Promise<void>((resolve) => setImmediate(() => resolve((this.#turn = undefined))));
    return (this.#turn ??= { end: end(), reads: new Map() });
  }
}

function readOnce<T>({ end, reads }: Turn, name: string, read: () => Promise<T>): Promise<T> {
  const result = (reads.get(name) as Promise<T> | undefined) ?? end.then(read);
  reads.set(name, result);
  return result;
}
