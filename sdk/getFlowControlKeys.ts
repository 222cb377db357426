import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { readQueue } from "./queueReads";
import { checked } from "./refusal";

/** The arguments of `getFlowControlKeys`. */
export interface GetFlowControlKeysArgs {
  /**
   * Filters the keys by name. The platform decides whether it matches any part or the beginning of the name.
   *
   * @default none: all keys
   */
  search?: string | undefined;
}

/** The arguments of `getFlowControlKeysOutput`. */
export interface GetFlowControlKeysOutputArgs {
  /**
   * Filters the keys by name.
   *
   * @default none: all keys
   */
  search?: pulumi.Input<string> | undefined;
}

const argumentNames: NamesOf<GetFlowControlKeysArgs> = { search: true };

/**
 * Lists the flow-control keys that have state, with their counters and limits.
 *
 * @throws SettingsError, NotSentError, RejectedError, UnconfirmedError or UnreadableError
 * @see docs/interface.md#list-flow-control-keys
 * @example
 * ```ts
 * const keys = await getFlowControlKeys({ search: "orders" });
 * ```
 */
export async function getFlowControlKeys(args: GetFlowControlKeysArgs = {}): Promise<FlowControlKey[]> {
  checked("getFlowControlKeys", () => refuseUnknown("its arguments", args, argumentNames));
  return readQueue((queue) => queue.list(args.search));
}

/**
 * `getFlowControlKeys` for Inputs. It reads after `dependsOn`, and not while an input is unknown.
 *
 * @example
 * ```ts
 * const keys = getFlowControlKeysOutput({}, { dependsOn: reset });
 * ```
 */
export function getFlowControlKeysOutput(
  args: GetFlowControlKeysOutputArgs = {},
  options?: DataSourceOptions,
): pulumi.Output<FlowControlKey[]> {
  return readAfter("getFlowControlKeysOutput", args, argumentNames, options, getFlowControlKeys);
}
