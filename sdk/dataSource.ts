import * as pulumi from "@pulumi/pulumi";
import { allDone } from "./allDone";

/** Options of a data source's Output form. */
export interface DataSourceOptions {
  /**
   * Resources that must be done before the platform is read, for example a FlowControlReset. A component includes its
   * children.
   *
   * @default none
   */
  dependsOn?: pulumi.Input<pulumi.Input<pulumi.Resource>[]> | pulumi.Input<pulumi.Resource> | undefined;
}

/**
 * Reads when the arguments are known and the resources are done. If anything is unknown in a preview, nothing is read.
 */
export function readAfter<Args, Result>(
  args: { readonly [K in keyof Args]: pulumi.Input<Args[K]> },
  options: DataSourceOptions | undefined,
  read: (args: Args) => Promise<Result>,
): pulumi.Output<Result> {
  const done = pulumi.output(options?.dependsOn).apply(allDone);
  return pulumi.all([pulumi.output(args as unknown), done]).apply(([known]) => read(known as Args));
}
