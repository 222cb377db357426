import { type HttpRequester, fillPath, tokenService } from "../../provider/platform/http";
import { RejectedError } from "../../provider/platform/errors";
import { isObject } from "../../provider/records/fields";
import { tryReadJson } from "../../provider/records/response";
import { describeError, type Observer } from "./observe";

const none = "Nothing was changed.";
const consequences = { "not sent": none, rejected: none, "maybe applied": "The key may have been changed." };
const counters = ["waitListSize", "parallelismCount", "rateCount"];
const flags = ["isPaused", "isPinnedParallelism", "isPinnedRate"];

type Json = Readonly<Record<string, unknown>>;

/** Resets a flow-control key once. One without state is pinned first, and unpinned at the end. */
export async function resetKeyOnce(observer: Observer, key: string): Promise<void> {
  const { settings } = observer;
  const service = tokenService("queue", settings.require("queueUrl"), settings.require("queueToken"));
  const requester = observer.requesterTo(service);
  const operation = { read: () => readKey(requester, key), post: postTo(requester, key) };
  const before = await operation.read();
  let record = "record" in before ? before.record : undefined;
  if (record === undefined) {
    observer.note("key: the response to a read of a key without state", describe(before));
    observer.note("key: the response to `pin` of it", await operation.post("pin", { parallelism: "1" }));
    const pinned = await operation.read();
    record = "record" in pinned ? pinned.record : undefined;
    observer.note("key: does a pin create a key?", record ? "yes" : `no, or not yet: a read gets ${describe(pinned)}`);
  } else {
    observer.note("key: does a pin create a key?", "not known: the key already had state");
  }
  try {
    await reset(observer, operation, record);
    await search(observer, requester, key, record !== undefined);
  } finally {
    if (!("record" in before)) {
      observer.note("key: the response to `unpin`", await operation.post("unpin", { parallelism: "true" }));
    }
  }
}

interface Operation {
  readonly read: () => Promise<Read>;
  readonly post: ReturnType<typeof postTo>;
}

async function reset(observer: Observer, { read, post }: Operation, record: Json | undefined): Promise<void> {
  if (record) {
    observer.note("key: counters and flags that a read sends", sentIn(record, [...counters, ...flags]));
    observer.note("key: and those that are 0 or `false`", zerosIn(record));
  }
  const response = await post("reset");
  const isMissing = /^40[45]\b/.test(response);
  observer.note("key: the response to `reset`", response);
  if (isMissing && record) observer.note("key: the response to `resetRate`", await post("resetRate"));
  const after = await read();
  if ("record" in after) observer.note("key: counters right after the reset", valuesIn(after.record));
}

async function search(observer: Observer, requester: HttpRequester, key: string, exists: boolean): Promise<void> {
  const parallelism = await readJson(requester, "/v2/globalParallelism");
  const sent = isObject(parallelism) ? Object.keys(parallelism).filter((name) => /^[a-zA-Z]+$/.test(name)) : [];
  observer.note("queue: fields of the global parallelism", sent.map((name) => `\`${name}\``).join(", ") || "none");
  const part = key.slice(1) || key;
  const list = await readJson(requester, "/v2/flowControl", { search: part });
  const names = Array.isArray(list)
    ? list.map((one) => (isObject(one) ? one["flowControlKey"] : undefined))
    : undefined;
  if (names === undefined) return observer.note("queue: the list of keys", "not an array");
  const isFiltered = names.every((name) => typeof name === "string" && name.includes(part));
  const isFound = names.includes(key);
  const found = isFound ? "finds the key" : exists ? "does not find the key" : "finds nothing: the key has no state";
  observer.note(
    "queue: a search for a part of the key",
    `${found}${isFiltered ? "" : ", and others without that part"}`,
  );
}

type Read = { readonly record: Json } | { readonly error: unknown };

async function readKey(requester: HttpRequester, flowControlKey: string): Promise<Read> {
  const path = fillPath("/v2/flowControl/{flowControlKey}", { flowControlKey });
  try {
    const json = await readJson(requester, path);
    return isObject(json) ? { record: json } : { error: undefined };
  } catch (error) {
    // Without these credentials, or without a connection, nothing else works.
    if (error instanceof RejectedError && error.status === 404) return { error };
    throw error;
  }
}

function describe(read: Read): string {
  if ("record" in read) return "200";
  return read.error === undefined ? "200 without a JSON object" : describeError(read.error);
}

async function readJson(requester: HttpRequester, path: string, query = {}): Promise<unknown> {
  const request = { method: "GET", path, query, idempotent: true, purpose: "read flow control", consequences } as const;
  return tryReadJson((await requester.send(request)).body)?.value;
}

function postTo(requester: HttpRequester, flowControlKey: string) {
  return async (action: string, query: Readonly<Record<string, string>> = {}): Promise<string> => {
    const path = fillPath("/v2/flowControl/{flowControlKey}/{action}", { flowControlKey, action });
    try {
      const { status } = await requester.send({ method: "POST", path, query, purpose: action, consequences });
      return String(status);
    } catch (error) {
      return describeError(error);
    }
  };
}

function sentIn(record: Json, names: readonly string[]): string {
  return (
    names
      .filter((name) => name in record)
      .map((name) => `\`${name}\``)
      .join(", ") || "none"
  );
}

function zerosIn(record: Json): string {
  return sentIn(Object.fromEntries(Object.entries(record).filter(([, value]) => value === 0 || value === false)), [
    ...counters,
    ...flags,
  ]);
}

function valuesIn(record: Json): string {
  return counters
    .map((name) => `\`${name}\` ${typeof record[name] === "number" ? record[name] : "missing"}`)
    .join(", ");
}
