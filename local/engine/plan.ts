import { type ResourceState } from "./format";
import { containsPath, parsePath } from "./paths";
import { changedKeys, type PropertyMap } from "./values";

/** The changes of a resource. `keys` are the properties that are known to have changed. */
export interface Diff {
  readonly changed: boolean;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
  readonly keys: readonly string[];
}

/** The diff of a provider, which may not know whether anything changed. */
export interface ProviderDiff extends Omit<Diff, "changed" | "keys"> {
  readonly changed: boolean | undefined;
}

export const noDiff: Diff = { changed: false, replaces: [], deleteBeforeReplace: false, keys: [] };

export type Plan =
  | { readonly do: "create" }
  | { readonly do: "same" }
  | { readonly do: "update"; readonly keys: readonly string[] }
  | { readonly do: "replace"; readonly keys: readonly string[]; readonly deleteFirst: boolean }
  | { readonly do: "refuse"; readonly why: string };

/** Compares the inputs if the provider does not know whether anything changed. */
export function settleDiff(diff: ProviderDiff, oldInputs: PropertyMap, newInputs: PropertyMap): Diff {
  const keys = diff.changed === undefined ? changedKeys(oldInputs, newInputs) : [];
  return { ...diff, changed: diff.changed ?? keys.length > 0, keys };
}

/** Applies `replaceOnChanges` to a diff. `#initerror` means errors of the last create or update. */
export function applyReplaceOnChanges(diff: Diff, paths: readonly string[], hasInitErrors: boolean): Diff {
  if (!diff.changed && !hasInitErrors) return diff;
  const replacing = paths.map(parsePath).filter((path) => path !== undefined);
  const matches = (key: string): boolean => replacing.some((path) => containsPath(path, [key]));
  const keys = hasInitErrors ? [...diff.keys, "#initerror"] : diff.keys;
  const replaces = [...new Set([...diff.replaces, ...keys.filter(matches)])];
  return { ...diff, replaces, changed: diff.changed || replaces.includes("#initerror") };
}

/**
 * Plans the step for a resource of the program.
 * @param old undefined if it is not in the state
 * @param fresh the desired state
 * @param madeRoom whether it was deleted in this run because a dependency had to be deleted before its replacement
 * @param deleteFirst the program's `deleteBeforeReplace`, if set
 */
export function planStep(
  old: ResourceState | undefined,
  fresh: Pick<ResourceState, "protect" | "replaceOnChanges">,
  madeRoom: boolean,
  diff: Diff,
  deleteFirst: boolean | undefined,
): Plan {
  if (!old) return { do: "create" };
  if (madeRoom) return { do: "replace", keys: [], deleteFirst: false };
  const hasInitErrors = (old.initErrors ?? []).length > 0;
  const settled = applyReplaceOnChanges(diff, fresh.replaceOnChanges ?? [], hasInitErrors);
  const replaces = (settled.changed && settled.replaces.length > 0) || old.pendingReplacement === true;
  if (!replaces) return settled.changed || hasInitErrors ? { do: "update", keys: settled.keys } : { do: "same" };
  if (fresh.protect && old.protect) return { do: "refuse", why: protectedFromReplacement(old.urn) };
  return { do: "replace", keys: settled.replaces, deleteFirst: deleteFirst ?? settled.deleteBeforeReplace };
}

/** @param root the resource whose replacement requires that of this one */
export function protectedFromReplacement(urn: string, root?: string): string {
  const because = root === undefined ? "\nas" : ` as part of replacing ${JSON.stringify(root)} as`;
  return (
    `unable to replace resource ${JSON.stringify(urn)}${because} it is currently marked for protection. ` +
    "To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program and run `rekey-local up`"
  );
}
