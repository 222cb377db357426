import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mock } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, RotationTrigger } from "pulumi-rekey";
import { closePlatforms, TestStack } from "../e2e/memory";
import { fails } from "../e2e/engineStack";
import { startMocks, valueOf } from "./pulumiMocks";

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

  it("warn with an SDK that ignores the option replacementTrigger", async () => {
    const installed = createRequire(__filename)("@pulumi/pulumi/version") as { version: string };
    const { version } = installed;
    const warn = mock.method(pulumi.log, "warn", async () => undefined);
    await startMocks();
    for (const shown of ["3.210.0", "3.211.0", version]) {
      installed.version = shown;
      await valueOf(new RotationTrigger(`turn-${shown}`).value);
    }
    installed.version = version;
    const lines = warn.mock.calls.map(({ arguments: [line] }) => String(line));
    mock.restoreAll();
    assert.deepEqual(lines, [
      'RotationTrigger "turn-3.210.0": @pulumi/pulumi 3.210.0 ignores the option `replacementTrigger`, so that nothing is replaced. Install 3.211.0 or later, or make `value` a part of an argument that forces a replacement.',
    ]);
  });
});
