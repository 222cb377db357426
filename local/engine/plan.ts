import { containsPath, parsePath } from "./paths";
import { type ResourceState } from "./types";
import { changedKeys, type PropertyMap } from "./values";

/** What a provider's diff says. */
export interface DiffAnswer {
  readonly changes: "none" | "some" | "unknown";
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

/** A settled diff: `keys` are the properties known to have changed. */
export interface Diff {
  readonly changed: boolean;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
  readonly keys: readonly string[];
}

export type Plan =
  | { readonly do: "create" }
  | { readonly do: "same" }
  | { readonly do: "update"; readonly keys: readonly string[] }
  | { readonly do: "replace"; readonly keys: readonly string[]; readonly deleteFirst: boolean }
  | { readonly do: "refuse"; readonly why: string };

export interface Wishes {
  readonly protect: boolean | undefined;
  readonly deleteBeforeReplace: boolean | undefined;
  readonly replaceOnChanges: readonly string[];
}

/** A provider that does not say whether something changed is answered for by comparing the inputs. */
export function settleDiff(answer: DiffAnswer, oldInputs: PropertyMap, newInputs: PropertyMap): Diff {
  const { replaces, deleteBeforeReplace } = answer;
  if (answer.changes !== "unknown")
    return { changed: answer.changes === "some", replaces, deleteBeforeReplace, keys: [] };
  const keys = changedKeys(oldInputs, newInputs);
  return { changed: keys.length > 0, replaces, deleteBeforeReplace, keys };
}

/** The diff of a component, which has no provider to ask. */
export function componentDiff(changed: boolean): Diff {
  return { changed, replaces: [], deleteBeforeReplace: false, keys: [] };
}

/** Makes changes that `replaceOnChanges` names replace; `#initerror` stands for errors of the last create or update. */
export function applyReplaceOnChanges(diff: Diff, paths: readonly string[], hasInitErrors: boolean): Diff {
  if (!diff.changed && !hasInitErrors) return diff;
  const replacing = paths.map(parsePath).filter((path) => path !== undefined);
  const matches = (key: string): boolean => replacing.some((path) => containsPath(path, [key]));
  const replaces = new Set([...diff.replaces, ...diff.keys.filter(matches)]);
  const initErrorReplaces = hasInitErrors && matches("#initerror");
  if (initErrorReplaces) replaces.add("#initerror");
  return { ...diff, replaces: [...replaces], changed: diff.changed || initErrorReplaces };
}

/**
 * What is to be done about a resource that the program has.
 * @param old undefined when the state does not know it
 * @param deletedForAnother it was deleted in this run, because what it depends on had to be deleted before its replacement
 */
export function planStep(old: ResourceState | undefined, deletedForAnother: boolean, diff: Diff, wishes: Wishes): Plan {
  if (!old) return { do: "create" };
  if (deletedForAnother) return { do: "replace", keys: [], deleteFirst: false };
  const hasInitErrors = (old.initErrors ?? []).length > 0;
  const settled = applyReplaceOnChanges(diff, wishes.replaceOnChanges, hasInitErrors);
  const pendingReplacement = old.pendingReplacement === true;
  const replaces = (settled.changed && settled.replaces.length > 0) || pendingReplacement;
  if (!replaces) return settled.changed || hasInitErrors ? { do: "update", keys: settled.keys } : { do: "same" };
  if (wishes.protect === true && old.protect === true) {
    return {
      do: "refuse",
      why:
        `unable to replace resource ${JSON.stringify(old.urn)}\nas it is currently marked for protection. To unprotect the resource, ` +
        "remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`",
    };
  }
  return {
    do: "replace",
    keys: settled.replaces,
    deleteFirst: wishes.deleteBeforeReplace ?? settled.deleteBeforeReplace,
  };
}
