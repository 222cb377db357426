import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { readQueue } from "./queueReads";
import { checked } from "./refusal";

/** The arguments of `getFlowControlKey`. */
export interface GetFlowControlKeyArgs {
  /** The key to read. */
  flowControlKey: string;
}

/** The arguments of `getFlowControlKeyOutput`. */
export interface GetFlowControlKeyOutputArgs {
  /** The key to read. */
  flowControlKey: pulumi.Input<string>;
}

const argumentNames: NamesOf<GetFlowControlKeyArgs> = { flowControlKey: true };

/**
 * Reads the state of one flow-control key: waiting and running messages, and its limits. A key without state has
 * `exists: false` and counters of 0. Reads that are started together share their requests: the same key is read once,
 * and more than 8 keys are read by one list request.
 *
 * @throws SettingsError, InputError, NotSentError, RejectedError, UnconfirmedError or UnreadableError
 * @see docs/interface.md#read-a-flow-control-key
 * @example
 * ```ts
 * const { waitListSize } = await getFlowControlKey({ flowControlKey: "orders" });
 * ```
 */
export async function getFlowControlKey(args: GetFlowControlKeyArgs): Promise<FlowControlKey> {
  checked("getFlowControlKey", () => refuseUnknown("its arguments", args, argumentNames));
  return readQueue((queue) => queue.get(args.flowControlKey));
}

/**
 * `getFlowControlKey` for Inputs. It reads after `dependsOn`, and not while an input is unknown.
 *
 * @example
 * ```ts
 * const key = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset });
 * export const waiting = key.waitListSize;
 * ```
 */
export function getFlowControlKeyOutput(
  args: GetFlowControlKeyOutputArgs,
  options?: DataSourceOptions,
): pulumi.Output<FlowControlKey> {
  return readAfter("getFlowControlKeyOutput", args, argumentNames, options, getFlowControlKey);
}
