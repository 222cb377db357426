import { type Fields, isObject, type RecordOf } from "../records/fields";
import {
  flowControlFields,
  type FlowControlKey,
  flowControlKeyFrom,
  type GlobalParallelism,
  globalParallelismFields,
} from "../records/flowControl";
import { readRecord, tryReadJson } from "../records/response";
import { type RequestFacts } from "./errors";
import { isNotFound, isRejected, unusable } from "./failures";
import { type ApiRequest, type ApiResponse, type Requester, fillPath } from "./http";

const maxListBytes = 16 * 1024 * 1024;

/** One request that changes what limits a key. */
export interface KeyOperation {
  readonly action: "pause" | "resume" | "pin" | "unpin";
  readonly query: Readonly<Record<string, string>>;
}

/** What a run knows of its queue. */
export interface Queue {
  /** The last part of the path of a reset. */
  resetAction: string;
  /** What takes its place from then on if the platform does not have it. */
  readonly otherAction?: string | undefined;
  /** Whether it has responded with 2xx, with the same token at the same address. */
  hasResponded?: boolean;
  /** A request that is under way to find out. */
  proof?: Promise<unknown> | undefined;
}

/** The message queue's flow-control operations. */
export class FlowControl {
  /** @param queue shared by all requests of a run */
  constructor(
    private readonly requester: Requester,
    private readonly queue: Queue,
  ) {}

