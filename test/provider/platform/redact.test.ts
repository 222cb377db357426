import assert from "node:assert/strict";
import fc from "fast-check";
import { KnownSecrets, leftOut } from "../../../provider/platform/redact";
import { encodings } from "../../support/canaries";

const password = 'p@ss "w/rd"<+&é😀\\';
const base64 = (text: string): string => Buffer.from(text).toString("base64");
/** Around an echo: nothing, words, and what servers write around values. */
const places: readonly { readonly before: string; readonly after: string }[] = [
  { before: "", after: "" },
  { before: "you sent ", after: "." },
  { before: "Authorization: Basic ", after: " is wrong" },
  { before: '"', after: '"' },
  { before: '{\\"password\\":\\"', after: '\\"}' },
  { before: "?password=", after: "&page=2" },
  { before: "x", after: "yz" },
];
const redact = (words: string, secrets: readonly string[]): string => new KnownSecrets(secrets).quote(words);
const allNames = Object.keys(encodings);
const encode = (text: string, names: readonly string[]): string =>
  names.reduce((encoded, name) => encodings[name]?.(encoded) ?? "", text);

function assertLeftOut(words: string, secret: string): void {
  assert.equal(redact(words, ["other-secret", secret]), leftOut, JSON.stringify({ words, secret }));
}

