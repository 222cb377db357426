import * as pulumi from "@pulumi/pulumi";
import { callFunction } from "../provider/engine/functions";
import { type Properties } from "../provider/records/properties";
import { platformOfRun } from "./platform";
import { readError } from "./program";
import { childrenOf, initializationOf, isMocked } from "./pulumiInternals";

/** The arguments of a data source's Output form. */
export type InputsOf<Args> = { [K in keyof Args]: pulumi.Input<Args[K]> };

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
 * Calls a function of the package, or asks `call` of `pulumi.runtime.setMocks`: a unit test sends no request.
 *
 * @throws RekeyError that ends the program, unless the program catches it
 */
export async function read<Result>(name: string, args: object): Promise<Result> {
  try {
    if (isMocked()) return (await pulumi.runtime.invoke(`rekey:index:${name}`, { ...args })) as Result;
    return (await callFunction(name, platformOfRun(), args as Properties)) as Result;
  } catch (error) {
    throw readError(name, error);
  }
}

/** Reads when the arguments are known and the resources are done; not while one is unknown, as in a preview. */
export function readAfter<Result>(
  name: string,
  args: object,
  { dependsOn }: DataSourceOptions = {},
): pulumi.Output<Result> {
  const done = pulumi.output(dependsOn).apply(allDone);
  return pulumi.all([pulumi.output<object>(args), done]).apply(([known]) => read<Result>(name, known));
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
    // In a preview of a FlowControlReset, id and urn are known, but its outputs are not.
    const { resetCount } = resource as { readonly resetCount?: unknown };
    return pulumi.all([resource.urn, resource.id, resetCount]);
  }
  // A component may create children after its constructor returns.
  return pulumi.all([resource.urn, initializationOf(resource)]).apply(() => allDone([...childrenOf(resource)]));
}
