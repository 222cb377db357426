import assert from "node:assert/strict";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { fails, pulumiCli, succeeds, valuesOf } from "../support/engine";
import { fixture, onEngine, rotating } from "../support/onEngines";

/** Where the engine keeps the states of stacks whose backend is in the project's folder. */
const stateFolder = "backend/.pulumi/stacks/program";

/** What docs/guide.md recommends after a `kill -9` of the engine while it wrote its state. */
onEngine(pulumiCli, "A state in files that cannot be loaded, on the pulumi CLI", (engine) => {
  it("loads again without the empty .attrs file, and nothing is reset", async () => {
    const { platform, project, stack } = await fixture(engine, rotating("version: 1"), {
      credentials: "always",
    });
    await succeeds(stack.up());
    const attributes = project.path(stateFolder, "dev.json.attrs");
    truncateSync(attributes);
    await fails(stack.preview(), /failed to load checkpoint: EOF/);
    rmSync(attributes);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: 2 });
    assert.equal(platform.resetCount, 1);
  });

  it("is restored from its backup, and a new version saves the platform's password", async () => {
    const { platform, project, stack } = await fixture(engine, "", { credentials: "always" });
    for (const version of [1, 2]) {
      project.rewrite(rotating(`version: ${version}`));
      await succeeds(stack.up());
    }
    const file = project.path(stateFolder, "dev.json");
    truncateSync(file);
    await fails(stack.preview(), /failed to load checkpoint: .*unexpected end of JSON input/);
    copyFileSync(`${file}.bak`, file);
    rmSync(`${file}.attrs`);
    project.rewrite(rotating("version: 3"));
    const { outputs } = await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
    assert.deepEqual(outputs["password"], { value: platform.database("db-quickstart").password, secret: true });
    assert.equal(valuesOf({ outputs })["rotationCount"], 3);
  });
});
