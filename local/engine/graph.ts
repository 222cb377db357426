import { type ResourceState } from "./format";
import { changeReferences } from "./state";
import { providerUrn } from "./urns";

/** URNs that a resource depends on: by its properties, by `dependsOn`, and its provider; not its parent. */
function dependencyUrns({ dependencies = [], propertyDependencies = {}, provider }: ResourceState): Set<string> {
  const providers = provider ? [providerUrn(provider)] : [];
  return new Set([...dependencies, ...Object.values(propertyDependencies).flat(), ...providers]);
}

/**
 * The resources after `root` that depend on it, directly or indirectly, in order. A child is not a dependent by itself,
 * and dependencies through resources of `ignored` do not count.
 */
export function dependentsOf(
  root: ResourceState,
  resources: readonly ResourceState[],
  ignored: ReadonlySet<ResourceState>,
): ResourceState[] {
  const reached = new Set([root.urn]);
  return resources.slice(resources.indexOf(root) + 1).filter((candidate) => {
    const depends = !ignored.has(candidate) && [...dependencyUrns(candidate)].some((urn) => reached.has(urn));
    if (depends) reached.add(candidate.urn);
    return depends;
  });
}

/**
 * The resources that must outlive a resource: its dependencies, including the children of components, and its parent.
 */
function dependenciesOf(resource: ResourceState, earlier: readonly ResourceState[]): ResourceState[] {
  const urns = dependencyUrns(resource);
  const components = new Set<string>();
  return earlier.filter(({ urn, parent, custom }) => {
    const needed = urns.has(urn) || (parent !== undefined && components.has(parent));
    if (needed && !custom) components.add(urn);
    return needed || urn === resource.parent;
  });
}

/**
 * Orders deletions into waves. The resources of a wave are deleted in parallel, after the previous wave. Dependents are
 * deleted before their dependencies.
 * @param all all resources of the state, in order
 */
export function deletionWaves(toDelete: ReadonlySet<ResourceState>, all: readonly ResourceState[]): ResourceState[][] {
  // The depth of a resource is the number of waves after its own: its longest chain of dependencies that are deleted.
  const depths = new Map<ResourceState, number>();
  const waves: ResourceState[][] = [];
  all.forEach((resource, at) => {
    if (!toDelete.has(resource)) return;
    const below = dependenciesOf(resource, all.slice(0, at)).map((dependency) => depths.get(dependency) ?? -1);
    const depth = Math.max(-1, ...below) + 1;
    depths.set(resource, depth);
    (waves[depth] ??= []).push(resource);
  });
  return waves.reverse();
}

/** The dependencies of a resource that could not be deleted, which must not be deleted either. */
export function neededBy(failed: ResourceState, all: readonly ResourceState[]): Set<ResourceState> {
  const needed = new Set([failed]);
  for (const [at, resource] of [...all.entries()].reverse()) {
    if (needed.has(resource)) for (const other of dependenciesOf(resource, all.slice(0, at))) needed.add(other);
  }
  needed.delete(failed);
  return needed;
}

/**
 * Removes references to deleted resources. The child of a deleted parent moves to the parent's parent.
 * @returns the changes of each resource
 */
export function withoutLost(
  resources: readonly ResourceState[],
  parents: ReadonlyMap<string, string | undefined>,
): Map<ResourceState, Partial<ResourceState>> {
  const present = new Set<string>();
  const changes = new Map<ResourceState, Partial<ResourceState>>();
  for (const resource of resources) {
    const changed = changeReferences(resource, (urn) => (present.has(urn) ? urn : undefined));
    // Properties without dependencies lose their entry, as in the state of Pulumi's engine after a refresh.
    const kept = Object.entries(changed.propertyDependencies ?? {}).filter(([, urns]) => urns.length > 0);
    if (changed.propertyDependencies) changed.propertyDependencies = Object.fromEntries(kept);
    let parent = resource.parent;
    while (parent !== undefined && !present.has(parent)) parent = parents.get(parent);
    if (resource.parent !== undefined) changed.parent = parent;
    changes.set(resource, changed);
    present.add(resource.urn);
  }
  return changes;
}
