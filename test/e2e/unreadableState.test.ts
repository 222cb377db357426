import assert from "node:assert/strict";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { pulumiCli, resourceNamed, succeeds } from "../support/engine";
import { onEngine, scene } from "../support/onEngines";

/** Where the engine keeps the states of stacks whose backend is in the project's folder. */
const stateFolder = "backend/.pulumi/stacks/program";
const source = (version: number): string => `
const { PasswordRotation } = require("pulumi-rekey");
exports.password = new PasswordRotation("cache", { databaseId: "db-quickstart", version: ${version} }).password;`;

/** What docs/what-rotates.md says to do after a `kill -9` of the engine while it wrote its state. */
onEngine(pulumiCli, "A state in files that cannot be loaded, on the pulumi CLI", (engine) => {
  it("is whole again without the empty .attrs file, and nothing is reset", async () => {
    const { platform, project, stack } = await scene(engine, source(1), { credentialsInResponse: "always" });
    await succeeds(stack.up());
    const attributes = project.path(stateFolder, "dev.json.attrs");
    truncateSync(attributes);
    assert.match((await stack.preview()).printed, /failed to load checkpoint: EOF/);
    rmSync(attributes);
    const { succeeded, changes } = await stack.up();
    assert.deepEqual([succeeded, changes], [true, { same: 2 }]);
    assert.equal(platform.resetCount, 1);
  });

  it("comes back from its backup, and a new version saves the platform's password", async () => {
    const { platform, project, stack } = await scene(engine, source(1), { credentialsInResponse: "always" });
    for (const version of [1, 2]) {
      project.rewrite(source(version));
      await succeeds(stack.up());
    }
    const file = project.path(stateFolder, "dev.json");
    truncateSync(file);
    assert.match((await stack.preview()).printed, /failed to load checkpoint: .*unexpected end of JSON input/);
    copyFileSync(`${file}.bak`, file);
    rmSync(`${file}.attrs`);
    project.rewrite(source(3));
    const { succeeded, outputs } = await stack.up();
    assert.equal(succeeded, true);
    assert.equal(platform.resetCount, 3);
    assert.deepEqual(outputs["password"], { value: platform.database("db-quickstart").password, secret: true });
    assert.equal(resourceNamed(await stack.exportState(), "cache")?.outputs?.["rotationCount"], 3);
  });
});
