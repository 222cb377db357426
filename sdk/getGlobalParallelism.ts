import type * as pulumi from "@pulumi/pulumi";
import { type GlobalParallelism } from "../provider/records/flowControl";
import { type DataSourceOptions, readAfter } from "./dataSource";
import { queueReads } from "./queueReads";

/**
 * Reads how many messages run, and may run, over all keys. Older platforms tell `waitListSize` alone.
 *
 * @throws RekeyError where it could not be read.
 * @see Interface, section 4.4
 */
export async function getGlobalParallelism(): Promise<GlobalParallelism> {
  return queueReads().globalParallelism();
}

/** `getGlobalParallelism` after `dependsOn`; not read while one of those is unknown. */
export function getGlobalParallelismOutput(options?: DataSourceOptions): pulumi.Output<GlobalParallelism> {
  return readAfter({}, options, getGlobalParallelism);
}
