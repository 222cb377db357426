/**
 * The JSON text with every value that is nested deeper than `limit` replaced by `{}`: for a reader that would run out of
 * stack. The text must be valid JSON.
 */
export function withoutDepth(jsonText: string, limit: number): string {
  const kept: string[] = [];
  let depth = 0;
  let keptFrom = 0;
  for (let at = 0; at < jsonText.length; at++) {
    const character = jsonText[at];
    if (character === '"') at = endOfString(jsonText, at);
    else if (character === "[" || character === "{") {
      if (depth++ === limit) kept.push(jsonText.slice(keptFrom, at), "{}");
    } else if (character === "]" || character === "}") {
      if (--depth === limit) keptFrom = at + 1;
    }
  }
  return kept.join("") + jsonText.slice(keptFrom);
}

function endOfString(jsonText: string, start: number): number {
  let at = start + 1;
  while (at < jsonText.length && jsonText[at] !== '"') at += jsonText[at] === "\\" ? 2 : 1;
  return at;
}
