import { isObject } from "../records/fields";
import {
  flowControlFields,
  type FlowControlKey,
  flowControlKeyFrom,
  type GlobalParallelism,
  globalParallelismFields,
} from "../records/flowControl";
import { RequestError, type RequestFacts } from "../domain/errors";
import { jsonIn, jsonEntries, recordIn, unusable } from "./failures";
import { type ApiRequest, type ApiResponse, type Requester, fillPath } from "./http";

/** One request that changes what limits a key. */
export interface KeyOperation {
  readonly action: "pause" | "resume" | "pin" | "unpin";
  readonly query: Readonly<Record<string, string>>;
}

/** Facts about the queue of a run. */
export interface Queue {
  /** The last part of the path of a reset. */
  resetAction: string;
  /** The one that takes its place from then on if the platform does not have it. */
  readonly otherAction?: string | undefined;
  /** It has responded with 2xx, with the same token at the same address. */
  hasResponded?: boolean;
  /** A request that is under way to find out. */
  proof?: Promise<unknown> | undefined;
}

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
    const response = await this.#send({
      method: "GET",
      path: "/v2/flowControl",
      ...(search !== undefined && { query: { search } }),
      isList: true,
      purpose: "list the flow-control keys",
    });
    const sent = jsonIn(response);
    const list = jsonEntries(
      response,
      isObject(sent) ? sent["flowControls"] : sent,
      "flow-control keys",
    );
    return list.map((one) => keyIn(response, one));
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
      response = await this.#send({ method: "GET", path, purpose, toCheck });
    } catch (error) {
      // A 404 from the platform means that the key has no state; one from a proxy or a wrong address does not.
      const isOfPlatform =
        error instanceof RequestError && error.status === 404 && error.words !== undefined;
      const { queue } = this;
      // The queue of another region responds with 404 to everything.
      if (isOfPlatform && !queue.hasResponded) {
        await (queue.proof ??= this.globalParallelism()).catch(() => (queue.proof = undefined));
      }
      if (!isOfPlatform || !queue.hasResponded) throw error;
      return flowControlKeyFrom(flowControlKey, undefined);
    }
    const record = keyIn(response, jsonIn(response));
    if (record.flowControlKey !== flowControlKey) {
      throw unusable(response, "is the record of another key");
    }
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
      const isMissing =
        error instanceof RequestError && (error.status === 404 || error.status === 405);
      if (!isMissing || !isKnown || otherAction === undefined || resetAction === otherAction) {
        throw error;
      }
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
    const response = await this.#send({ method: "GET", path: "/v2/globalParallelism", purpose });
    const sent = inOneSpelling(jsonIn(response));
    const record = recordIn(response, globalParallelismFields, sent);
    if (record.waitListSize !== undefined) return record;
    const isOther = Object.keys(record).length === 0 && Object.keys(sent as object).length > 0;
    if (isOther) throw unusable(response, "contains neither counts nor a wait list");
    return { parallelismMax: 0, parallelismCount: 0, ...record };
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

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.requester.send(request);
    this.queue.hasResponded = true;
    return response;
  }
}

function keyIn(response: ApiResponse, sent: unknown): FlowControlKey {
  const record = recordIn(response, flowControlFields, inOneSpelling(sent));
  if (record.flowControlKey === undefined) {
    throw unusable(response, "contains a record without flowControlKey");
  }
  return flowControlKeyFrom(record.flowControlKey, record);
}

/** Some platforms spell the field differently. */
function inOneSpelling(sent: unknown): unknown {
  if (!isObject(sent) || sent["waitlistSize"] === undefined) return sent;
  const { waitlistSize, ...others } = sent;
  return { waitListSize: waitlistSize, ...others };
}
