import assert from "node:assert/strict";
import * as rpc from "@pulumi/pulumi/runtime/rpc";
import {
  engineMessage,
  isFaithful,
  isReserved,
  isSecret,
  isUnknown,
  secret,
  secretNames,
  unknownValue,
  wrap,
} from "../../../provider/records/properties";

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

  it("tells a value that is unknown, or contains one that is", () => {
    for (const value of [unknownValue, { a: [unknownValue] }]) assert.equal(isUnknown(value), true);
    for (const value of ["x", undefined, null, `about ${unknownValue}`]) assert.equal(isUnknown(value), false);
  });
});

describe("Pulumi's markers", () => {
  it("are those of the installed SDK", () => {
    assert.equal(unknownValue, rpc.unknownValue);
    assert.deepEqual(secret("x"), { [rpc.specialSigKey]: rpc.specialSecretSig, value: "x" });
    assert.ok(rpc.isRpcSecret(secret("x")));
    assert.ok(isSecret(secret("x")));
    for (const other of [{ value: "x" }, { [rpc.specialSigKey]: rpc.specialAssetSig, value: "x" }, []]) {
      assert.equal(isSecret(other), false);
    }
  });

  it("include the texts for unknown values of any type", () => {
    const reserved = [
      unknownValue,
      "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
      "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
      "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
      "030794c1-ac77-496b-92df-f27374a8bd58",
      "e48ece36-62e2-4504-bad9-02848725956a",
      "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    ];
    for (const text of reserved) {
      const found = { reserved: isReserved(text), faithful: isFaithful(text) };
      assert.deepEqual(found, { reserved: true, faithful: false }, text);
    }
    assert.equal(isReserved(`${unknownValue} `), false);
  });
});
