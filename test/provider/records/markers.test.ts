import assert from "node:assert/strict";
import * as rpc from "@pulumi/pulumi/runtime/rpc";
import {
  isFaithful,
  isReserved,
  isSecret,
  referencedUrn,
  secret,
  unknownValue,
} from "../../../provider/records/markers";

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

  it("include references to resources", () => {
    const reference = { [rpc.specialSigKey]: rpc.specialResourceSig, urn: "urn:pulumi:a", id: "b" };
    assert.equal(referencedUrn(reference), "urn:pulumi:a");
    for (const other of [secret("x"), { ...reference, urn: 1 }, { urn: "urn:pulumi:a" }, "urn:pulumi:a", null]) {
      assert.equal(referencedUrn(other), undefined);
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
    for (const text of reserved) assert.deepEqual([isReserved(text), isFaithful(text)], [true, false], text);
    assert.equal(isReserved(`${unknownValue} `), false);
  });

  it("include text that Pulumi would change", () => {
    assert.equal(isFaithful("päss wörd 🔑"), true);
    assert.equal(isFaithful("broken \ud800"), false);
    assert.equal(isFaithful("lost \uFFFD"), false);
  });
});
