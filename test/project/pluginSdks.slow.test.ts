import { join } from "node:path";
import assert from "node:assert/strict";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { unreachable, whyNoPrograms } from "../support/pluginArchive";
import { runAsync } from "../support/processes";
import { packageVersion } from "../../provider/platform/version";

describe("The SDKs that a release has", function () {
  // Go compiles Pulumi's SDK, which takes minutes without a cache.
  this.timeout(1_800_000);
  const why = whyNoPrograms("pulumi-language-python", "python3", "pulumi-language-go", "go");
  const title = "are built from the schema: the wheel can be imported, and the Go module compiled";
  if (why !== undefined) return void it.skip(`${title} (skipped: ${why})`);

  it(title, async function () {
    const folder = new Folder();
    const script = join(projectRoot, "scripts", "plugin-sdks.mjs");
    const { code, output } = await runAsync(process.execPath, [script, folder.directory], { cwd: projectRoot });
    folder.remove();
    if (code !== 0 && unreachable.test(output)) {
      console.log("      skipped: the package registry cannot be reached from here");
      this.skip();
    }
    assert.equal(code, 0, output);
    const files = [`pulumi_rekey-${packageVersion()}-py3-none-any.whl`, `pulumi-rekey-go-v${packageVersion()}.tar.gz`];
    for (const file of files) assert.ok(output.includes(join(folder.directory, file)), output);
  });
});
