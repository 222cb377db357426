import assert from "node:assert/strict";
import { containsPath, ignoreChanges, parsePath } from "../../../local/engine/paths";
import { aliasUrns, nameOf } from "../../../local/engine/urns";
import {
  annotateSecrets,
  changedKeys,
  fromStruct,
  markSecretOutputs,
  type PropertyMap,
  secret,
  toProvider,
  toStruct,
  unknown,
} from "../../../local/engine/values";

/** The key that marks an object as a special value of Pulumi. */
const signature = "4dabf18193072939515e22adb298388d";

describe("the local engine's property values", () => {
  const values: PropertyMap = {
    nothing: null,
    yes: true,
    number: 1.5,
    text: "täxt",
    list: [1, secret([secret("inner")])],
    object: { deep: secret({ a: 1 }) },
    unknown: unknown,
  };

  it("cross the protocol and come back", () => {
    assert.deepEqual(fromStruct(toStruct(values)), values);
  });

  it("give a provider the id of a resource", () => {
    const reference = { [signature]: "5cf8f73096256a8f31e491e813e4eb8e", urn: "urn:x", id: "an-id" };
    assert.deepEqual(fromStruct(toProvider({ reference })), { reference: "an-id" });
    assert.deepEqual(fromStruct(toStruct({ reference })), { reference });
  });

  it("are marked secret by name, deep in objects, and lists as a whole", () => {
    const ins = { a: secret(1), b: { c: secret(1), d: 1 }, e: [1, secret(2)], f: 1, gone: secret(1) };
    const outs = { a: 2, b: { c: 2, d: 2, x: 2 }, e: [2, 2], f: 2 };
    const annotated = { a: secret(2), b: { c: secret(2), d: 2, x: 2 }, e: secret([2, 2]), f: 2 };
    assert.deepEqual(annotateSecrets(outs, ins), annotated);
    const marked = markSecretOutputs({ a: 1, b: 1, c: 1, d: secret(1) }, { b: secret(0) }, ["a", "d"]);
    assert.deepEqual(marked, { a: secret(1), b: secret(1), c: 1, d: secret(1) });
  });

  it("are compared by what secrets hide", () => {
    assert.deepEqual(changedKeys({ a: 1, b: secret(1), c: 1 }, { a: 2, b: 1, d: 1 }), ["a", "c", "d"]);
  });

  it("are refused if they hold assets or a malformed secret", () => {
    const read = (kind: string) => fromStruct(toStruct({ x: [{ [signature]: kind }] }));
    assert.throws(() => read("c44067f5952c0a294b673a41bacd8c17"), /an asset or archive is not supported/);
    assert.throws(() => read("1b47061264138c4ac30d75fd1eb44270"), /malformed secret/);
  });
});

describe("the local engine's property paths", () => {
  it("are read as the options write them", () => {
    assert.deepEqual(parsePath('a.b[0]["c.d"].*[*]'), ["a", "b", 0, "c.d", "*", "*"]);
    assert.deepEqual(parsePath('["a\\"b"]'), ['a"b']);
    for (const malformed of ["", "a[", "a..b", "[x]"]) assert.equal(parsePath(malformed), undefined, malformed);
    assert.ok(containsPath(["*"], ["#initerror"]));
    assert.ok(containsPath(["a"], ["a", 0]));
    assert.ok(!containsPath(["a", 0], ["a"]));
  });

  it("put old values back", () => {
    const cases: { news: PropertyMap; olds: PropertyMap; path: string; inputs: PropertyMap; invalid?: string[] }[] = [
      { news: { a: 2, b: 2 }, olds: { a: 1, b: 1 }, path: "a", inputs: { a: 1, b: 2 } },
      { news: { a: 2 }, olds: {}, path: "a", inputs: {} },
      { news: {}, olds: { a: 1 }, path: "a", inputs: { a: 1 } },
      { news: { a: { b: 2, c: 2 } }, olds: { a: { b: 1, c: 1 } }, path: "a.b", inputs: { a: { b: 1, c: 2 } } },
      { news: { a: [2, 2] }, olds: { a: [1, 1] }, path: "a[1]", inputs: { a: [2, 1] } },
      { news: { a: [2, 2] }, olds: { a: [1] }, path: "a[1]", inputs: { a: [2, 2] }, invalid: ["a[1]"] },
      { news: { a: 2, n: 2 }, olds: { a: 1, o: 1 }, path: "*", inputs: { a: 1, o: 1 } },
      { news: { a: 2 }, olds: { a: secret(1) }, path: "a", inputs: { a: secret(1) } },
      { news: { a: { b: 2 } }, olds: { a: secret({ b: 1 }) }, path: "a.b", inputs: { a: { b: secret(1) } } },
      { news: { a: 2 }, olds: { a: 1 }, path: "a[", inputs: { a: 2 } },
    ];
    for (const { news, olds, path, inputs, invalid = [] } of cases) {
      assert.deepEqual(ignoreChanges(news, olds, [path]), { inputs, invalid }, JSON.stringify({ news, olds, path }));
    }
  });
});

describe("the local engine's names", () => {
  const stack = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";
  it("may contain `::`", () => assert.equal(nameOf("urn:pulumi:dev::p::m:i:Thing::a::b"), "a::b"));

  it("have aliases of their own, and through their parents", () => {
    const of = { stack: "dev", project: "p", parent: stack, type: "m:i:Thing", name: "new" };
    const urn = (suffix: string) => `urn:pulumi:dev::p::m:i:${suffix}`;
    const own = aliasUrns(of, [{ name: "old" }, { urn: "urn:x" }, { name: "old" }], () => undefined);
    assert.deepEqual(own, [urn("Thing::old"), "urn:x"]);
    const parent = urn("Comp::comp2");
    const before = (of: string): string | undefined => (of === parent ? urn("Comp::comp1") : undefined);
    const inherited = aliasUrns({ ...of, parent, name: "comp2-child" }, [], before);
    assert.deepEqual(inherited, [urn("Comp$m:i:Thing::comp1-child")]);
    const both = aliasUrns({ ...of, parent }, [{ parent: undefined }], before);
    assert.deepEqual(both, [urn("Thing::new"), urn("Comp$m:i:Thing::new")]);
  });
});