  /**
   * The keys that have state, filtered by `search` if it is set.
   *
   * @see docs/interface.md#list-flow-control-keys
   */
  async list(search?: string): Promise<FlowControlKey[]> {
    const response = await this.#read({
      method: "GET",
      path: "/v2/flowControl",
      ...(search !== undefined && { query: { search } }),
      maxBytes: maxListBytes,
      purpose: "list the flow-control keys",
    });
    const value = jsonOf(response);
    // Servers in Go send null for an empty list.
    const sent = isObject(value) ? value["flowControls"] : value;
    const list = sent === null ? [] : sent;
    if (!Array.isArray(list)) throw unusable(response, "is not a list of flow-control keys");
    return list.map((one: unknown) => keyIn(response, one));
  }

  /**
   * The state of one key. A key that is unknown to the platform has `exists: false`.
   *
   * @throws RequestError for 404 if the queue does not respond with 2xx to anything else
   * @see docs/interface.md#read-a-flow-control-key
   */
  async get(flowControlKey: string): Promise<FlowControlKey> {
    const path = fillPath("/v2/flowControl/{flowControlKey}", { flowControlKey });
    const purpose = `read the flow-control key ${JSON.stringify(flowControlKey)}`;
    const toCheck = ["the key", "the region of the token"];
    let response: ApiResponse;
    try {
      response = await this.#read({ method: "GET", path, purpose, toCheck });
    } catch (error) {
      // A 404 from the platform means that the key has no state; one from a proxy or a wrong address does not.
      const isGone = isRejected(error) && error.status === 404 && error.isJson && (await this.#isRightQueue());
      if (isGone) return flowControlKeyFrom(flowControlKey, undefined);
      throw error;
    }
    const record = keyIn(response, jsonOf(response));
    if (record.flowControlKey !== flowControlKey) throw unusable(response, "is the record of another key");
    response.connection.isRecognized = true;
    return record;
  }

  /**
   * Resets the counters of a key, so that waiting messages can be delivered at once. It is idempotent.
   *
   * @param isKnown whether a read has just shown the key, so that 404 means that the platform does not have the action
   * @returns the action that reset it
   * @see docs/interface.md#reset-a-flow-control-key
   */
  async reset(flowControlKey: string, isKnown: boolean): Promise<string> {
    const { resetAction, otherAction } = this.queue;
    const resetBy = (action: string) =>
      this.#post(flowControlKey, action, {
        purpose: `reset the counters of the flow-control key ${JSON.stringify(flowControlKey)}`,
        toCheck: ["the key", "rekey:flowControlResetAction"],
        consequences: {
          unchanged: "The counters were not reset.",
          unknown: "The counters may have been reset; resetting them again does no harm.",
        },
      });
    try {
      await resetBy(resetAction);
      return resetAction;
    } catch (error) {
      if (!isNotFound(error) || !isKnown || otherAction === undefined || resetAction === otherAction) throw error;
      await resetBy(otherAction);
      return (this.queue.resetAction = otherAction);
    }
  }

  /**
   * Changes what limits a key. It is idempotent.
   *
   * @see docs/interface.md#limit-a-flow-control-key
   */
  change(
    flowControlKey: string,
    { action, query }: KeyOperation,
    consequences: RequestFacts["consequences"],
  ): Promise<void> {
    const purpose = `${action} the flow-control key ${JSON.stringify(flowControlKey)}`;
    const toCheck = ["the key, which may be unknown before its first message"];
    return this.#post(flowControlKey, action, { query, purpose, toCheck, consequences });
  }

  /**
   * How many messages are running, and how many may run, across all keys. A missing count is 0, because Upstash omits
   * zeros. Older platforms return `waitListSize` only.
   *
   * @see docs/interface.md#read-the-global-parallelism
   */
  async globalParallelism(): Promise<GlobalParallelism> {
    const purpose = "read the global parallelism";
    const response = await this.#read({ method: "GET", path: "/v2/globalParallelism", purpose });
    const sent = jsonOf(response);
    const record = recordOf(response, globalParallelismFields, sent);
    if (record.waitListSize !== undefined) return record;
    const isOther = Object.keys(record).length === 0 && Object.keys(sent as object).length > 0;
    if (isOther) throw unusable(response, "contains neither counts nor a wait list");
    return { parallelismMax: 0, parallelismCount: 0, ...record };
  }

  /** The queue of another region responds with 404 to everything. */
  async #isRightQueue(): Promise<boolean> {
    const { queue } = this;
    if (!queue.hasResponded) {
      await (queue.proof ??= this.globalParallelism()).catch(() => (queue.proof = undefined));
    }
    return queue.hasResponded ?? false;
  }

  async #post(
    flowControlKey: string,
    action: string,
    request: Pick<RequestFacts, "purpose" | "consequences" | "toCheck"> & Pick<ApiRequest, "query">,
  ): Promise<void> {
    const path = fillPath("/v2/flowControl/{flowControlKey}/{action}", { flowControlKey, action });
    const response = await this.#send({ method: "POST", path, idempotent: true, ...request });
    response.connection.isRecognized = true;
  }

  async #read(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.#send(request);
    if (response.status !== 200) throw unusable(response, "does not have status 200");
    return response;
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.requester.send(request);
    this.queue.hasResponded = true;
    return response;
  }
}

function jsonOf(response: ApiResponse): unknown {
  const json = tryReadJson(response.body);
  if (!json) throw unusable(response, "is not JSON");
  return json.value;
}

function keyIn(response: ApiResponse, sent: unknown): FlowControlKey {
  const record = recordOf(response, flowControlFields, sent);
  if (record.flowControlKey === undefined) throw unusable(response, "contains a record without flowControlKey");
  return flowControlKeyFrom(record.flowControlKey, record);
}

/** Reads a record strictly: an unreadable counter must not be shown as a wrong value. */
function recordOf<F extends Fields>(response: ApiResponse, fields: F, sent: unknown): RecordOf<F> {
  if (!isObject(sent)) throw unusable(response, "is not a record");
  const { record, problems, exactIntegers } = readRecord(fields, inOneSpelling(sent));
  const inexact = Object.keys(exactIntegers).map((name) => `${name}: larger than a number can represent`);
  if (problems.length + inexact.length > 0) {
    throw unusable(response, `has unreadable fields (${[...problems, ...inexact].join("; ")})`);
  }
  return record;
}

/** Some platforms spell the field differently. */
function inOneSpelling({ waitlistSize, ...sent }: Record<string, unknown>): Record<string, unknown> {
  return waitlistSize === undefined ? sent : { waitListSize: waitlistSize, ...sent };
}
