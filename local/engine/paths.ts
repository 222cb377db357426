import { isList, isObject, isSecret, type PropertyMap, type PropertyValue, secret } from "./values";

/**
 * A path into properties, as `ignoreChanges` and `replaceOnChanges` write it: `a.b[0]["c.d"]`, with `*` for anything.
 */
export type PropertyPath = readonly (string | number)[];

/** Reads a path; undefined when it is malformed. */
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

/** Whether `path` names `other` or something around it. */
export function containsPath(path: PropertyPath, other: PropertyPath): boolean {
  return path.length <= other.length && path.every((part, i) => part === "*" || part === other[i]);
}

/**
 * Puts the old value at each path back into `news`, so that no change is seen there. A path that cannot be put back
 * (an element added to or removed from a list) is left alone and named in `invalid`.
 */
export function ignoreChanges(
  news: PropertyMap,
  olds: PropertyMap,
  paths: readonly string[],
): { inputs: PropertyMap; invalid: string[] } {
  const inputs = structuredClone(news);
  const invalid = paths.filter((text) => !putBack(parsePath(text) ?? [], olds, inputs, false, false));
  return { inputs, invalid };
}

/** @param hide whether what is put back was secret @param hidden whether it will be in a secret anyway */
function putBack(
  path: PropertyPath,
  olds: PropertyValue,
  news: PropertyValue,
  hide: boolean,
  hidden: boolean,
): boolean {
  if (isSecret(olds)) return putBack(path, olds.value, news, true, hidden);
  if (isSecret(news)) return putBack(path, olds, news.value, hide, true);
  const [key, ...rest] = path;
  if (key === undefined) return true;
  if (key === "*") {
    const keys = isList(olds) ? [...olds.keys()] : isObject(olds) ? Object.keys(olds) : [];
    const added = isObject(news) && rest.length === 0 ? Object.keys(news) : [];
    return [...keys, ...added].every((each) => putBack([each, ...rest], olds, news, hide, hidden));
  }
  const fits = typeof key === "number" ? isList : isObject;
  if (!fits(olds) || !fits(news)) return !fits(olds) && !fits(news);
  const [from, to] = [olds as PropertyMap, news as PropertyMap];
  const [before, after] = [from[key], to[key]];
  const both = before !== undefined && after !== undefined;
  if (rest.length > 0) return both ? putBack(rest, before, after, hide, hidden) : before === after;
  if (typeof key === "number" && !both) return before === after;
  if (before === undefined) delete to[key];
  else to[key] = hide && !hidden && !isSecret(before) ? secret(before) : before;
  return true;
}
