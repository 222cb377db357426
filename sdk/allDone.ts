import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset } from "./flowControlReset";
import { childrenOf, initializationOf } from "./pulumiInternals";

type OneOrMore = pulumi.Unwrap<pulumi.Resource[]> | pulumi.Resource | undefined;

/**
 * Resolves when resources are done, including the children of components. In a preview it is unknown if one is unknown.
 * `pulumi.output(resource)` does not wait for resources.
 */
export function allDone(resources: OneOrMore): pulumi.Output<unknown> {
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
