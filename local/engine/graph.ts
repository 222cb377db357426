import { type ResourceState } from "./format";
import { changeReferences } from "./state";
import { providerUrn } from "./urns";

/** URNs that a resource depends on: by its properties, by `dependsOn`, and its provider; not its parent. */
function dependencyUrns({ dependencies = [], propertyDependencies = {}, provider }: ResourceState): Set<string> {
  const providers = provider ? [providerUrn(provider)] : [];
  return new Set([...dependencies, ...Object.values(propertyDependencies).flat(), ...providers]);
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
    const depends = !ignored.has(candidate) && [...dependencyUrns(candidate)].some((urn) => reached.has(urn));
    if (depends) reached.add(candidate.urn);
    return depends;
  });
}

/** All that must outlive a resource: its dependencies, the children of components among them, and its parent. */
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
 * Orders deletions: waves that each may be deleted in parallel, once the wave before is gone; nothing goes before what
 * depends on it.
 * @param all every resource of the state in its order, the condemned ones among them
 */
export function deletionWaves(condemned: ReadonlySet<ResourceState>, all: readonly ResourceState[]): ResourceState[][] {
  // The longest way down to a resource without condemned dependencies is the number of waves that come after its own.
  const depths = new Map<ResourceState, number>();
  const waves: ResourceState[][] = [];
  all.forEach((resource, at) => {
    if (!condemned.has(resource)) return;
    const below = dependenciesOf(resource, all.slice(0, at)).map((dependency) => depths.get(dependency) ?? -1);
    const depth = Math.max(-1, ...below) + 1;
    depths.set(resource, depth);
    (waves[depth] ??= []).push(resource);
  });
  return waves.reverse();
}

/** The resources that `failed` depends on: they must stay, because it stayed. */
export function neededBy(failed: ResourceState, all: readonly ResourceState[]): Set<ResourceState> {
  const needed = new Set([failed]);
  for (const [at, resource] of [...all.entries()].reverse()) {
    if (needed.has(resource)) for (const other of dependenciesOf(resource, all.slice(0, at))) needed.add(other);
  }
  needed.delete(failed);
  return needed;
}

/**
 * Takes references to resources that are gone out of the rest; a child of a lost parent goes to that one's parent.
 * @returns what changes of each
 */
export function withoutLost(
  resources: readonly ResourceState[],
  parents: ReadonlyMap<string, string | undefined>,
): Map<ResourceState, Partial<ResourceState>> {
  const there = new Set<string>();
  const changes = new Map<ResourceState, Partial<ResourceState>>();
  for (const resource of resources) {
    const changed = changeReferences(resource, (urn) => (there.has(urn) ? urn : undefined));
    // Properties without dependencies lose their entry here, as in the real engine's state after a refresh.
    const kept = Object.entries(changed.propertyDependencies ?? {}).filter(([, urns]) => urns.length > 0);
    if (changed.propertyDependencies) changed.propertyDependencies = Object.fromEntries(kept);
    let parent = resource.parent;
    while (parent !== undefined && !there.has(parent)) parent = parents.get(parent);
    if (resource.parent !== undefined) changed.parent = parent;
    changes.set(resource, changed);
    there.add(resource.urn);
  }
  return changes;
}
