import { type Database, type Databases } from "../databases";
import { type FlowControlRecord, type GlobalParallelism } from "../flowControl";
import { type MessageQueue } from "../queue/messageQueue";
import { type PlatformRequest, type RequestLog } from "../requests";

/** The data of the console. Its size is bounded, and it contains no passwords or tokens. */
export interface Snapshot {
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly flowControlKeys: Shown<FlowControlRecord> & { readonly waiting: number; readonly running: number };
  readonly globalParallelism: GlobalParallelism;
  readonly databases: Shown<Pick<Database, "resets" | "generation" | "lastResetAt"> & { readonly id: string }>;
  /** Newest first. */
  readonly requests: readonly PlatformRequest[];
}

/** The most relevant items, sorted by name. */
interface Shown<T> {
  readonly count: number;
  /** How many match the search. */
  readonly found: number;
  readonly shown: readonly T[];
}

/** Maximum number of rows of a table. */
export const mostRows = 50;
/** Maximum length of a path. Node only limits it with the size of the headers. */
const longestPath = 200;

export interface Sources {
  readonly databases: Databases;
  readonly queue: MessageQueue;
  readonly requests: RequestLog;
}

/** @param search part of the names of keys and databases, case-insensitive */
export function snapshot({ databases, queue, requests }: Sources, search: string): Snapshot {
  const keys = queue.flowControlKeys();
  const sum = (counter: "waitListSize" | "parallelismCount") =>
    keys.reduce((total, { [counter]: value = 0 }) => total + value, 0);
  const stateOf = ([id, { resets, generation, lastResetAt }]: [string, Database]) => {
    return { id, resets, generation, lastResetAt };
  };
  return {
    time: queue.now,
    flowControlKeys: {
      waiting: sum("waitListSize"),
      running: sum("parallelismCount"),
      ...top(keys, search, ({ flowControlKey }) => flowControlKey, busiestFirst),
    },
    globalParallelism: queue.globalParallelism,
    databases: top([...databases.all].map(stateOf), search, ({ id }) => id, newestResetFirst),
    requests: requests.all
      .slice(-mostRows)
      .reverse()
      .map((request) => ({ ...request, path: request.path.slice(0, longestPath) })),
  };
}

/** The first items by `order`, then sorted by name, so that rows and their buttons do not change places. */
function top<T>(all: T[], search: string, nameOf: (item: T) => string, order: (a: T, b: T) => number): Shown<T> {
  const text = search.toLowerCase();
  const found = all.filter((item) => nameOf(item).toLowerCase().includes(text));
  const shown = found.sort(order).slice(0, mostRows);
  return { count: all.length, found: found.length, shown: shown.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) };
}

function busiestFirst(a: FlowControlRecord, b: FlowControlRecord): number {
  const difference = (counter: "waitListSize" | "parallelismCount" | "rateCount") =>
    (b[counter] ?? 0) - (a[counter] ?? 0);
  return difference("waitListSize") || difference("parallelismCount") || difference("rateCount");
}

function newestResetFirst(a: Pick<Database, "lastResetAt">, b: Pick<Database, "lastResetAt">): number {
  return (b.lastResetAt ?? "").localeCompare(a.lastResetAt ?? "");
}
