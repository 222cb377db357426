import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";
import { closePlatforms, TestStack } from "../e2e/memory";
import { fails } from "../e2e/engineStack";

describe("sdk: triggers", () => {
  afterEach(closePlatforms);
  const values = {
    "an archive": () => new pulumi.asset.FileArchive("."),
    "an asset": () => new pulumi.asset.FileAsset("package.json"),
    "an asset with text": () => new pulumi.asset.StringAsset("text"),
    "an archive of assets": () => new pulumi.asset.AssetArchive({ a: new pulumi.asset.StringAsset("text") }),
  };
  for (const [what, make] of Object.entries(values)) {
    it(`are not ${what}`, async () => {
      const stack = await TestStack.start(
        () => {
          new PasswordRotation("cache", { databaseId: "cache", triggers: make() as never });
        },
        { databases: ["cache"] },
      );
      for (const run of [stack.preview, stack.up]) await fails(run(), /triggers must be a map of .*, not an asset, /);
      assert.equal(stack.platform.resetCount, 0);
    });
  }
});
