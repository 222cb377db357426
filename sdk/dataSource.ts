import * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/platform/errors";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { FlowControlReset } from "./flowControlReset";
import { childrenOf, initializationOf, isMocked } from "./pulumiInternals";
import { checked, endingRun, isLate } from "./program";

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
 * Checks the arguments of a data source that does not wait for them.
 *
 * @param name of the data source
 * @param use returns what is made of the arguments
 * @throws InputError that ends the program
 */
export function withArguments<Args extends object, Result>(
  name: string,
  args: Args,
  argumentNames: NamesOf<Args>,
  use: (args: Args) => Result,
): Result {
  return checked(name, () => {
    for (const [argument, value] of [["its arguments", args] as const, ...Object.entries(args ?? {})]) {
      if (!isLate(value)) continue;
      throw new InputError(
        argument,
        `must not be an Output or a Promise: use ${name}Output, which waits for its value`,
      );
    }
    refuseUnknown("its arguments", args, argumentNames);
    return use(args);
  });
}

/**
 * Reads from the platform, or asks `call` of `pulumi.runtime.setMocks`: a unit test sends no request.
 *
 * @param name of the data source, which is that of the plugin's function
 */
export async function readOrMock<Result>(
  name: string,
  args: object,
  read: () => Result | Promise<Result>,
): Promise<Result> {
  if (!isMocked()) return endingRun(read);
  return (await pulumi.runtime.invoke(`rekey:index:${name}`, { ...args })) as Result;
}

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

type OneOrMore = pulumi.Unwrap<pulumi.Resource[]> | pulumi.Resource | undefined;

/**
 * Resolves when resources are done, including the children of components. In a preview it is unknown if one is unknown.
 * `pulumi.output(resource)` does not wait for resources.
 */
function allDone(resources: OneOrMore): pulumi.Output<unknown> {
  const list = resources === undefined ? [] : Array.isArray(resources) ? resources : [resources];
  return pulumi.all(list.map(done));
}

function done(resource: pulumi.Resource): pulumi.Output<unknown> {
  if (pulumi.CustomResource.isInstance(resource)) {
    // In a preview of a reset, id and urn are known, but its outputs are not.
    const reset = FlowControlReset.isInstance(resource) ? resource.resetAt : undefined;
    return pulumi.all([resource.urn, resource.id, reset]);
  }
  // A component may create children after its constructor returns.
  return pulumi.all([resource.urn, initializationOf(resource)]).apply(() => allDone([...childrenOf(resource)]));
}
