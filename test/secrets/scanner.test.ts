import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { formsOf, leaksOf } from "../support/canaries";
import { encodings } from "../support/encodings";

const secret = `cañary "7c1f"/a+b&c=d%20é`;
const canaries = { password: secret };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A leak in each form: as servers echo it, and planted as programs make them. */
const planted: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(encodings).map(([how, encode]) => [how, `you sent ${encode(secret)}.`])),
  raw: `the password is ${secret}.`,
  "in JSON in JSON": JSON.stringify({ body: JSON.stringify({ password: secret }) }),
  "in a query": `https://platform.test/?${new URLSearchParams({ a: "b", password: secret }).toString()}`,
  "in a redirect to a query": `https://p.test/?to=${encodeURIComponent(`/?p=${encodeURIComponent(secret)}`)}`,
  "as a header": `Basic ${base64(`admin:${secret}`)}`,
  "as a header in an escaped URL": encodeURIComponent(`Basic ${base64(`admin:${secret}`)}`),
  "in a token": `x.${Buffer.from(`{"p":1}${secret}`).toString("base64url")}.y`,
  "as bytes": inspect(Buffer.from(secret)),
  "in hex": Buffer.from(secret).toString("hex"),
  "as a value that is inspected": inspect({ config: { headers: { auth: secret } } }, { depth: null }),
  backwards: [...secret].reverse().join(""),
};

describe("secrets: the scan", () => {
  for (const [how, text] of Object.entries(planted)) {
    it(`finds what leaked ${how}`, () => {
      const [leak] = leaksOf(text, canaries);
      assert.equal(leak?.canary, "password", text);
      assert.ok(text.includes(leak.around));
    });
  }

  it("finds any secret in base64, at any position in what was encoded", () => {
    const any = fc.string({ unit: "binary", minLength: 10, maxLength: 40 });
    fc.assert(
      fc.property(any, any, any, (before, canary, after) => {
        for (const encoding of ["base64", "base64url"] as const) {
          const text = Buffer.concat([before, canary, after].map((part) => Buffer.from(part))).toString(encoding);
          assert.notDeepEqual(leaksOf(text, { canary }), []);
        }
      }),
    );
  });

  it("finds nothing if nothing leaked", () => {
    const mark = createHmac("sha256", "salt").update(secret).digest("hex");
    const innocent = [mark, "password", "[secret]", base64("admin:other-password"), secret.slice(0, 12), "ca\u00f1ary"];
    assert.deepEqual(leaksOf(innocent.join("\n"), canaries), []);
  });

  it("names each canary that leaked, with the form", () => {
    const [one, two, three] = ["canary-number-1", "canary-number-2", "canary-number-3"];
    const found = leaksOf(`a ${one} b ${base64(two)}`, { one, two, three });
    const forms = found.map(({ canary, form }) => `${canary}: ${form}`);
    assert.deepEqual(forms, ["one: raw", "two: base64 at 0"]);
  });

  it("refuses a canary that is short enough to occur by chance", () => {
    assert.throws(() => leaksOf("", { short: "123456789" }), /too short/);
    assert.ok(formsOf("1234567890").every(({ text }) => text.length >= 10));
  });
});
