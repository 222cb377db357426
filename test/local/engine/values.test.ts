import assert from "node:assert/strict";
import { containsPath, ignoreChanges, parsePath } from "../../../local/engine/paths";
import { aliasUrns, makeUrn, nameOf, typeOf } from "../../../local/engine/urns";
import {
  annotateSecrets,
  changedKeys,
  fromStruct,
  markSecretOutputs,
  masked,
  type PropertyMap,
  reveal,
  secret,
  toProvider,
  toStruct,
  unknown,
} from "../../../local/engine/values";

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

  it("reach a provider without the secrets' wrappings", () => {
    const plain = fromStruct(toProvider(values));
    assert.deepEqual(plain.list, [1, ["inner"]]);
    assert.deepEqual(plain.object, { deep: { a: 1 } });
  });

  it("give a provider the id of a resource", () => {
    const reference = {
      "4dabf18193072939515e22adb298388d": "5cf8f73096256a8f31e491e813e4eb8e",
      urn: "urn:x",
      id: "an-id",
    };
    assert.deepEqual(fromStruct(toProvider({ reference })), { reference: "an-id" });
    assert.deepEqual(fromStruct(toStruct({ reference })), { reference });
  });

  it("are marked secret by name, deep in objects, and lists as a whole", () => {
    const ins = { a: secret(1), b: { c: secret(1), d: 1 }, e: [1, secret(2)], f: 1, gone: secret(1) };
    const outs = { a: 2, b: { c: 2, d: 2, x: 2 }, e: [2, 2], f: 2 };
    assert.deepEqual(annotateSecrets(outs, ins), {
      a: secret(2),
      b: { c: secret(2), d: 2, x: 2 },
      e: secret([2, 2]),
      f: 2,
    });
    assert.deepEqual(markSecretOutputs({ a: 1, b: 1, c: 1, d: secret(1) }, { b: secret(0) }, ["a", "d"]), {
      a: secret(1),
      b: secret(1),
      c: 1,
      d: secret(1),
    });
  });

  it("are compared by what secrets hide", () => {
    assert.deepEqual(changedKeys({ a: 1, b: secret(1), c: 1 }, { a: 2, b: 1, d: 1 }), ["a", "c", "d"]);
  });

  it("are masked for people", () => {
    assert.deepEqual(masked({ a: secret("x"), b: [secret(1)], c: unknown }), {
      a: "[secret]",
      b: ["[secret]"],
      c: "[unknown]",
    });
    assert.deepEqual(reveal({ a: secret({ b: secret("x") }) }), { a: { b: "x" } });
  });

  it("are refused where they hold assets, or a secret that is none", () => {
    const signed = (signature: string): PropertyMap => ({ x: [{ "4dabf18193072939515e22adb298388d": signature }] });
    assert.throws(
      () => fromStruct(toStruct(signed("c44067f5952c0a294b673a41bacd8c17"))),
      /an asset or archive is not supported by the local engine/,
    );
    assert.throws(() => fromStruct(toStruct(signed("1b47061264138c4ac30d75fd1eb44270"))), /malformed secret/);
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
      [{ a: 2 }, { a: secret(1) }, ["a"], { a: secret(1) }, []],
      [{ a: { b: 2 } }, { a: secret({ b: 1 }) }, ["a.b"], { a: { b: secret(1) } }, []],
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
    const of = { stack: "dev", project: "p" };
    assert.equal(makeUrn({ ...of, parent: undefined, type: "pulumi:pulumi:Stack", name: "p-dev" }), stack);
    const parent = makeUrn({ ...of, parent: stack, type: "m:i:Comp", name: "c" });
    const child = makeUrn({ ...of, parent, type: "m:i:Thing", name: "a::b" });
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
    assert.deepEqual(aliasUrns({ ...of, parent }, [{ parent: undefined }], before), [
      "urn:pulumi:dev::p::m:i:Thing::new",
      "urn:pulumi:dev::p::m:i:Comp$m:i:Thing::new",
    ]);
  });
});
