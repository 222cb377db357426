import assert from "node:assert/strict";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { resourceNamed } from "./engine";
import { endScenes, scene } from "./onEngines";
import { pulumiCli } from "./pulumiCli";

const source = (version: number): string => `
const { PasswordRotation } = require("pulumi-rekey");
exports.password = new PasswordRotation("cache", { databaseId: "db-quickstart", version: ${version} }).password;`;

/** What docs/what-rotates.md says to do after a `kill -9` of the engine while it wrote its state. */
describe("A state in files that cannot be loaded, on the pulumi CLI", function () {
  this.timeout(600_000);
  before(function () {
    if (pulumiCli.unavailable === undefined) return;
    console.log(`      skipped: ${pulumiCli.unavailable}`);
    this.skip();
  });
  after(endScenes);

  it("is whole again without the empty .attrs file, and nothing is reset", async () => {
    const { platform, program, stack } = await scene(pulumiCli, source(1), { credentialsInAnswer: "always" });
    assert.equal((await stack.up()).succeeded, true);
    const attributes = join(stateFolder(program.directory), "dev.json.attrs");
    truncateSync(attributes);
    assert.match((await stack.preview()).printed, /failed to load checkpoint: EOF/);
    rmSync(attributes);
    const { succeeded, changes } = await stack.up();
    assert.deepEqual([succeeded, changes], [true, { same: 2 }]);
    assert.equal(platform.resetCount, 1);
  });

  it("comes back from its backup, and a new version saves the platform's password", async () => {
    const { platform, program, stack } = await scene(pulumiCli, source(1), { credentialsInAnswer: "always" });
    for (const version of [1, 2]) {
      program.rewrite(source(version));
      assert.equal((await stack.up()).succeeded, true);
    }
    const file = join(stateFolder(program.directory), "dev.json");
    truncateSync(file);
    assert.match((await stack.preview()).printed, /failed to load checkpoint: .*unexpected end of JSON input/);
    copyFileSync(`${file}.bak`, file);
    rmSync(`${file}.attrs`);
    program.rewrite(source(3));
    const { succeeded, outputs } = await stack.up();
    assert.equal(succeeded, true);
    assert.equal(platform.resetCount, 3);
    assert.deepEqual(outputs["password"], { value: platform.database("db-quickstart").password, secret: true });
    assert.equal(resourceNamed(await stack.exportState(), "cache")?.outputs?.["rotationCount"], 3);
  });
});

/** Where the engine keeps the state of a stack whose backend is in the project's folder. */
function stateFolder(directory: string): string {
  return join(directory, "backend", ".pulumi", "stacks", "program");
}
