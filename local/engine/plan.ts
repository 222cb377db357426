import { type ResourceState } from "./format";
import { containsPath, parsePath } from "./paths";
import { changedKeys, type PropertyMap } from "./values";

/** What is different about a resource; `keys` are the properties known to have changed. */
export interface Diff {
  readonly changed: boolean;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
  readonly keys: readonly string[];
}

/** What a provider's diff says; it may not know whether anything changed. */
export interface DiffAnswer extends Omit<Diff, "changed" | "keys"> {
  readonly changed: boolean | undefined;
}

export const noDiff: Diff = { changed: false, replaces: [], deleteBeforeReplace: false, keys: [] };

export type Plan =
  | { readonly do: "create" }
  | { readonly do: "same" }
  | { readonly do: "update"; readonly keys: readonly string[] }
  | { readonly do: "replace"; readonly keys: readonly string[]; readonly deleteFirst: boolean }
  | { readonly do: "refuse"; readonly why: string };

/** A provider that does not say whether something changed is answered for by comparing the inputs. */
export function settleDiff(answer: DiffAnswer, oldInputs: PropertyMap, newInputs: PropertyMap): Diff {
  const keys = answer.changed === undefined ? changedKeys(oldInputs, newInputs) : [];
  return { ...answer, changed: answer.changed ?? keys.length > 0, keys };
}

/** Makes changes that `replaceOnChanges` names replace; `#initerror` stands for errors of the last create or update. */
export function applyReplaceOnChanges(diff: Diff, paths: readonly string[], hasInitErrors: boolean): Diff {
  if (!diff.changed && !hasInitErrors) return diff;
  const replacing = paths.map(parsePath).filter((path) => path !== undefined);
  const matches = (key: string): boolean => replacing.some((path) => containsPath(path, [key]));
  const keys = hasInitErrors ? [...diff.keys, "#initerror"] : diff.keys;
  const replaces = [...new Set([...diff.replaces, ...keys.filter(matches)])];
  return { ...diff, replaces, changed: diff.changed || replaces.includes("#initerror") };
}

/**
 * What is to be done about a resource that the program has.
 * @param old undefined when the state does not know it
 * @param fresh what it shall be
 * @param madeRoom it was deleted in this run, because what it depends on had to be deleted before its replacement
 * @param deleteFirst whether the program says which of old and new goes first
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

/** @param root what is replaced before, and takes this resource with it */
export function protectedFromReplacement(urn: string, root?: string): string {
  const because = root === undefined ? "\nas" : ` as part of replacing ${JSON.stringify(root)} as`;
  return (
    `unable to replace resource ${JSON.stringify(urn)}${because} it is currently marked for protection. ` +
    "To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program and run `rekey-local up`"
  );
}
