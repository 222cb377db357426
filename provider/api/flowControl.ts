import { type Fields, isObject, type RecordOf } from "../records/fields";
import { readJson } from "../records/json";
import {
  flowControlFields,
  type FlowControlKey,
  flowControlKeyFrom,
  type GlobalParallelism,
  globalParallelismFields,
} from "../records/flowControl";
import { readRecord } from "../records/read";
import { settingDefaults } from "../settings";
import { RejectedError, UnreadableError } from "./errors";
import { fillPath } from "./path";
import { type ApiResponse, type Requester } from "./requester";

const nothingChanged = {
  "not sent": "Nothing was changed.",
  rejected: "Nothing was changed.",
  "maybe applied": "Nothing was changed: it was only read.",
};

/** A record of the list; the error where it cannot be read. */
export type ListEntry = FlowControlKey | UnreadableError;

/** @throws UnreadableError for the first record that cannot be read. */
export function allReadable(entries: readonly ListEntry[]): FlowControlKey[] {
  return entries.map((entry) => {
    if (entry instanceof UnreadableError) throw entry;
    return entry;
  });
}

/** The message queue's flow-control operations. */
export class FlowControl {
  constructor(
    private readonly requester: Requester,
    private readonly resetAction: string = settingDefaults.flowControlResetAction,
  ) {}

  /**
   * The keys that hold state, those that match `search` where it is given. How it matches is the platform's choice. A
   * record that cannot be read stands as the error that says so.
   *
   * @see Interface, section 4.2
   */
  async list(search?: string): Promise<ListEntry[]> {
    const answer = await this.#read(
      "/v2/flowControl",
      "list the flow-control keys",
      search === undefined ? {} : { search },
    );
    const value = jsonOf(answer);
    const list = isObject(value) ? value["flowControls"] : value;
    if (!Array.isArray(list)) throw unreadable(answer, "is not a list of flow-control keys");
    return list.map((sent: unknown) => entryOf(answer, sent));
  }

  /**
   * The state of one key. One that the platform does not know is `exists: false`.
   *
   * @see Interface, section 4.2
   */
  async get(flowControlKey: string): Promise<FlowControlKey> {
    const path = fillPath("/v2/flowControl/{flowControlKey}", { flowControlKey });
    let answer: ApiResponse;
    try {
      answer = await this.#read(path, `read the flow-control key ${JSON.stringify(flowControlKey)}`);
    } catch (error) {
      // A 404 in the platform's own words is an answer; one of a proxy or a wrong address is not.
      if (error instanceof RejectedError && error.status === 404 && error.inJson) {
        return flowControlKeyFrom(flowControlKey, undefined);
      }
      throw error;
    }
    const record = recordOf(answer, flowControlFields, jsonOf(answer));
    if (record.flowControlKey === undefined) throw unreadable(answer, "is a record without flowControlKey");
    if (record.flowControlKey !== flowControlKey) throw unreadable(answer, "is the record of another key");
    return flowControlKeyFrom(flowControlKey, record);
  }

  /**
   * Resets the parallelism and rate counters of a key, so that waiting messages can be dispatched at once.
   * Resetting twice does no harm, so it may be repeated.
   *
   * @see Interface, section 4.3
   */
  async reset(flowControlKey: string): Promise<void> {
    await this.requester.send({
      method: "POST",
      path: fillPath("/v2/flowControl/{flowControlKey}/{action}", { flowControlKey, action: this.resetAction }),
      idempotent: true,
      purpose: `reset the counters of the flow-control key ${JSON.stringify(flowControlKey)}`,
      consequences: {
        "not sent": "The counters were not reset.",
        rejected: "The counters were not reset.",
        "maybe applied": "The counters may have been reset; resetting them again does no harm.",
      },
    });
  }

  /**
   * How many messages run, and may run, over all keys. Platforms of before the change send `waitListSize` alone.
   *
   * @see Interface, section 4.4
   */
  async globalParallelism(): Promise<GlobalParallelism> {
    const answer = await this.#read("/v2/globalParallelism", "read the global parallelism");
    const record = recordOf(answer, globalParallelismFields, jsonOf(answer));
    if (Object.keys(record).length === 0) throw unreadable(answer, "holds neither counts nor a wait list");
    return record;
  }

  async #read(path: string, purpose: string, query: Record<string, string> = {}): Promise<ApiResponse> {
    const answer = await this.requester.send({
      method: "GET",
      path,
      query,
      idempotent: true,
      purpose,
      consequences: nothingChanged,
    });
    if (answer.status !== 200) throw unreadable(answer, "is not the 200 that was expected");
    return answer;
  }
}

function jsonOf(answer: ApiResponse): unknown {
  try {
    return readJson(answer.body).value;
  } catch {
    throw unreadable(answer, "is not JSON");
  }
}

function entryOf(answer: ApiResponse, sent: unknown): ListEntry {
  try {
    const record = recordOf(answer, flowControlFields, sent);
    if (record.flowControlKey === undefined) throw unreadable(answer, "holds a record without flowControlKey");
    return flowControlKeyFrom(record.flowControlKey, record);
  } catch (error) {
    if (error instanceof UnreadableError) return error;
    throw error;
  }
}

/** Reads a record strictly: a counter that is there and unreadable must not be shown as something else. */
function recordOf<F extends Fields>(answer: ApiResponse, fields: F, sent: unknown): RecordOf<F> {
  if (!isObject(sent)) throw unreadable(answer, "is not a record");
  const { record, problems, exactIntegers } = readRecord(fields, inOneSpelling(sent));
  const inexact = Object.keys(exactIntegers).map((name) => `${name}: beyond what a number can hold`);
  if (problems.length + inexact.length > 0) {
    throw unreadable(answer, `has unreadable fields (${[...problems, ...inexact].join("; ")})`);
  }
  return record;
}

/** Some platforms spell the wait list another way. */
function inOneSpelling({ waitlistSize, ...sent }: Record<string, unknown>): Record<string, unknown> {
  return waitlistSize === undefined ? sent : { waitListSize: waitlistSize, ...sent };
}

function unreadable({ facts, status }: ApiResponse, what: string): UnreadableError {
  return new UnreadableError(facts, `the platform's answer ${what}`, status);
}
