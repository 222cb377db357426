import { type Fields, type RecordOf, readRecord, isObject } from "../records/fields";
import {
  flowControlFields,
  type FlowControlKey,
  flowControlKeyFrom,
  type GlobalParallelism,
  globalParallelismFields,
} from "../records/flowControl";
import { RejectedError, RequestError, type RequestFacts, UnreadableError } from "./errors";
import { isNotFound, unreadable } from "./failures";
import { type ApiRequest, type ApiResponse, type Requester, fillPath } from "./http";
import { tryReadJson } from "../records/response";

/** A small request that every queue responds to. */
const readGlobalParallelism: ApiRequest = {
  method: "GET",
  path: "/v2/globalParallelism",
  purpose: "read the global parallelism",
};

const maxListBytes = 16 * 1024 * 1024;
/** Unreadable records that make a list unreadable: an error for each of millions would stop the process. */
const maxUnreadable = 100;

/** A record of the list, or the error if it cannot be read. */
export type ListEntry = FlowControlKey | UnreadableError;

/** @throws UnreadableError for the first record that cannot be read. */
export function allReadable(entries: readonly ListEntry[]): FlowControlKey[] {
  return entries.map((entry) => {
    if (entry instanceof UnreadableError) throw entry;
    return entry;
  });
}

/** One request that changes what limits a key. */
export interface KeyOperation {
  readonly action: "pause" | "resume" | "pin" | "unpin";
  readonly query: Readonly<Record<string, string>>;
}

/** The last part of the path of a reset. */
export interface ResetAction {
  name: string;
  /** What takes its place from then on if the platform does not have it. */
  readonly otherwise?: string | undefined;
}

/** Whether the queue has responded with 2xx to a request of this run, with the same token at the same address. */
export interface QueueResponses {
  hasResponded?: boolean;
  /** A request that is under way to find out. */
  proof?: Promise<unknown> | undefined;
}

/** The message queue's flow-control operations. */
export class FlowControl {
  /**
   * @param resetAction changed once the platform does not have it
   * @param responses shared by all requests of a run
   */
  constructor(
    private readonly requester: Requester,
    private readonly resetAction: ResetAction,
    private readonly responses: QueueResponses = {},
  ) {}

  /**
   * The keys that have state, filtered by `search` if it is set. A record that cannot be read is an error in the list.
   *
   * @see docs/interface.md#list-flow-control-keys
   */
  async list(search?: string): Promise<ListEntry[]> {
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
    if (!Array.isArray(list)) throw unreadable(response, "is not a list of flow-control keys");
    let unreadableCount = 0;
    return list.map((one: unknown) => {
      const entry = entryOf(response, one);
      if (entry instanceof UnreadableError && ++unreadableCount === maxUnreadable) throw entry;
      return entry;
    });
  }

  /**
   * The state of one key. A key that is unknown to the platform has `exists: false`.
   *
   * @throws RejectedError for 404 if the queue does not respond with 2xx to anything else
   *
   * @see docs/interface.md#read-a-flow-control-key
   */
  async get(flowControlKey: string): Promise<FlowControlKey> {
    const path = fillPath("/v2/flowControl/{flowControlKey}", { flowControlKey });
    const purpose = `read the flow-control key ${JSON.stringify(flowControlKey)}`;
    let response: ApiResponse;
    try {
      response = await this.#read({ method: "GET", path, purpose });
    } catch (error) {
      // A 404 from the platform means that the key has no state; one from a proxy or a wrong address does not.
      if (error instanceof RejectedError && error.status === 404 && error.inJson) {
        await this.#requireResponse(error);
        return flowControlKeyFrom(flowControlKey, undefined);
      }
      throw error;
    }
    const record = recordOf(response, flowControlFields, jsonOf(response));
    if (record.flowControlKey === undefined) throw unreadable(response, "is a record without flowControlKey");
    if (record.flowControlKey !== flowControlKey) throw unreadable(response, "is the record of another key");
    response.recognize();
    return flowControlKeyFrom(flowControlKey, record);
  }

  /**
   * Resets the counters of a key, so that waiting messages can be delivered at once. It is idempotent.
   *
   * @param isKnown whether a read has just shown the key, so that 404 means that the platform does not have the action
   * @returns the action that reset it
   * @see docs/interface.md#reset-a-flow-control-key
   */
  async reset(flowControlKey: string, isKnown: boolean): Promise<string> {
    const { name, otherwise } = this.resetAction;
    try {
      await this.#reset(flowControlKey, name);
      return name;
    } catch (error) {
      if (!isNotFound(error) || !isKnown || otherwise === undefined || name === otherwise) throw error;
      await this.#reset(flowControlKey, otherwise);
      this.resetAction.name = otherwise;
      return otherwise;
    }
  }

