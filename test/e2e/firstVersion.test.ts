import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExportedDeployment, LocalStack, startPlatform } from "../../local/index";
import { projectRoot } from "../support/host";
import { Project } from "../support/project";

/** A stack as version 0.1 saved it, with the program: every kind of resource, and one reset that was not confirmed. */
const fixture = join(projectRoot, "test/fixtures/version-0.1");

describe("A stack saved by version 0.1", () => {
  it("has nothing to update but the unconfirmed reset, in refresh, preview and up", async () => {
    const platform = await startPlatform({ databases: ["single", "adopted", "unconfirmed", "fleet-a", "fleet-b"] });
    const project = new Project(readFileSync(join(fixture, "index.js"), "utf8"));
    try {
      copyFileSync(join(fixture, "Pulumi.dev.yaml"), project.path("Pulumi.dev.yaml"));
      const stack = await LocalStack.open({ projectDir: project.directory, passphrase: "test" });
      await stack.importStack(JSON.parse(readFileSync(join(fixture, "stack.json"), "utf8")) as ExportedDeployment);
      await stack.setConfig("rekey:baseUrl", platform.url);
      await stack.setConfig("rekey:username", platform.username);
      await stack.setConfig("rekey:password", platform.password, { secret: true });

      await stack.refresh();
      assert.deepEqual((await stack.preview()).changes, { same: 7, update: 1 });
      assert.equal(platform.requests.length, 0, "neither sends anything");
      assert.deepEqual((await stack.up()).changes, { same: 7, update: 1 });
      assert.deepEqual(
        platform.requests.map(({ path }) => path),
        ["/v2/keyvalue/reset-password/unconfirmed"],
      );
      assert.deepEqual((await stack.up()).changes, { same: 8 });
      assert.equal(platform.requests.length, 1);
    } finally {
      project.remove();
      await platform.close();
    }
  });
});
