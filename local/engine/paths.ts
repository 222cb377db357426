import { isList, isObject, isSecret, type PropertyMap, type PropertyValue, secret } from "./values";

/** A property path, as in `ignoreChanges` and `replaceOnChanges`: `a.b[0]["c.d"]`. `*` matches anything. */
export type PropertyPath = readonly (string | number)[];

/** Parses a path; undefined if it is malformed. */
export function parsePath(text: string): PropertyPath | undefined {
  const path: (string | number)[] = [];
  let rest = text;
  while (rest !== "") {
    const found = /^(?:\[(\d+)\]|\[(\*)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.[\]]+))/.exec(rest);
    if (!found) return undefined;
    const [all, index, star, quoted, name] = found;
    path.push(index === undefined ? (star ?? quoted?.replace(/\\(.)/g, "$1") ?? name ?? "") : Number(index));
    rest = rest.slice(all.length);
  }
  return path.length > 0 ? path : undefined;
}

/** Whether `path` equals `other` or contains it. */
export function containsPath(path: PropertyPath, other: PropertyPath): boolean {
  return path.length <= other.length && path.every((part, i) => part === "*" || part === other[i]);
}

/**
 * Restores the old value at each path of `news`, so that there is no change. A path that cannot be restored (an element
 * that was added to or removed from a list) is returned in `invalid`.
 */
export function ignoreChanges(
  news: PropertyMap,
  olds: PropertyMap,
  paths: readonly string[],
): { inputs: PropertyMap; invalid: string[] } {
  const inputs = structuredClone(news);
  const invalid = paths.filter((text) => !restore(parsePath(text) ?? [], olds, inputs, false, false));
  return { inputs, invalid };
}

/** @param hide whether the old value was secret @param hidden whether the new location is already in a secret */
function restore(
  path: PropertyPath,
  olds: PropertyValue,
  news: PropertyValue,
  hide: boolean,
  hidden: boolean,
): boolean {
  if (isSecret(olds)) return restore(path, olds.value, news, true, hidden);
  if (isSecret(news)) return restore(path, olds, news.value, hide, true);
  const [key, ...rest] = path;
  if (key === undefined) return true;
  if (key === "*") {
    const keys = isList(olds) ? [...olds.keys()] : isObject(olds) ? Object.keys(olds) : [];
    const added = isObject(news) && rest.length === 0 ? Object.keys(news) : [];
    return [...keys, ...added].every((each) => restore([each, ...rest], olds, news, hide, hidden));
  }
  const fits = typeof key === "number" ? isList : isObject;
  if (!fits(olds) || !fits(news)) return !fits(olds) && !fits(news);
  const [from, to] = [olds as PropertyMap, news as PropertyMap];
  const [before, after] = [from[key], to[key]];
  const both = before !== undefined && after !== undefined;
  if (rest.length > 0) return both ? restore(rest, before, after, hide, hidden) : before === after;
  if (typeof key === "number" && !both) return before === after;
  if (before === undefined) delete to[key];
  else to[key] = hide && !hidden && !isSecret(before) ? secret(before) : before;
  return true;
}
