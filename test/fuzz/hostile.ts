import fc from "fast-check";

/** JSON texts that parsers often read incorrectly. Some are not valid JSON. */
export const hostileValues: readonly string[] = [
  ...["null", "true", "false", "0", "-0", "1", "-1", "1.5", '""', "[]", "{}", "[null]", '"true"', '"1"'],
  // Numbers that JavaScript, protobuf or a database cannot hold.
  ...["1e999", "-1e999", "1e-999", "9007199254740993", "18446744073709551616", "-9223372036854775809"],
  ...["0.1234567890123456789012345", "1E400", "9".repeat(450), "[1e999]", '{"a":9007199254740993}'],
  // Words that resemble values.
  ...["NaN", "Infinity", "-Infinity", "undefined", "nul", "True", "0x10", "01", "+1", ".5", "'text'", "1n"],
  ...['"NaN"', '"Infinity"', '"undefined"', '"[object Object]"', '"1e999"'],
  // Broken Unicode, and characters that texts do not like.
  ...['"\\ud800"', '"\\udc00x"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\u2028\\u2029"', '"\\ufeff"', '"\ufffd"'],
  ...['"\\q"', '"\\u12"', '"\u0001"', '"a\nb"', '["\\ud800"]', '{"\\ud800":"\\udfff"}'],
  // Pulumi's own markers: a secret, an asset, a resource, an output; unknown values of each type.
  '{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":"x"}',
  '{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}',
  '{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","path":"/etc/passwd"}',
  '{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"urn:x"}',
  '{"4dabf18193072939515e22adb298388d":"d0e6a833031e9bbcd3f4e8bde6ca49a4"}',
  '{"4dabf18193072939515e22adb298388d":null}',
  '"04da6b54-80e4-46f7-96ec-b56ff0331ba9"',
  '["04da6b54-80e4-46f7-96ec-b56ff0331ba9"]',
  '{"04da6b54-80e4-46f7-96ec-b56ff0331ba9":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}',
  '"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"',
  '"6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"',
  // What a careless merge puts on a prototype.
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":null,"toString":1,"valueOf":2,"toJSON":3,"hasOwnProperty":4,"then":5}',
  '{"isLosslessNumber":true,"value":"1"}',
  '{"type":"Buffer","data":[1,2]}',
];

/** Names that mean something to JavaScript, to Pulumi or to JSON libraries. */
export const hostileNames: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "toJSON", "valueOf", "hasOwnProperty", "then", "length"],
  ...["__provider", "id", "urn", "outcome", "memory", "problems", "record", "otherFields"],
  ...["4dabf18193072939515e22adb298388d", "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "value", "isLosslessNumber"],
  ...["", "0", " ", "\u0000", "\ud800", "é", "💥", "__", "_a", "a_", "db__port", "security_addons", "$ref"],
];

/** A value nested so deep, or a text so long, that some readers refuse it. */
const tooLarge = fc
  .tuple(
    fc.constantFrom(["[", "]"], ['{"a":', "}"], ['[{"b":', "}]"]),
    fc.constantFrom(90, 101, 600, 3_000, 9_000),
    fc.boolean(),
  )
  .map(([pair, depth, long]) =>
    long ? `"${"x".repeat(depth * 20)}"` : `${pair[0]?.repeat(depth) ?? ""}1${pair[1]?.repeat(depth) ?? ""}`,
  );

/** Any JSON value, as text, of a size that every reader accepts; sometimes not JSON. */
export const smallValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...hostileValues) },
  { weight: 4, arbitrary: fc.string({ unit: "binary", maxLength: 12 }).map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)) },
);

/** The same of any size. */
export const jsonValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 19, arbitrary: smallValue },
  { weight: 1, arbitrary: tooLarge },
);
