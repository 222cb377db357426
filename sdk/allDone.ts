import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset } from "./flowControlReset";
import { childrenOf, initializationOf } from "./pulumiInternals";

type OneOrMore = pulumi.Unwrap<pulumi.Resource[]> | pulumi.Resource | undefined;

/**
 * Resolves when resources are done, children of components included; unknown, in a preview, while one is not. Waiting
 * for `pulumi.output(resource)` would wait for nothing.
 */
export function allDone(resources: OneOrMore): pulumi.Output<unknown> {
  const list = resources === undefined ? [] : Array.isArray(resources) ? resources : [resources];
  return pulumi.all(list.map(done));
}

function done(resource: pulumi.Resource): pulumi.Output<unknown> {
  if (pulumi.CustomResource.isInstance(resource)) {
    // Only what the reset itself tells is unknown while a reset is planned: id and urn are known by then.
    const reset = FlowControlReset.isInstance(resource) ? resource.resetAt : undefined;
    return pulumi.all([resource.urn, resource.id, reset]);
  }
  // A component may make its children later than its constructor returns.
  return pulumi.all([resource.urn, initializationOf(resource)]).apply(() => allDone([...childrenOf(resource)]));
}
