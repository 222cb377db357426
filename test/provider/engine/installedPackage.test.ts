import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { installedFrom, isOlderVersion, manifestIn, oldestPulumi } from "../../../provider/engine/installedPackage";
import { Folder } from "../../support/folder";

describe("platform: the installed package", () => {
  it("compares versions of Pulumi by their numbers", () => {
    const older = ["3.138.9", "3.9.0", "2.999.0", "3.138.10"];
    const supported = [oldestPulumi, "3.139.1", "3.248.0", "3.1000.0", "10.0.0"];
    assert.deepEqual(
      [...older, ...supported].filter((version) => isOlderVersion(version, oldestPulumi)),
      older,
    );
  });

  it("is found in the nearest folder that has it, from the program's folder upwards", () => {
    const folder = new Folder();
    try {
      const manifest = (name: string) => JSON.stringify({ name, version: "1.2.3" });
      folder.write("node_modules/pulumi-rekey/package.json", manifest("outer"));
      folder.write("a/node_modules/pulumi-rekey/package.json", manifest("inner"));
      // A folder without a manifest does not count.
      folder.write("a/b/node_modules/pulumi-rekey/index.js", "");
      folder.write("c/d/index.ts", "");
      const found = (path: string) => manifestIn(installedFrom(folder.path(path)) ?? "");
      assert.deepEqual(found("a/b"), { name: "inner", version: "1.2.3" });
      assert.deepEqual(found("c/d"), { name: "outer", version: "1.2.3" });
      assert.equal(installedFrom(folder.path("c")), realpathSync(folder.path("node_modules", "pulumi-rekey")));
      assert.equal(installedFrom("/"), undefined);
    } finally {
      folder.remove();
    }
  });
});
