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
class Turn {
  readonly keys = new Map<string, Promise<FlowControlKey>>();
  readonly lists = new Map<string | undefined, Promise<FlowControlKey[]>>();
  globalParallelism: Promise<GlobalParallelism> | undefined;
  listed: Promise<ReadonlyMap<string, FlowControlKey | undefined>> | undefined;

  constructor(readonly end: Promise<void>) {}
}

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
    return shared(turn.keys, key, () => this.#get(turn, key));
  }

  /** As `FlowControl.list`. */
  list(search?: string): Promise<FlowControlKey[]> {
    return this.#list(this.#currentTurn(), search);
  }

  /** As `FlowControl.globalParallelism`. */
  globalParallelism(): Promise<GlobalParallelism> {
    const turn = this.#currentTurn();
    return (turn.globalParallelism ??= turn.end.then(() => this.flowControl.globalParallelism()));
  }

  async #get(turn: Turn, key: string): Promise<FlowControlKey> {
    await turn.end;
    // A list that is read anyway contains the key too.
    const worthwhile = turn.keys.size > maxSingleReads || turn.lists.has(undefined);
    const listed = worthwhile ? await (turn.listed ??= this.#listed(turn)) : undefined;
    return listed?.get(key) ?? this.flowControl.get(key);
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
    return shared(turn.lists, search, () => turn.end.then(() => this.flowControl.list(search)));
  }

  #currentTurn(): Turn {
    return (this.#turn ??= new Turn(
      new Promise((resolve) => {
        setImmediate(() => {
          this.#turn = undefined;
          resolve();
        });
      }),
    ));
  }
}

function shared<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
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
