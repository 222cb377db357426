import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { queueReads } from "./queueReads";

/** What `getFlowControlKeys` lists. */
export interface GetFlowControlKeysArgs {
  /**
   * Filters the keys by name. Whether it must be a part or the beginning of the name is the platform's choice.
   *
   * @default none: all keys
   */
  search?: string | undefined;
}

/** The same with values that may come later. */
export interface GetFlowControlKeysOutputArgs {
  /**
   * Filters the keys by name.
   *
   * @default none: all keys
   */
  search?: pulumi.Input<string> | undefined;
}

/**
 * Lists the flow-control keys that hold state, with their counters and limits.
 *
 * @throws RekeyError where they could not be read.
 * @see Interface, section 4.2
 */
export async function getFlowControlKeys(args: GetFlowControlKeysArgs = {}): Promise<FlowControlKey[]> {
  return queueReads().list(args.search);
}

/** `getFlowControlKeys` for values that may come later; read after `dependsOn`, and not while anything is unknown. */
export function getFlowControlKeysOutput(
  args: GetFlowControlKeysOutputArgs = {},
  options?: DataSourceOptions,
): pulumi.Output<FlowControlKey[]> {
  return readAfter(args, options, getFlowControlKeys);
}
