import assert from "node:assert/strict";
import {
  engineMessage,
  reveal,
  secretNames,
  unknownNames,
  withoutProvider,
  wrap,
} from "../../../provider/engine/properties";
import { secret, unknownValue } from "../../../provider/records/markers";

const signature = "4dabf18193072939515e22adb298388d";
const secretKind = "1b47061264138c4ac30d75fd1eb44270";

describe("values between engine and host", () => {
  it("marks every secret by Pulumi's signature, and nothing else", () => {
    const outputs = { password: "p", token: "", list: ["a"], other: "o" };
    assert.deepEqual(wrap(outputs, ["password", "token", "list", "absent"]), {
      password: { [signature]: secretKind, value: "p" },
      token: { [signature]: secretKind, value: "" },
      list: { [signature]: secretKind, value: ["a"] },
      other: "o",
    });
    assert.equal(outputs.password, "p", "the given outputs are not changed");
  });

  it("keeps a null secret, and omits an undefined one", () => {
    assert.deepEqual(wrap({ password: undefined, token: null }, ["password", "token"]), { token: secret(null) });
  });

  it("has no value that the host cannot send: no undefined and no bigint, at any depth", () => {
    const outputs = { a: undefined, b: 5n, c: { d: [undefined, 6n], e: undefined } };
    assert.deepEqual(wrap(outputs, []), { b: "5", c: { d: [null, "6"] } });
  });

  it("removes the provider's text, and nothing else", () => {
    assert.deepEqual(withoutProvider({ __provider: "text", databaseId: "db" }), { databaseId: "db" });
  });

  it("removes the marks of secrets at any depth, and nothing else", () => {
    const marked = { a: secret({ b: secret("x"), c: [secret(null), 1] }), d: "e", f: null, g: [true], h: { value: 1 } };
    const plain = { a: { b: "x", c: [null, 1] }, d: "e", f: null, g: [true], h: { value: 1 } };
    assert.deepEqual(reveal(marked), plain);
    assert.equal(reveal(secret("x")), "x");
    assert.equal(reveal(undefined), undefined);
  });

  it("names the properties that are secret or contain a secret", () => {
    const values = { a: secret("x"), b: { c: [1, secret("y")] }, d: { e: null }, f: "g", h: null, i: undefined, j: [] };
    assert.deepEqual(secretNames(values), ["a", "b"]);
  });

  it("shortens a message in its middle to what gRPC can carry, and repairs its Unicode", () => {
    assert.equal(engineMessage("a".repeat(4_000)), "a".repeat(4_000));
    assert.equal(engineMessage("half \ud800"), "half \uFFFD");
    const short = engineMessage(`begin ${"é".repeat(4_000)} end`);
    assert.ok(/^begin é+ \[…\] é+ end$/.test(short), short);
    const { length } = encodeURI(short);
    assert.ok(length <= 4_000 && length > 3_500, String(length));
  });

  it("names the inputs that are unknown or contain an unknown value", () => {
    const inputs = {
      known: "x",
      nothing: undefined,
      none: null,
      unknown: unknownValue,
      deep: { a: [unknownValue] },
      mentioned: `about ${unknownValue}`,
    };
    assert.deepEqual([...unknownNames(inputs)], ["unknown", "deep"]);
  });
});
