import type * as pulumi from "@pulumi/pulumi";
import { type GlobalParallelism } from "../provider/records/flowControl";
import { refuseUnknown } from "../provider/rotation/arguments";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { readQueue } from "./queueReads";
import { checked } from "./refusal";

/**
 * Reads how many messages are running, and how many may run, across all keys. Older platforms return `waitListSize`
 * only.
 *
 * @throws SettingsError, NotSentError, RejectedError, UnconfirmedError or UnreadableError
 * @see docs/interface.md#read-the-global-parallelism
 * @example
 * ```ts
 * const { parallelismCount, parallelismMax } = await getGlobalParallelism();
 * ```
 */
export function getGlobalParallelism(): Promise<GlobalParallelism>;
export async function getGlobalParallelism(args: object = {}): Promise<GlobalParallelism> {
  checked("getGlobalParallelism", () => refuseUnknown("its arguments", args, {}));
  return readQueue((queue) => queue.globalParallelism());
}

/**
 * `getGlobalParallelism` after `dependsOn`. It does not read while one of these resources is unknown.
 *
 * @example
 * ```ts
 * const parallelism = getGlobalParallelismOutput({ dependsOn: reset });
 * ```
 */
export function getGlobalParallelismOutput(options?: DataSourceOptions): pulumi.Output<GlobalParallelism> {
  return readAfter("getGlobalParallelismOutput", {}, {}, options, () => getGlobalParallelism());
}
