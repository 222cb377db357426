import fc from "fast-check";
import { databaseRecord } from "../../local/platform/databaseRecord";
import { hostileNames, jsonValue } from "./hostile";

/** A response as a platform may send it, and what the test knows about it. */
export interface Answer {
  readonly text: string;
  /** The credentials in it, in order, by their names on the wire: texts that are not empty. */
  readonly credentials: readonly (readonly [wireName: string, value: string])[];
}

/** The database that the responses are about. */
export const databaseId = "db";

/** How a platform may spell the names of credentials, and what they are in a program. */
export const credentialNames = {
  password: "password",
  rest_token: "restToken",
  restToken: "restToken",
  read_only_rest_token: "readOnlyRestToken",
  readOnlyRestToken: "readOnlyRestToken",
  readOnly_restToken: "readOnlyRestToken",
} as const;

type Entry = readonly [name: string, json: string];

const values = Object.entries(databaseRecord({ database_id: databaseId }));
const record = values.map(([name, value]): Entry => [name, JSON.stringify(value)]);

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const characters = fc.constantFrom(...letters, "+", "/", "=", "-", "_", ".");
/** Credentials of every well-formed kind. */
const credential = fc.oneof(
  fc.string({ unit: characters, minLength: 12, maxLength: 44 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 30 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
  fc.constantFrom('"', "\\", "'", "$&", "%00", "{id}", "null", "true", "0", "undefined", "[secret]", "\u0000"),
  fc.constantFrom(
    " ",
    "\u2028",
    "a\r\nb",
    "</script>",
    "\ufeffp",
    "💥",
    "e\u0301",
    "x".repeat(20_000),
    "[object Object]",
  ),
  fc.constantFrom("04da6b54-80e4-46f7-96ec-b56ff0331ba9", "4dabf18193072939515e22adb298388d", "\ud800", "p\ufffd"),
);
const credentialName = fc.constantFrom(...(Object.keys(credentialNames) as (keyof typeof credentialNames)[]));
/** Mostly a well-formed credential, sometimes another value. */
const credentialJson = credential.map((text) => JSON.stringify(text));
const credentialEntry: fc.Arbitrary<Entry> = fc.tuple(
  credentialName,
  fc.oneof({ weight: 8, arbitrary: credentialJson }, { weight: 1, arbitrary: jsonValue }),
);

const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...record.map(([name]) => name)) },
  { weight: 2, arbitrary: fc.constantFrom(...hostileNames) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);

/** The entries of a record of which some were damaged, left out, doubled or added. */
const entries: fc.Arbitrary<Entry[]> = fc
  .tuple(
    fc.oneof(fc.constant(record), fc.subarray(record), fc.constant([])),
    fc.array(fc.tuple(name, jsonValue), { maxLength: 4 }),
    fc.array(credentialEntry, { maxLength: 4 }),
    fc.nat(),
  )
  .map(([kept, damaged, credentials, at]) => {
    const all = [...kept, ...damaged];
    const position = at % (all.length + 1);
    return [...all.slice(0, position), ...credentials, ...all.slice(position)];
  });

const insertion = fc
  .tuple(fc.nat(), fc.string({ unit: "binary", maxLength: 3 }))
  .map(([at, inserted]) => (text: string) => {
    const position = at % (text.length + 1);
    return text.slice(0, position) + inserted + text.slice(position);
  });

/** What happens to the text of a record in transit: mostly nothing. */
const journey: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { weight: 30, arbitrary: fc.constant((text: string) => text) },
  { weight: 3, arbitrary: fc.nat().map((at) => (text: string) => text.slice(0, at % (text.length + 1))) },
  { weight: 2, arbitrary: insertion },
  {
    weight: 3,
    arbitrary: fc.constantFrom<(text: string) => string>(
      (text) => `\n\t ${text}\r\n`,
      (text) => `\ufeff${text}`,
      (text) => `[${text}]`,
      (text) => `${text}${text}`,
      (text) => JSON.stringify(text),
      (text) => `<html><body>${text}</body></html>`,
      (text) => `{"result":${text}}`,
      (text) => `data: ${text}\n\n`,
      (text) => text.replaceAll('"', "'"),
    ),
  },
);

const garbage = fc.oneof(jsonValue, fc.string({ unit: "binary" })).map((text) => ({ text, credentials: [] }));

/** Responses to a reset. */
export const answer: fc.Arbitrary<Answer> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.tuple(entries, journey).map(([list, travel]) => {
      const sent = `{${list.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
      const text = travel(sent);
      return { text, credentials: text.trim() === sent ? credentialsIn(list) : [] };
    }),
  },
  { weight: 1, arbitrary: garbage },
);

/** Of names that are sent twice, and of spellings of one name, the last value counts. */
function credentialsIn(list: readonly Entry[]): (readonly [string, string])[] {
  const found = new Map<string, readonly [string, string]>();
  for (const [wireName, json] of new Map(list)) {
    if (!Object.hasOwn(credentialNames, wireName)) continue;
    const value = tryParse(json);
    const name = credentialNames[wireName as keyof typeof credentialNames];
    if (typeof value === "string" && value !== "") found.set(name, [wireName, value]);
    // Its digits count.
    if (typeof value === "number") found.delete(name);
  }
  return [...found.values()];
}

/** The value of a JSON text; undefined if it is not JSON. */
export function tryParse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
