import { type Exchange } from "./recorder";

/** What was seen of each request, by aspect: its statuses, and the type of each field. It contains no value. */
export type Seen = ReadonlyMap<string, ReadonlyMap<string, string>>;

const credentials = ["password", "resttoken", "readonlyresttoken", "token", "readonlytoken", "current", "next"];
/** A name with other characters may be an id, or contain one. */
const shownName = /^[A-Za-z][A-Za-z_]{0,39}$/;

/** What an account has sent so far, and ids: nothing of it is shown. */
export interface Known {
  readonly values: Set<string>;
  readonly ids: Set<string>;
}

/** What exchanges show. Reads after the first change of the account count separately. */
export function seenIn(exchanges: readonly Exchange[], known: Known): Seen {
  const seen = new Map<string, Map<string, string>>();
  const change = exchanges.find(({ method }) => method === "POST");
  for (const exchange of exchanges) {
    const isAfter = change !== undefined && exchange.endedAtMs >= change.endedAtMs;
    const when = isAfter && exchange.method === "GET" ? ", after a change" : "";
    const request = `${exchange.method} ${withoutIds(exchange.path, known.ids)}${when}`;
    const aspects = seen.get(request) ?? new Map<string, string>();
    seen.set(request, aspects);
    const fields = fieldsOf(exchange.text, isAfter ? known.values : undefined);
    for (const [name, value] of [...responseOf(exchange), ...fields]) add(aspects, name, value);
    if (fields.some(([, type]) => type === "new")) addDelay(seen, exchange.endedAtMs - change!.endedAtMs);
    for (const value of stringsIn(exchange.text)) known.values.add(value);
  }
  return seen;
}

type Aspect = readonly [name: string, value: string];

function responseOf({ status, text }: Exchange): Aspect[] {
  if (status === undefined) return [["status", "no response"]];
  return [
    ["status", String(status)],
    ["body", bodyOf(tryParse(text))],
  ];
}

function bodyOf(json: unknown): string {
  if (json === undefined) return "not JSON";
  if (Array.isArray(json)) return json.length > 0 ? "a list" : "an empty list";
  return typeof json === "object" ? "an object" : `a ${typeof json}`;
}

/** Adds when a new credential was shown first. A short time says more of the machine than of the account. */
function addDelay(seen: Map<string, Map<string, string>>, milliseconds: number): void {
  const shown = milliseconds < 10_000 ? "within 10 s" : `after ${Math.round(milliseconds / 1_000)} s`;
  if (!seen.has(delay)) seen.set(delay, new Map([["body", shown]]));
}

const delay = "the first new credential";

type Aspects = ReadonlyMap<string, string>;

/** The lines of a table of what differs; none if nothing does. */
export function differencesOf(account: Seen, expected: Seen): string[] {
  const none: Aspects = new Map();
  return [...new Set([...account.keys(), ...expected.keys()])].flatMap((request) => {
    const both = [account.get(request) ?? none, expected.get(request) ?? none] as const;
    const rows = aspectsToCompare(both).map((name) => [name, both[0].get(name) ?? "–", both[1].get(name) ?? "–"]);
    return rows.filter(([, one, other]) => one !== other).map((row) => `| ${[request, ...row].join(" | ")} |`);
  });
}

/** Without the fields, if one account has no such request, no response, or no entry in its list. */
function aspectsToCompare([here, there]: readonly [Aspects, Aspects]): string[] {
  const response = ["status", "body"];
  const [ours, theirs] = [here, there].map((aspects) => [...aspects.keys()].filter((name) => !response.includes(name)));
  if (ours!.length === 0 || theirs!.length === 0) return response;
  return [...new Set([...response, ...ours!, ...theirs!])];
}

/** Adds what an aspect has to what it had before. */
function add(aspects: Map<string, string>, name: string, value: string): void {
  const former = aspects.get(name)?.split(" or ") ?? [];
  aspects.set(name, [...new Set([...former, value])].sort().join(" or "));
}

function withoutIds(path: string, ids: ReadonlySet<string>): string {
  let shown = path;
  for (const id of ids) shown = shown.replaceAll(encodeURIComponent(id), "{id}");
  return shown;
}

/**
 * The fields of a JSON text and their types, those of the entries of a list together; none if it is not JSON.
 *
 * @param former texts that were sent before a change
 */
function fieldsOf(text: string, former: ReadonlySet<string> | undefined): Aspect[] {
  const fields: Aspect[] = [];
  const visit = (name: string, value: unknown): void => {
    if (Array.isArray(value)) value.forEach((one) => visit(`${name}[]`, one));
    else if (typeof value !== "object" || value === null) fields.push([name, typeOf(name, value, former)]);
    else for (const [key, one] of Object.entries(value)) visit(`${name && `${name}.`}${shownNameOf(key)}`, one);
  };
  const json = tryParse(text);
  if (typeof json === "object" && json !== null) visit("", json);
  return fields;
}

function shownNameOf(name: string): string {
  return shownName.test(name) ? name : "(another name)";
}

function typeOf(path: string, value: unknown, former: ReadonlySet<string> | undefined): string {
  if (value === null) return "null";
  if (typeof value !== "string") return `a ${typeof value}`;
  const name = path
    .replace(/.*[.\]]/, "")
    .replaceAll("_", "")
    .toLowerCase();
  if (!credentials.includes(name)) return "a text";
  if (value === "") return "empty";
  if (/[*•…]/.test(value)) return "masked";
  if (former === undefined) return "a text";
  return former.has(value) ? "former" : "new";
}

function stringsIn(text: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string") found.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  visit(tryParse(text));
  return found;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
