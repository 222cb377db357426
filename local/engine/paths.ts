import { isList, isObject, Secret, type PropertyMap, type PropertyValue } from "./values";

/** A path into properties, as `ignoreChanges` and `replaceOnChanges` write it: `a.b[0]["c.d"]`, with `*` for anything. */
export type PropertyPath = readonly (string | number)[];

/** Reads a path; undefined when it is malformed. */
export function parsePath(text: string): PropertyPath | undefined {
  const path: (string | number)[] = [];
  let rest = text;
  while (rest !== "") {
    const bracket = /^\[(?:(\d+)|(\*)|"((?:[^"\\]|\\.)*)")\]/.exec(rest);
    const name = bracket ? null : /^\.?([^.[\]]+)/.exec(rest);
    const found = bracket ?? name;
    if (!found) return undefined;
    if (bracket?.[1] !== undefined) path.push(Number(bracket[1]));
    else path.push(bracket?.[2] ?? bracket?.[3]?.replace(/\\(.)/g, "$1") ?? name?.[1] ?? "");
    rest = rest.slice(found[0].length);
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
  const inputs = copy(news) as PropertyMap;
  const invalid = paths.filter((text) => {
    const path = parsePath(text);
    return path !== undefined && !reset(path, olds, inputs, false, false);
  });
  return { inputs, invalid };
}

function copy(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return new Secret(copy(value.value), value.ciphertext);
  if (isList(value)) return value.map(copy);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, copy(v)])) : value;
}

function reset(
  path: PropertyPath,
  olds: PropertyValue,
  news: PropertyValue,
  oldSecret: boolean,
  newSecret: boolean,
): boolean {
  if (olds instanceof Secret) return reset(path, olds.value, news, true, newSecret);
  if (news instanceof Secret) return reset(path, olds, news.value, oldSecret, true);
  const [key, ...rest] = path;
  if (key === undefined) return false;
  if (key === "*") {
    const keys = isList(olds) ? olds.map((_, i) => i) : isObject(olds) ? Object.keys(olds) : [];
    const added = isObject(news) && rest.length === 0 ? Object.keys(news) : [];
    return [...new Set<string | number>([...keys, ...added])].every((k) =>
      reset([k, ...rest], olds, news, oldSecret, newSecret),
    );
  }
  const wrap = (value: PropertyValue): PropertyValue =>
    oldSecret && !newSecret && !(value instanceof Secret) ? new Secret(value) : value;
  if (typeof key === "number") {
    if (!isList(olds) || !isList(news)) return !isList(olds) && !isList(news);
    const [before, after] = [olds[key], news[key]];
    if (before === undefined || after === undefined) return rest.length === 0 && before === after;
    if (rest.length > 0) return reset(rest, before, after, oldSecret, newSecret);
    news[key] = wrap(before);
    return true;
  }
  if (!isObject(olds) || !isObject(news)) return !isObject(olds) && !isObject(news);
  const before = olds[key];
  const after = news[key];
  if (rest.length > 0) {
    if (before === undefined || after === undefined) return before === after;
    return reset(rest, before, after, oldSecret, newSecret);
  }
  if (before === undefined) delete news[key];
  else news[key] = wrap(before);
  return true;
}