describe("platform: redact", () => {
  for (const name of allNames) {
    it(`shows no words with a secret ${name}, or encoded once more`, () => {
      for (const { before, after } of places) {
        assertLeftOut(before + password + after, password);
        assertLeftOut(before + encode(password, [name]) + after, password);
        for (const next of allNames) assertLeftOut(before + encode(password, [name, next]) + after, password);
      }
    });
  }

  const printable = fc.string({ minLength: 6, maxLength: 40 });
  /** Secrets that themselves look like something escaped. */
  const escapeLike = fc
    .array(fc.constantFrom(..."%\\&;#u0425x/+ \"'<é", "%25", "\\u0041", "&amp;", "😀"), { minLength: 6, maxLength: 12 })
    .map((parts) => parts.join(""));
  const secrets = fc.oneof(printable, printable, fc.string({ unit: "grapheme", minLength: 6 }), escapeLike);

  it("shows no words with any secret, in any two encodings", () => {
    const names = fc.array(fc.constantFrom(...allNames), { maxLength: 2 });
    fc.assert(
      fc.property(secrets, names, fc.constantFrom(...places), (secret, names, { before, after }) => {
        assertLeftOut(before + encode(secret, names) + after, secret);
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows no words with a secret whose characters have different encodings", () => {
    const names = allNames.filter((name) => !/base64/.test(name));
    const ways = fc.array(fc.array(fc.constantFrom(...names), { maxLength: 2 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(fc.stringMatching(/^[\w!"$'()*,.:;<=>?@[\]^{|}~/ -]{6,40}$/), ways, (secret, ways) => {
        assertLeftOut([...secret].map((character, index) => encode(character, ways[index] ?? [])).join(""), secret);
      }),
      { numRuns: 500 },
    );
  });

  it("shows ordinary refusals unchanged", () => {
    const refusals = [
      "invalid API key or e-mail",
      'Unauthorized: {"code":401,"path":"\\/v2\\/keyvalue"}',
      "database db-1 was not found, see https://platform.test/docs?id=db%2D1&section=a+b#c",
      "R&D may not do this; 100% of its quota (5/5 \\ day) is used & gone",
      "Bearer realm=\\u0022queue\\u0022, error=&quot;expired&quot; &#8211; try later",
      "request 0f8fad5b-d9cb-469f-a165-70867728950e: AAAAB3NzaC1yc2EAAAADAQABAAABgQ==",
    ];
    for (const words of refusals) assert.equal(redact(words, [password, "database-2", "tok3n"]), words);
    const words = fc.string({ maxLength: 300 }).filter((one) => !/&[a-z]\w*;|##|::/i.test(one));
    fc.assert(
      fc.property(words, fc.uuid(), (words, secret) => {
        assert.equal(redact(words, [secret]), words.replace(/\s+/g, " ").trim());
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves out all words for a secret that is a common word or very short, and only if they contain it", () => {
    assert.equal(redact("the database is locked", ["database"]), leftOut);
    assert.equal(redact("the key is locked", ["database"]), "the key is locked");
    assert.equal(redact("ab", ["b"]), "[message not shown: it may contain a secret]");
    assert.equal(redact("!?", ["b"]), "!?");
  });

  it("shows all words if there is no secret", () => {
    for (const words of ["a b", ""]) for (const secrets of [[], [""]]) assert.equal(redact(words, secrets), words);
  });

  it("compares without white space", () => {
    assertLeftOut("it is a  b \n c!", "a b c!");
    assertLeftOut("it is a b c!", "\ta\u0001b\u0085\r\nc!");
    assertLeftOut("sec\nret", "secret");
    assertLeftOut(base64(password).replace(/.{5}/g, "$&\r\n"), password);
  });

  it("recognizes a secret with invalid Unicode", () => {
    assertLeftOut(encodeURIComponent("ab\ufffdcd"), "ab\ud800cd");
    assertLeftOut("ab\\ud800cd", "ab\ud800cd");
  });

  it("recognizes a secret whose end continues as an escape", () => {
    const endings: Readonly<Record<string, readonly string[]>> = {
      '\\"': ["\\", "\\\\"],
      "\\u0041": ["\\u", "\\u004"],
      "\\u00aB": ["\\u00a"],
      "%41": ["%"],
      "%a1": ["%a"],
      "%B1": ["%B"],
      "&#65;": ["&", "&#6"],
      "&#xa1;": ["&#xa"],
      "&#XA1;": ["&#XA"],
    };
    for (const [written, ends] of Object.entries(endings)) {
      for (const end of ends) assertLeftOut(`&quot;secret${written}`, `"secret${end}`);
    }
    assert.equal(redact("&quot;secre", ['"secret%']), "&quot;secre");
    assert.equal(redact("my secret%20 here", ["secret%2x"]), "my secret%20 here");
    for (const secret of ['"secret&x', '"secret%z', '"secret\\z', '"secret&#-', '"secret\\u00412']) {
      assert.equal(redact('"secret', [secret]), '"secret');
    }
  });

  it("leaves out what it cannot decode: an unknown entity, too many rounds of escapes, too many characters", () => {
    for (const words of ["caf&eacute;s", "caf&Eacute;s", "caf%26eacute%3Bs", "caf%252526eacute%25253Bs"]) {
      assertLeftOut(words, password);
    }
    assert.equal(redact("&#112assword", ["password"]), leftOut);
    assert.equal(redact("a&b c; d &; &1a;", [password]), "a&b c; d &; &1a;");
    assert.equal(redact("&#1114112;", ["a"]), "&#1114112;");
    assert.equal(redact("&#x10ffff;", ["\u{10ffff}"]), leftOut);
    assert.equal(redact(`%${"25".repeat(4)}41`, ["abc"]), `%${"25".repeat(4)}41`);
    assert.equal(redact(`%${"25".repeat(5)}41`, ["abc"]), leftOut);
    assert.equal(redact(" ".repeat(9_999) + "x", []), "x");
    assert.equal(redact(" ".repeat(10_000) + "x", []), leftOut);
  });

  it("makes one short line", () => {
    assert.equal(redact(" a\r\n\tb\u0000\u001b[31mc\u0085 ", []), "a b [31mc");
    assert.equal(redact("x".repeat(300), []), "x".repeat(300));
    assertLeftOut(`${"x".repeat(295)}${password}`, password);
  });

  it("cuts a long line between words: half of a secret could not be recognized later", () => {
    assert.equal(redact(`${"x".repeat(299)} y`, []), `${"x".repeat(299)}…`);
    assert.equal(redact(`${"x".repeat(290)} canary-of-later`, []), `${"x".repeat(290)}…`);
    assert.equal(redact("x".repeat(301), []), "…");
  });

  it("shows nothing that a terminal or a CI system interprets", () => {
    const shown: Readonly<Record<string, string>> = {
      "::set-output name=a::b": ": :set-output name=a: :b",
      "no\n:::add-mask::x": "no : : :add-mask: :x",
      "##[set-output name=a;]b": "# #[set-output name=a;]b",
      "###vso[task.setvariable variable=a]b": "# # #vso[task.setvariable variable=a]b",
      "#\u200b#teamcity[a]": "# #teamcity[a]",
      "a\u202eb\u2066c\u200fd\ufeffe\u00adf\u{e0041}g": "abcdefg",
      "see [::1]:80, a # b, #[c] and d: e": "see [::1]:80, a # b, #[c] and d: e",
    };
    for (const [words, expected] of Object.entries(shown)) assert.equal(redact(words, []), expected);
    assertLeftOut("se\u200bc\u202eret", "secret");
    assertLeftOut("secret", "sec\u200dret");
  });

  it("shows no record as JSON, whose credentials may be unknown", () => {
    for (const name of ["password", "rest_token", "restToken", "read_only_rest_token", "readOnlyRestToken"]) {
      const record = JSON.stringify({ id: "a", [name]: "new" });
      for (const words of [record, `failed: ${record}`, base64(record), encodeURIComponent(record)]) {
        assert.equal(redact(words, []), leftOut);
      }
    }
    assert.equal(redact('the password is wrong, "password" too: change it', []).startsWith("the"), true);
  });

  it("knows what was added, and leaves the rest of a text unchanged", () => {
    const known = new KnownSecrets(["first"]);
    const text = "urn::a  second\n";
    assert.equal(known.redact(text), text);
    known.add(["second", undefined, "", "second"]);
    assert.deepEqual(
      ["a first", text, "third"].map((one) => known.redact(one)),
      [leftOut, leftOut, "third"],
    );
  });

  it("shows 1,000 messages in a run that knows 3,000 secrets in a few seconds", () => {
    const secrets = Array.from({ length: 3_000 }, (_, nth) => `${nth}-canary-${nth % 7}`);
    const known = new KnownSecrets(secrets);
    const before = performance.now();
    for (let nth = 0; nth < 1_000; nth++) {
      assert.equal(known.quote(`database ${nth} is locked ${"again ".repeat(40)}`).startsWith("database"), true);
      known.add(secrets);
    }
    assert.ok(performance.now() - before < 10_000, `${performance.now() - before} ms`);
    assert.equal(known.quote("you sent 2999-canary-3"), leftOut);
  });

  it("throws for no words and no secret", () => {
    const odd = fc.constantFrom("\ud800", "$&", "%", "[", "%ff", "&#99999999;");
    const text = fc.oneof(fc.string({ unit: "binary" }), odd);
    fc.assert(fc.property(text, text, text, (before, secret, after) => void redact(before + secret + after, [secret])));
  });
});
