import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { unsupportedNode } from "../../provider/engine/installedPackage";

type Packages = Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;

const range = "^20.19.0 || >=22.12.0";
const needs = "20.19+ or 22.12+";
const textOf = (path: string) => readFileSync(join(projectRoot, path), "utf8");
const jsonOf = (path: string) => JSON.parse(textOf(path)) as unknown;
const built = (path: string) => JSON.stringify(join(projectRoot, "dist", path));

describe("The supported versions of Node", () => {
  it("include this one, which loads ES modules with `require`", () => {
    assert.equal(unsupportedNode(), undefined);
  });

  it("are the same in both packages and in the lock file", () => {
    const { packages } = jsonOf("package-lock.json") as { packages: Packages };
    const manifests = [jsonOf("package.json"), jsonOf("local/package.json"), packages[""], packages["local"]];
    for (const manifest of manifests as Packages[string][]) assert.equal(manifest.engines?.node, range);
  });

  it("are tested in CI, each from its lowest one", () => {
    const { jobs } = parse(textOf(".github/workflows/ci.yml")) as {
      jobs: { test: { strategy: { matrix: { include: { node: string }[] } } } };
    };
    const tested = jobs.test.strategy.matrix.include.map(({ node }) => node);
    for (const lowest of range.match(/\d+\.\d+\.\d+/g) ?? []) assert.ok(tested.includes(lowest), lowest);
  });

  it("are named where users read what they need", () => {
    for (const path of ["README.md", "docs/plugin.md", "docs/installation-configuration.md", "CONTRIBUTING.md"]) {
      for (const oldest of needs.split(" or ")) assert.ok(textOf(path).includes(oldest), `${path}: ${oldest}`);
    }
  });
});

describe("An old Node", () => {
  const folder = new Folder();
  after(() => folder.remove());

  /** Runs code as a Node that has another version, and lacks what Node 18 lacks. */
  function runAs(version: string, code: string) {
    const lacks = `for (const name of ["isWellFormed", "toWellFormed"]) delete String.prototype[name];
      for (const name of ["toSorted", "toReversed", "with"]) delete Array.prototype[name];`;
    const preload = `Object.defineProperty(process.versions, "node", { value: "${version}" });
      Object.defineProperty(process.features, "require_module", { value: undefined }); ${lacks}`;
    folder.write("old.cjs", preload);
    const args = ["--require", folder.path("old.cjs"), "-e", code];
    return spawnSync(process.execPath, args, { cwd: projectRoot, encoding: "utf8" });
  }

  const entries = { SDK: "sdk/index.js", provider: "provider/engine/dynamic.js" };
  for (const [name, path] of Object.entries(entries)) {
    it(`is refused by the ${name}, before anything else is loaded`, () => {
      const code = `
        try { require(${built(path)}); } catch (error) { console.log(error.message, error.code, error.__pulumiRunError); }
        console.log(Object.keys(require.cache).filter((path) => path.includes("node_modules")).join());`;
      const { stdout } = runAs("18.20.8", code);
      const [refusal, loaded] = stdout.split("\n");
      const message = `Node 18.20.8 is too old: pulumi-rekey needs Node ${needs}. No request was made. Install one of these versions where pulumi runs, in the pipeline too, then run the command again. [REKEY_NODE_TOO_OLD]`;
      assert.equal(refusal, `${message} REKEY_NODE_TOO_OLD true`);
      assert.equal(loaded, "");
    });
  }

  it("is refused by the plugin, whose standard error the engine shows", () => {
    const { stdout, stderr, status } = runAs("22.11.0", `require(${built("provider/engine/plugin/main.js")})`);
    assert.equal(status, 1);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      /^Node 22\.11\.0 is too old: pulumi-rekey needs Node 20\.19\+ or 22\.12\+\. No request was made\. Install .*\n$/,
    );
  });
});
