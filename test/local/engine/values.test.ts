import assert from "node:assert/strict";
import { containsPath, ignoreChanges, parsePath } from "../../../local/engine/paths";
import { aliasUrns, makeUrn, nameOf, typeOf } from "../../../local/engine/urns";
import {
  annotateSecrets,
  changedKeys,
  fromStruct,
  markSecretOutputs,
  type PropertyMap,
  sameValue,
  Secret,
  toPlain,
  toStruct,
  Unknown,
} from "../../../local/engine/values";

describe("the local engine's property values", () => {
  const values: PropertyMap = {
    nothing: null,
    yes: true,
    number: 1.5,
    text: "täxt",
    list: [1, new Secret([new Secret("inner")])],
    object: { deep: new Secret({ a: 1 }) },
    unknown: Unknown.value,
  };

  it("cross the protocol and come back", () => {
    assert.deepEqual(fromStruct(toStruct(values, { secrets: true, resources: true })), values);
  });

  it("reach a provider without the secrets' wrappings", () => {
    const plain = fromStruct(toStruct(values, { secrets: false, resources: false }));
    assert.deepEqual(plain.list, [1, ["inner"]]);
    assert.deepEqual(plain.object, { deep: { a: 1 } });
  });

  it("replace a resource by its id for who does not know references", () => {
    const reference = {
      "4dabf18193072939515e22adb298388d": "5cf8f73096256a8f31e491e813e4eb8e",
      urn: "urn:x",
      id: "an-id",
    };
    assert.deepEqual(fromStruct(toStruct({ reference }, { secrets: false, resources: false })), { reference: "an-id" });
    assert.deepEqual(fromStruct(toStruct({ reference }, { secrets: false, resources: true })), { reference });
  });

  it("are marked secret by name, deep in objects, and lists as a whole", () => {
    const ins = { a: new Secret(1), b: { c: new Secret(1), d: 1 }, e: [1, new Secret(2)], f: 1, gone: new Secret(1) };
    const outs = { a: 2, b: { c: 2, d: 2, x: 2 }, e: [2, 2], f: 2 };
    assert.deepEqual(annotateSecrets(outs, ins), {
      a: new Secret(2),
      b: { c: new Secret(2), d: 2, x: 2 },
      e: new Secret([2, 2]),
      f: 2,
    });
    assert.deepEqual(markSecretOutputs({ a: 1, b: 1, c: 1, d: new Secret(1) }, { b: new Secret(0) }, ["a", "d"]), {
      a: new Secret(1),
      b: new Secret(1),
      c: 1,
      d: new Secret(1),
    });
  });

  it("are compared deeply", () => {
    assert.ok(sameValue({ a: [1, new Secret(2)] }, { a: [1, new Secret(2, "ciphertext")] }));
    assert.ok(!sameValue({ a: new Secret(1) }, { a: 1 }));
    assert.ok(!sameValue({ a: 1 }, { a: 1, b: 1 }));
    assert.ok(!sameValue([1], { 0: 1 }));
    assert.deepEqual(changedKeys({ a: 1, b: new Secret(1), c: 1 }, { a: 2, b: 1, d: 1 }), ["a", "c", "d"]);
  });

  it("are masked for people", () => {
    assert.deepEqual(toPlain({ a: new Secret("x"), b: [new Secret(1)], c: Unknown.value }, false), {
      a: "[secret]",
      b: ["[secret]"],
      c: undefined,
    });
    assert.deepEqual(toPlain({ a: new Secret({ b: new Secret("x") }) }, true), { a: { b: "x" } });
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
    const cases: [PropertyMap, PropertyMap, string[], PropertyMap, string[]][] = [
      [{ a: 2, b: 2 }, { a: 1, b: 1 }, ["a"], { a: 1, b: 2 }, []],
      [{ a: 2 }, {}, ["a"], {}, []],
      [{}, { a: 1 }, ["a"], { a: 1 }, []],
      [{ a: { b: 2, c: 2 } }, { a: { b: 1, c: 1 } }, ["a.b"], { a: { b: 1, c: 2 } }, []],
      [{ a: [2, 2] }, { a: [1, 1] }, ["a[1]"], { a: [2, 1] }, []],
      [{ a: [2, 2] }, { a: [1] }, ["a[1]"], { a: [2, 2] }, ["a[1]"]],
      [{ a: 2, n: 2 }, { a: 1, o: 1 }, ["*"], { a: 1, o: 1 }, []],
      [{ a: 2 }, { a: new Secret(1) }, ["a"], { a: new Secret(1) }, []],
      [{ a: { b: 2 } }, { a: new Secret({ b: 1 }) }, ["a.b"], { a: { b: new Secret(1) } }, []],
      [{ a: 2 }, { a: 1 }, ["a["], { a: 2 }, []],
    ];
    for (const [news, olds, paths, inputs, invalid] of cases) {
      assert.deepEqual(ignoreChanges(news, olds, paths), { inputs, invalid }, JSON.stringify({ news, olds, paths }));
    }
  });
});

describe("the local engine's names", () => {
  const stack = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";
  it("hold the types of the parents", () => {
    assert.equal(makeUrn("dev", "p", undefined, "pulumi:pulumi:Stack", "p-dev"), stack);
    const parent = makeUrn("dev", "p", stack, "m:i:Comp", "c");
    const child = makeUrn("dev", "p", parent, "m:i:Thing", "a::b");
    assert.equal(child, "urn:pulumi:dev::p::m:i:Comp$m:i:Thing::a::b");
    assert.deepEqual([typeOf(child), nameOf(child)], ["m:i:Thing", "a::b"]);
  });

  it("have aliases of their own, and through their parents", () => {
    const of = { stack: "dev", project: "p", parent: stack, type: "m:i:Thing", name: "new" };
    const none = (): undefined => undefined;
    assert.deepEqual(aliasUrns(of, [{ name: "old" }, { urn: "urn:x" }, { name: "old" }], none), [
      "urn:pulumi:dev::p::m:i:Thing::old",
      "urn:x",
    ]);
    const parent = "urn:pulumi:dev::p::m:i:Comp::comp2";
    const before = (urn: string): string | undefined =>
      urn === parent ? "urn:pulumi:dev::p::m:i:Comp::comp1" : undefined;
    assert.deepEqual(aliasUrns({ ...of, parent, name: "comp2-child" }, [], before), [
      "urn:pulumi:dev::p::m:i:Comp$m:i:Thing::comp1-child",
    ]);
    assert.deepEqual(aliasUrns({ ...of, parent }, [{ noParent: true }], before), [
      "urn:pulumi:dev::p::m:i:Thing::new",
      "urn:pulumi:dev::p::m:i:Comp$m:i:Thing::new",
    ]);
  });
});
