import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { queueReads } from "./queueReads";

/** What `getFlowControlKey` reads. */
export interface GetFlowControlKeyArgs {
  /** The key to read. */
  flowControlKey: string;
}

/** The same with values that may come later. */
export interface GetFlowControlKeyOutputArgs {
  /** The key to read. */
  flowControlKey: pulumi.Input<string>;
}

/**
 * Reads the state of one flow-control key: what waits, what runs, and its limits. A key that the platform holds no
 * state for is `exists: false`, with all counters 0. Reads that are asked for at the same time share their requests:
 * the same key is read once, and more than 8 keys by one list.
 *
 * @throws RekeyError where it could not be read.
 * @see Interface, section 4.2
 */
export async function getFlowControlKey(args: GetFlowControlKeyArgs): Promise<FlowControlKey> {
  return queueReads().get(args.flowControlKey);
}

/** `getFlowControlKey` for values that may come later; read after `dependsOn`, and not while anything is unknown. */
export function getFlowControlKeyOutput(
  args: GetFlowControlKeyOutputArgs,
  options?: DataSourceOptions,
): pulumi.Output<FlowControlKey> {
  return readAfter(args, options, getFlowControlKey);
}
