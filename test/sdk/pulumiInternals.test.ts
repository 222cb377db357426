import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { childrenOf, initializationOf, isKnown, markRunError } from "../../sdk/pulumiInternals";
import { startMocks } from "../support/pulumiMocks";

class Parent extends pulumi.ComponentResource<string> {
  constructor() {
    super("test:index:Parent", "parent");
  }
  protected override async initialize(): Promise<string> {
    return "made";
  }
}

describe("sdk: what it uses of @pulumi/pulumi and no type shows", () => {
  before(() => startMocks());

  it("is there in the installed version", async () => {
    const parent = new Parent();
    const child = new pulumi.ComponentResource("test:index:Child", "child", {}, { parent });
    assert.deepEqual([...childrenOf(parent)], [child]);
    assert.equal(await initializationOf(parent), "made");
    assert.equal(await isKnown(pulumi.output("known")), true);
    assert.equal(await isKnown(pulumi.output(pulumi.unknown as unknown)), false);
    assert.ok(pulumi.RunError.isInstance(markRunError(new Error("a"))));
  });
});
