import assert from "node:assert/strict";
import fc from "fast-check";
import { InputError } from "../../../provider/platform/errors";
import { fillPath } from "../../../provider/platform/http";

const refused: Readonly<Record<string, RegExp>> = {
  "": /^id must not be empty/,
  " \t\n": /^id must not be empty/,
  ".": /^id must not be "\."/,
  "..": /^id must not be "\.\."/,
  "a\ud800": /^id must be well-formed/,
  "\udc00b": /^id must be well-formed/,
};

describe("platform: path", () => {
  for (const [part, message] of Object.entries(refused)) {
    it(`refuses ${JSON.stringify(part)}`, () => {
      const expected = { name: InputError.name, property: "id", delivery: "not sent", message };
      assert.throws(() => fillPath("/v2/{id}", { id: part }), expected);
    });
  }

  it("refuses a part that is not given", () =>
    assert.throws(() => fillPath("/{a}/{b}", { a: "1" }), /^InputError: b /));

  it("is decoded to the part by a server, and changes nothing else in the path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (part) => {
        fc.pre(part.trim() !== "" && part !== "." && part !== "..");
        const { pathname, search, hash } = new URL(`https://platform.test${fillPath("/v2/{id}/reset", { id: part })}`);
        const [, first, id = "", last, ...more] = pathname.split("/");
        assert.deepEqual(
          { first, last, more, search, hash },
          { first: "v2", last: "reset", more: [], search: "", hash: "" },
        );
        assert.equal(decodeURIComponent(id), part);
      }),
      { examples: [["../b"], ["%2e%2e"], ["a?b#c"], ["ü 字"], ["..."], ["{id}"], ["$&"]] },
    );
  });
});
