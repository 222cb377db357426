import { type Database, type Databases } from "../databases";
import { type FlowControlRecord, type GlobalParallelism } from "../flowControl";
import { type MessageQueue } from "../queue/messageQueue";
import { type PlatformRequest, type RequestLog } from "../requests";

/** What the console shows. However much the platform has, it is of a bounded size, and holds no password or token. */
export interface Snapshot {
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly flowControlKeys: Shown<FlowControlRecord> & { readonly waiting: number; readonly running: number };
  readonly globalParallelism: GlobalParallelism;
  readonly databases: Shown<Pick<Database, "resets" | "generation" | "lastResetAt"> & { readonly id: string }>;
  /** The newest first. */
  readonly requests: readonly PlatformRequest[];
}

/** Those of many that are worth a look, sorted by name. */
interface Shown<T> {
  readonly count: number;
  /** How many the search finds. */
  readonly found: number;
  readonly shown: readonly T[];
}

/** Most rows of one kind. */
export const mostRows = 50;
/** A path may be as long as the headers of a request. */
const longestPath = 200;

export interface Sources {
  readonly databases: Databases;
  readonly queue: MessageQueue;
  readonly requests: RequestLog;
}

/** @param search part of the names of keys and databases, in any case */
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

/** Sorted by name in the end: rows that change places while somebody aims at a button are worse than any order. */
function top<T>(all: T[], search: string, nameOf: (item: T) => string, order: (a: T, b: T) => number): Shown<T> {
  const wanted = search.toLowerCase();
  const found = all.filter((item) => nameOf(item).toLowerCase().includes(wanted));
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
