import { type ResourceState } from "./types";
import { providerUrn } from "./urns";

/** URNs that a resource depends on: by its properties, by `dependsOn`, and its provider; not its parent. */
function dependencyUrns(resource: ResourceState): Set<string> {
  const urns = new Set([
    ...(resource.dependencies ?? []),
    ...Object.values(resource.propertyDependencies ?? {}).flat(),
  ]);
  if (resource.provider) urns.add(providerUrn(resource.provider));
  return urns;
}

/**
 * The resources of an ordered list that come after `root` and depend on it, directly or through others, in order.
 * Being somebody's child alone does not count, and nothing is followed through a resource of `ignored`.
 */
export function dependentsOf(
  root: ResourceState,
  resources: readonly ResourceState[],
  ignored: ReadonlySet<ResourceState>,
): ResourceState[] {
  const reached = new Set([root.urn]);
  return resources.slice(resources.indexOf(root) + 1).filter((candidate) => {
    if (ignored.has(candidate)) return false;
    const depends = [...dependencyUrns(candidate)].some((urn) => reached.has(urn));
    if (depends) reached.add(candidate.urn);
    return depends;
  });
}

/** All that must outlive a resource: its dependencies, the children of components among them, and its parent. */
function dependenciesOf(resource: ResourceState, earlier: readonly ResourceState[]): Set<ResourceState> {
  const urns = dependencyUrns(resource);
  const found = new Set<ResourceState>();
  const components = new Set<string>();
  for (const candidate of earlier) {
    const inComponent = candidate.parent !== undefined && components.has(candidate.parent);
    if (inComponent || (urns.has(candidate.urn) && !candidate.custom)) {
      if (!candidate.custom) components.add(candidate.urn);
      found.add(candidate);
    } else if (urns.has(candidate.urn) || candidate.urn === resource.parent) found.add(candidate);
  }
  return found;
}

/**
 * Orders deletions: waves that each may be deleted in parallel, once the wave before is gone; nothing goes before what depends on it.
 * @param all every resource of the state in its order, the condemned ones among them
 */
export function deletionWaves(condemned: ReadonlySet<ResourceState>, all: readonly ResourceState[]): ResourceState[][] {
  // The longest way down to a resource without condemned dependencies is the number of waves that come after its own.
  const depths = new Map<ResourceState, number>();
  const earlier: ResourceState[] = [];
  for (const resource of all) {
    if (condemned.has(resource)) {
      const below = [...dependenciesOf(resource, earlier)].map((dependency) => depths.get(dependency) ?? -1);
      depths.set(resource, Math.max(-1, ...below) + 1);
    }
    earlier.push(resource);
  }
  const waves: ResourceState[][] = [];
  for (const [resource, depth] of depths) (waves[depth] ??= []).push(resource);
  return waves.reverse();
}

/** The condemned resources that `failed` depends on: they must stay, because it stayed. */
export function neededBy(failed: ResourceState, all: readonly ResourceState[]): Set<ResourceState> {
  const needed = new Set([failed]);
  for (let at = all.indexOf(failed); at >= 0; at--) {
    const resource = all[at];
    if (!resource || !needed.has(resource)) continue;
    for (const dependency of dependenciesOf(resource, all.slice(0, at))) needed.add(dependency);
  }
  needed.delete(failed);
  return needed;
}

/** Takes references to resources that are gone out of the rest; a child of a lost parent goes to that one's parent. */
export function dropLost(resources: readonly ResourceState[], parents: ReadonlyMap<string, string | undefined>): void {
  const there = new Set<string>();
  for (const resource of resources) {
    const { dependencies, propertyDependencies } = resource;
    if (dependencies) resource.dependencies = dependencies.filter((urn) => there.has(urn));
    if (propertyDependencies) {
      // Properties without dependencies lose their entry here, as in the real engine's state after a refresh.
      const kept = Object.entries(propertyDependencies).map(
        ([key, urns]) => [key, urns.filter((urn) => there.has(urn))] as const,
      );
      resource.propertyDependencies = Object.fromEntries(kept.filter(([, urns]) => urns.length > 0));
    }
    while (resource.parent !== undefined && !there.has(resource.parent)) resource.parent = parents.get(resource.parent);
    there.add(resource.urn);
  }
}
