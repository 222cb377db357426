import * as pulumi from "@pulumi/pulumi";
import { type SharedReads } from "../provider/api/sharedReads";
import { allDone } from "./allDone";
import { perRun } from "./perRun";

/** Options of a data source's Output form. */
export interface DataSourceOptions {
  /**
   * Resources that must be done before the platform is read: a FlowControlReset whose effect is to be shown, a component
   * with all that is in it.
   *
   * @default none
   */
  dependsOn?: pulumi.Input<pulumi.Input<pulumi.Resource>[]> | pulumi.Input<pulumi.Resource> | undefined;
}

/** The queue's reads with the settings of this program: its stack's configuration, else its environment. */
export const reads = perRun((): SharedReads => {
  // Loaded at the first call: axios and zod would make every import of this package slow.
  const { PlatformClient } = require("../provider/api/platform") as typeof import("../provider/api/platform");
  const { SharedReads } = require("../provider/api/sharedReads") as typeof import("../provider/api/sharedReads");
  const { Settings, lookupIn } = require("../provider/settings") as typeof import("../provider/settings");
  const configuration = (key: string): string | undefined => new pulumi.Config("rekey").get(key.replace("rekey:", ""));
  return new SharedReads(new PlatformClient(new Settings(lookupIn(configuration, process.env))).flowControl);
});

/** Reads once the arguments are known and the resources are done. With anything unknown, in a preview, nothing is read. */
export function readAfter<Args, Result>(
  args: { readonly [K in keyof Args]: pulumi.Input<Args[K]> },
  options: DataSourceOptions | undefined,
  read: (args: Args) => Promise<Result>,
): pulumi.Output<Result> {
  const done = pulumi.output(options?.dependsOn).apply(allDone);
  return pulumi.all([pulumi.output(args as unknown), done]).apply(([known]) => read(known as Args));
}
