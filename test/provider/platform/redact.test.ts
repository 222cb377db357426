import assert from "node:assert/strict";
import fc from "fast-check";
import { leftOut, quote } from "../../../provider/platform/quote";
import { KnownSecrets } from "../../../provider/platform/redact";
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
const redact = (words: string, secrets: readonly string[]): string => quote(words, new KnownSecrets(secrets));
const allNames = Object.keys(encodings);
const encode = (text: string, names: readonly string[]): string =>
  names.reduce((encoded, name) => encodings[name]?.(encoded) ?? "", text);

/** Nothing of the secret is shown: either no words at all, or only those around it. */
function assertHidden(words: string, secret: string, around = ""): void {
  const shown = redact(words, ["other-secret", secret]);
  if (shown === leftOut) return;
  const others = shown.split(/[\s.]+/).filter((word) => !around.split(/[\s.]+/).includes(word));
  assert.doesNotMatch(others.join(" "), /[^…\s]/, JSON.stringify({ words, secret, shown }));
}

describe("platform: redact", () => {
  it("shows no words with a secret in any encoding, or encoded once more", () => {
    for (const name of allNames) {
      for (const { before, after } of places) {
        for (const next of [[], ...allNames.map((one) => [one])]) {
          assertHidden(before + encode(password, [name, ...next]) + after, password, `${before} ${after}`);
        }
        assert.equal(redact(before + password + after, [password]), leftOut);
      }
    }
  });

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
        assertHidden(before + encode(secret, names) + after, secret, `${before} ${after}`);
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows no words with a secret whose characters have different encodings", () => {
    const names = allNames.filter((name) => !/base64/.test(name));
    const ways = fc.array(fc.array(fc.constantFrom(...names), { maxLength: 2 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(fc.stringMatching(/^[\w!"$'()*,.:;<=>?@[\]^{|}~/ -]{6,40}$/), ways, (secret, ways) => {
        assertHidden([...secret].map((character, index) => encode(character, ways[index] ?? [])).join(""), secret);
      }),
      { numRuns: 500 },
    );
  });

  it("shows the plain words of a refusal as one short line: names of fields, small numbers and times, too", () => {
    for (const [words, expected = words] of [
      ["WRONGPASS invalid username-password pair or user is disabled."],
      ["invalid id: must be a UUID (field 'database_id', readOnlyRestToken)"],
      ["limit of 100 requests in 10s at 2026-11-21T12:00:30Z, 95% used"],
      [
        "l'utilisateur n’est pas autorisé – 許可されていません",
        "l'utilisateur n’est pas autorisé … 許可されていません",
      ],
      ["Unauthorized: read https://platform.test/docs?id=db again", "Unauthorized: read … again"],
      ["request 0f8fad5b-d9cb-469f-a165-70867728950e failed, code 123456", "request … failed, code …"],
      ["a\r\n\tb\u0000\u001b[31mc\u0085 ", "a …"],
      ["100% of R&D, or so", "100% of … or so"],
      [" a \n b ", "a b"],
      ["", ""],
      ["word ".repeat(61), leftOut],
    ] as const) {
      assert.equal(redact(words, [password]), expected);
    }
  });

  it("leaves out all words for a secret, even a common word or a very short one, and for escapes", () => {
    for (const [words, secret] of [
      ["the database is locked", "database"],
      ["ab", "b"],
      ["it is caf&eacute;s", password],
      ["it is caf%26s", password],
      ["it is caf\\u0041s", password],
    ] as const) {
      assert.equal(redact(words, [secret]), leftOut);
    }
    assert.equal(redact("the key is locked", ["database", ""]), "the key is locked");
  });

  it("shows no credential that is not known, wherever it is", () => {
    const unknown = "hunter";
    for (const words of [
      `{"data":{"token":"${unknown}"}}`,
      `{"data": {"token": "${unknown}"}}`,
      `token=${unknown}`,
      `token = ${unknown}`,
      `rest_token: ${unknown}`,
      `API key: ${unknown}, again`,
      `Bearer ${unknown}`,
      `authorization: Basic ${unknown}`,
      `redis://default:${unknown}@db.test:6379`,
      `connect to (rediss://${unknown}@db.test)`,
      `<password>${unknown}</password>`,
      `${unknown}7`,
      `${unknown}${unknown}${unknown}${unknown}`,
    ]) {
      assert.doesNotMatch(redact(words, []), /hunter/, words);
    }
  });

  it("compares without white space and invalid Unicode", () => {
    assertHidden("it is a  b \n c!", "a b c!");
    assertHidden("it is a b c!", "\ta\u0001b\u0085\r\nc!");
    assertHidden("sec\nret", "secret");
    assertHidden(base64(password).replace(/.{5}/g, "$&\r\n"), password);
    assertHidden(encodeURIComponent("ab\ufffdcd"), "ab\ud800cd");
  });

  it("shows nothing that a terminal or a CI system interprets", () => {
    for (const command of [
      "::set-output name=a::b",
      "\n:::add-mask::x",
      "##[set-output name=a;]b",
      "###vso[task.setvariable variable=a]b",
      "#\u200b#teamcity[a]",
      "a\u202eb\u2066c\u200fd\ufeffe\u00adf\u{e0041}g",
    ]) {
      assert.doesNotMatch(redact(`no ${command}`, []), /[^\w\s….]/u);
    }
    assertHidden("se\u200bc\u202eret", "secret");
    assertHidden("secret", "sec\u200dret");
  });

  it("shows no record as JSON, whose credentials may be unknown", () => {
    for (const name of ["password", "rest_token", "restToken", "read_only_rest_token", "readOnlyRestToken"]) {
      const record = JSON.stringify({ id: "a", [name]: "new" });
      for (const words of [record, `failed: ${record}`, base64(record)]) assert.equal(redact(words, []), leftOut);
    }
    for (const words of ['["password": "new words"]', "'rest_token' : 'new words'"]) {
      assert.equal(redact(words, []), leftOut);
    }
    assert.equal(redact('the password is wrong, "password" too: change it', []).startsWith("the"), true);
  });

  it("replaces secrets in a text of ours, and leaves the rest of it unchanged", () => {
    const known = new KnownSecrets(["first"]);
    const text = "urn::a  second\n";
    assert.equal(known.redact(text), text);
    const long = Array.from({ length: 50 }, (_, nth) => `${nth}`).join("-");
    known.add(["second", undefined, "", "second", "ondage", "ab", long, long.slice(0, 40), "a-long-one", "long"]);
    for (const [given, expected] of [
      ["a first", "a …"],
      [text, "urn::a  …\n"],
      ["third, ab", "third, ab"],
      ["secondage of it", "… of it"],
      [`to ${long}!`, "to …!"],
      ["an a-long-one!", "an …!"],
    ] as const) {
      assert.equal(known.redact(given), expected);
    }
  });

  it("shows a name as one line, without what a terminal or a CI system interprets", () => {
    const known = new KnownSecrets(["canary"]);
    for (const [name, expected] of [
      ["urn:pulumi:dev::app::type::name-1", "urn:pulumi:dev: :app: :type: :name-1"],
      ["a\u202eb\n##[group]c canary", "ab # #[group]c …"],
    ] as const) {
      assert.equal(known.redactName(name), expected);
    }
  });

  it("takes in the secrets of a hostile server, and searches for them, in seconds at most", () => {
    const before = process.cpuUsage();
    const known = new KnownSecrets([]);
    known.add(Array.from({ length: 100_000 }, (_, nth) => `${"a".repeat(nth % 200)}${nth}`));
    assert.equal(known.redact("a".repeat(4_000)), "…");
    quote("a ".repeat(10_000), known);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 5_000_000, `${(user + system) / 1000} ms`);
  });

  it("throws for no words and no secret", () => {
    const odd = fc.constantFrom("\ud800", "$&", "%", "[", "%ff", "&#99999999;");
    const text = fc.oneof(fc.string({ unit: "binary" }), odd);
    fc.assert(fc.property(text, text, text, (before, secret, after) => void redact(before + secret + after, [secret])));
  });
});
