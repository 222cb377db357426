import assert from "node:assert/strict";
import * as rpc from "@pulumi/pulumi/runtime/rpc";
import {
  engineMessage,
  isFaithful,
  isSecret,
  isUnknown,
  secret,
  secretNames,
  unknownValue,
  wrap,
} from "../../../provider/pulumi/values";

describe("values between engine and host", () => {
  it("have every secret marked by Pulumi's signature, nothing else, and no undefined and no bigint at any depth", () => {
    const marked = (value: unknown) => ({ [rpc.specialSigKey]: rpc.specialSecretSig, value });
    for (const [outputs, names, wrapped] of [
      [{ password: "p", other: "o" }, ["password", "absent"], { password: marked("p"), other: "o" }],
      [{ token: "", list: ["a"] }, ["token", "list"], { token: marked(""), list: marked(["a"]) }],
      [{ password: undefined, token: null }, ["password", "token"], { token: marked(null) }],
      [{ password: marked("p") }, ["password"], { password: marked("p") }],
      [{ a: undefined, b: 5n, c: { d: [undefined, 6n], e: undefined } }, [], { b: "5", c: { d: [null, "6"] } }],
    ] as const) {
      assert.deepEqual(wrap(outputs, names), wrapped);
    }
    assert.ok(rpc.isRpcSecret(secret("x")) && isSecret(secret("x")));
    for (const other of [{ value: "x" }, { [rpc.specialSigKey]: rpc.specialAssetSig, value: "x" }, []]) {
      assert.equal(isSecret(other), false);
    }
    const values = { a: secret("x"), b: { c: [1, secret("y")] }, d: { e: null }, f: "g", h: null, i: undefined, j: [] };
    assert.deepEqual(secretNames(values), ["a", "b"]);
  });

  it("shorten a message in its middle to what gRPC can carry, and repair its Unicode", () => {
    assert.equal(engineMessage("a".repeat(4_000)), "a".repeat(4_000));
    assert.equal(engineMessage("half \ud800"), "half \uFFFD");
    const short = engineMessage(`begin ${"é".repeat(4_000)} end`);
    assert.ok(/^begin é+ \[…\] é+ end$/.test(short), short);
    const { length } = encodeURI(short);
    assert.ok(length <= 4_000 && length > 3_500, String(length));
  });

  it("are unknown if they are, or contain, the marker of the installed SDK; a text may be none of its markers", () => {
    assert.equal(unknownValue, rpc.unknownValue);
    for (const value of [unknownValue, { a: [unknownValue] }]) assert.equal(isUnknown(value), true);
    for (const value of ["x", undefined, null, `about ${unknownValue}`]) assert.equal(isUnknown(value), false);
    for (const text of [
      unknownValue,
      "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
      "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
      "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
      "030794c1-ac77-496b-92df-f27374a8bd58",
      "e48ece36-62e2-4504-bad9-02848725956a",
      "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    ]) {
      assert.equal(isFaithful(text), false, text);
    }
    assert.equal(isFaithful(`${unknownValue} `), true);
  });
});
