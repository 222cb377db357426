import * as pulumi from "@pulumi/pulumi";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { allDone } from "./allDone";
import { checked } from "./refusal";

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

const optionNames: NamesOf<DataSourceOptions> = { dependsOn: true };

/**
 * Reads when the arguments are known and the resources are done. If anything is unknown in a preview, nothing is read.
 *
 * @param name of the data source
 * @throws RekeyError for an argument or option that does not exist
 */
export function readAfter<Args, Result>(
  name: string,
  args: { readonly [K in keyof Args]: pulumi.Input<Args[K]> },
  argumentNames: NamesOf<Args>,
  options: DataSourceOptions | undefined,
  read: (args: Args) => Promise<Result>,
): pulumi.Output<Result> {
  checked(name, () => refuseUnknown("its arguments", args, argumentNames));
  checked(name, () => refuseUnknown("its options", options ?? {}, optionNames));
  const done = pulumi.output(options?.dependsOn).apply(allDone);
  return pulumi.all([pulumi.output(args as unknown), done]).apply(([known]) => read(known as Args));
}
