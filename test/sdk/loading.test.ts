import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { packageVersion } from "../../provider/domain/ownPackage";
import { howToInstall } from "../../provider/engine/installedPackage";
import { Folder } from "../support/folder";

const root = join(__dirname, "../..");
const built = (path: string): string => JSON.stringify(join(root, "dist", path));
const sdk = built("sdk/index.js");

/** Runs code in a new process, in which nothing is loaded yet. */
function run(code: string, cwd = root) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", code], { cwd, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** The packages that a piece of code loads. */
function packagesLoadedBy(code: string): Set<string> {
  const { stdout, stderr, status } = run(`${code};console.log(JSON.stringify(Object.keys(require.cache)))`);
  assert.equal(status, 0, stderr);
  const files = JSON.parse(stdout) as string[];
  return new Set(files.map((file) => /.*node_modules[\\/]([^@\\/]+|@[^\\/]+[\\/][^\\/]+)/.exec(file)?.[1] ?? ""));
}

describe("sdk: loading", () => {
  const heavy = ["axios", "zod", "luxon", "lossless-json", "p-queue", "age-encryption", "hono", "commander", "yaml"];

  it("loads no package that only a call needs", () => {
    const loaded = packagesLoadedBy(`require(${sdk})`);
    assert.ok(loaded.has("@pulumi/pulumi"));
    const pulumis = packagesLoadedBy('require("@pulumi/pulumi")');
    assert.ok(!heavy.some((name) => loaded.has(name) && !pulumis.has(name)), [...loaded].join());
    assert.ok(packagesLoadedBy(`require(${built("provider/run/platformClient.js")})`).has("axios"));
  });

  it("loads no package with the entry of the provider", () => {
    const loaded = packagesLoadedBy(`require(${built("provider/engine/dynamic.js")})`);
    assert.deepEqual([...loaded], [""]);
  });

  it("can be imported by name from an ES module", () => {
    const names =
      "rekey.FlowControlReset, rekey.PasswordRotation, rekey.getFlowControlKey, rekey.getGlobalParallelismOutput";
    const { stdout } = run(`import("pulumi-rekey").then((rekey) => console.log([${names}].every((one) => one)))`);
    assert.equal(stdout, "true\n");
  });
});

describe("sdk: the package as the host finds it", () => {
  const folder = new Folder();
  const directory = realpathSync(folder.directory);
  const construct = `
    const pulumi = require(${JSON.stringify(require.resolve("@pulumi/pulumi"))});
    pulumi.runtime.setMocks({ newResource: ({ inputs }) => ({ id: "1", state: inputs }), call: () => ({}) });
    const { PasswordRotation, FlowControlReset } = require(${sdk});
    for (const make of [() => new PasswordRotation("a", { databaseId: "db" }), () => new FlowControlReset("b", { flowControlKey: "k" })]) {
      try { make(); console.log("made"); } catch (error) { console.log(pulumi.RunError.isInstance(error), error.message); }
    }`;
  after(() => folder.remove());

  it("is found from this package's own folder and its subfolders", () => {
    assert.equal(run(construct).stdout, "made\nmade\n");
    assert.equal(run(construct, join(root, "examples", "quickstart")).stdout, "made\nmade\n");
  });

  it("is required by both resources, whose errors contain the command that installs it", () => {
    const { stdout } = run(construct, directory);
    const command = `${howToInstall()} [REKEY_NOT_INSTALLED]\n`;
    const parts = stdout.split(command);
    assert.equal(parts.length, 3);
    for (const part of parts.slice(0, 2)) assert.match(part, /^true .*pulumi-rekey.*No request was made/);
    assert.ok(parts[0]?.includes(directory));
  });

  it("may be another copy of the same version, but no other version", () => {
    for (const [version, printed] of [
      [packageVersion(), /^made\nmade\n$/],
      [
        "9.9.9",
        /^true The program uses pulumi-rekey .*, but .* would use 9\.9\.9, in .*No request was made\.\nInstall the same version\. .*\[REKEY_OTHER_VERSION\]/,
      ],
    ] as const) {
      folder.write("node_modules/pulumi-rekey/package.json", JSON.stringify({ name: "pulumi-rekey", version }));
      assert.match(run(construct, directory).stdout, printed);
    }
  });
});