  /** @throws RejectedError unless it is the right queue: one of another region responds with 404 to everything */
  async #requireResponse(error: RejectedError): Promise<void> {
    const { responses } = this;
    if (responses.hasResponded) return;
    try {
      await (responses.proof ??= this.#send(readGlobalParallelism));
    } catch (failed) {
      responses.proof = undefined;
      if (!(failed instanceof RequestError)) throw failed;
      const happened = `${error.happened}. It has responded to no request of this run with 2xx, and may be the queue of another region (${failed.happened})`;
      const advice = `${error.advice} The address and the token must be those of the same region.`;
      throw error.explained({ happened, advice });
    }
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.requester.send(request);
    this.responses.hasResponded = true;
    return response;
  }

  async #reset(flowControlKey: string, action: string): Promise<void> {
    await this.#post(flowControlKey, action, {
      purpose: `reset the counters of the flow-control key ${JSON.stringify(flowControlKey)}`,
      consequences: {
        "not sent": "The counters were not reset.",
        rejected: "The counters were not reset.",
        "maybe applied": "The counters may have been reset; resetting them again does no harm.",
      },
    });
  }

  async #post(
    flowControlKey: string,
    action: string,
    request: Pick<RequestFacts, "purpose" | "consequences"> & Pick<ApiRequest, "query">,
  ): Promise<void> {
    const path = fillPath("/v2/flowControl/{flowControlKey}/{action}", { flowControlKey, action });
    (await this.#send({ method: "POST", path, idempotent: true, ...request })).recognize();
  }

  /**
   * Changes what limits a key. It is idempotent.
   *
   * @throws RejectedError, for 404 and 405 with the reasons that it may have
   * @see docs/interface.md#limit-a-flow-control-key
   */
  async change(
    flowControlKey: string,
    { action, query }: KeyOperation,
    consequences: RequestFacts["consequences"],
  ): Promise<void> {
    const purpose = `${action} the flow-control key ${JSON.stringify(flowControlKey)}`;
    try {
      await this.#post(flowControlKey, action, { query, purpose, consequences });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const happened = `${error.happened}; it does not have the operation \`${action}\`, or does not know the key before its first message`;
      throw error.explained({ happened, advice: error.advice });
    }
  }

  /**
   * How many messages are running, and how many may run, across all keys. A missing count is 0, because Upstash omits
   * zeros. Older platforms return `waitListSize` only.
   *
   * @see docs/interface.md#read-the-global-parallelism
   */
  async globalParallelism(): Promise<GlobalParallelism> {
    const response = await this.#read(readGlobalParallelism);
    const sent = jsonOf(response);
    const record = recordOf(response, globalParallelismFields, sent);
    if (record.waitListSize !== undefined) return record;
    const isOther = Object.keys(record).length === 0 && Object.keys(sent as object).length > 0;
    if (isOther) throw unreadable(response, "contains neither counts nor a wait list");
    return { parallelismMax: 0, parallelismCount: 0, ...record };
  }

  async #read(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.#send(request);
    if (response.status !== 200) throw unreadable(response, "does not have status 200");
    return response;
  }
}

function jsonOf(response: ApiResponse): unknown {
  const json = tryReadJson(response.body);
  if (!json) throw unreadable(response, "is not JSON");
  return json.value;
}

function entryOf(response: ApiResponse, sent: unknown): ListEntry {
  try {
    const record = recordOf(response, flowControlFields, sent);
    if (record.flowControlKey === undefined) throw unreadable(response, "contains a record without flowControlKey");
    return flowControlKeyFrom(record.flowControlKey, record);
  } catch (error) {
    if (error instanceof UnreadableError) return error;
    throw error;
  }
}

/** Reads a record strictly: an unreadable counter must not be shown as a wrong value. */
function recordOf<F extends Fields>(response: ApiResponse, fields: F, sent: unknown): RecordOf<F> {
  if (!isObject(sent)) throw unreadable(response, "is not a record");
  const { record, problems, exactIntegers } = readRecord(fields, inOneSpelling(sent));
  const inexact = Object.keys(exactIntegers).map((name) => `${name}: larger than a number can represent`);
  if (problems.length + inexact.length > 0) {
    throw unreadable(response, `has unreadable fields (${[...problems, ...inexact].join("; ")})`);
  }
  return record;
}

/** Some platforms spell the field differently. */
function inOneSpelling({ waitlistSize, ...sent }: Record<string, unknown>): Record<string, unknown> {
  return waitlistSize === undefined ? sent : { waitListSize: waitlistSize, ...sent };
}
