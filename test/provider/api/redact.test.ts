import assert from "node:assert/strict";
import fc from "fast-check";
import { redact } from "../../../provider/api/redact";

const password = 'p@ss "w/rd"+ü';
const user = "ops@example.com";
const secrets = [password, `${user}:${password}`];
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const forms: Readonly<Record<string, string>> = {
  raw: password,
  "JSON-escaped": JSON.stringify(password).slice(1, -1),
  "URL-encoded": encodeURIComponent(password),
  "in base64": base64(password),
  "in base64 without padding": base64(password).replace(/=+$/, ""),
  "as user:password": `${user}:${password}`,
  "as user:password in base64": base64(`${user}:${password}`),
  "as user:password in base64, URL-encoded": encodeURIComponent(base64(`${user}:${password}`)),
  "as the header": `Basic ${base64(`${user}:${password}`)}`,
};

describe("api: redact", () => {
  for (const [form, text] of Object.entries(forms)) {
    it(`hides the password ${form}`, () => {
      const shown = redact(`wrong: ${text}; ${text}.`, secrets);
      assert.match(shown, /^wrong: (Basic )?\[secret\]; (Basic )?\[secret\]\.$/);
    });
  }

  it("hides a token, also where it stands in another secret", () => {
    assert.equal(redact("Bearer tok, tokens", ["tok"]), "Bearer [secret], [secret]ens");
    assert.equal(redact("abcd abc", ["abc", "abcd"]), "[secret] [secret]");
  });

  it("makes one short line, and cuts it only after what is secret is gone", () => {
    assert.equal(redact(" a\r\n\tb\u0000\u001b[31mc\u0085 ", []), "a b [31mc");
    assert.equal(redact("x".repeat(301), []), `${"x".repeat(300)}…`);
    assert.equal(redact("x".repeat(300), []), "x".repeat(300));
    const shown = redact(`${"x".repeat(295)}${password}`, secrets);
    assert.equal(shown, `${"x".repeat(295)}[secr…`);
  });

  it("hides nothing where there is no secret", () => assert.equal(redact("a b", ["", ""]), "a b"));

  it("throws for no secret at all", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "$&", "%", "["));
    fc.assert(
      fc.property(text, text, text, (before, secret, after) => {
        const shown = redact(before + secret + after, [secret]);
        if (secret.length > 8) assert.ok(!shown.includes(secret));
      }),
    );
  });
});
