import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";

/** They name the version. */
const installations = [
  "examples/languages/README.md",
  ...["csharp", "go", "nodejs", "python", "yaml"].map((name) => `examples/languages/${name}/README.md`),
  "examples/languages/yaml/Pulumi.yaml",
  "examples/languages/yaml/sdks/rekey/rekey-1.2.3.yaml",
];

describe("npm run release", () => {
  let folder: Folder;
  let readme = "";
  beforeEach(() => (folder = new Folder()));
  afterEach(() => folder.remove());

  const read = (name: string): string => readFileSync(folder.path(name), "utf8");

  function release(changelog: string, ...args: string[]): { status: number | null; said: string } {
    folder.write("CHANGELOG.md", changelog);
    folder.write("README.md", readme);
    const others = ["CODE_OF_CONDUCT.md", ".github/ISSUE_TEMPLATE/config.yml", "schema.json"];
    const pages = ["plugin.md", "registry/_index.md", "registry/installation-configuration.md"].map(
      (name) => `docs/${name}`,
    );
    for (const name of [...others, ...pages, "examples/languages/go/main.go"]) folder.write(name, "");
    for (const name of installations) folder.write(name, "pulumi plugin install resource rekey 1.2.3");
    for (const name of ["package.json", "local/package.json"]) {
      folder.write(name, JSON.stringify({ version: "1.2.3" }));
    }
    const packages = { "": {}, local: {} };
    folder.write("package-lock.json", JSON.stringify({ version: "1.2.3", packages }));
    const script = join(projectRoot, "scripts", "release.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd: folder.directory,
      encoding: "utf8",
    });
    return { status, said: stdout + stderr };
  }

  it("is refused while the owner of the repository is a placeholder", () => {
    readme = "git clone https://github.com/OWNER/pulumi-rekey.git";
    const { status, said } = release("# Changelog\n\n## Unreleased\n\n- New.\n", "patch");
    readme = "";
    assert.equal(status, 1);
    assert.match(said, /Replace OWNER .*in README\.md\./);
    assert.doesNotMatch(read("CHANGELOG.md"), /1\.2\.4/);
  });

  for (const [kind, version] of Object.entries({ patch: "1.2.4", minor: "1.3.0", major: "2.0.0" })) {
    it(`gives what is unreleased the version of a ${kind} release`, () => {
      const { status, said } = release(
        "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3 (2026-01-01)\n\n- Old.\n",
        kind,
      );
      assert.equal(status, 0, said);
      assert.match(
        read("CHANGELOG.md"),
        new RegExp(`## Unreleased\n\n## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)\n\n- New\\.\n\n## 1\\.2\\.3`),
      );
      for (const name of ["package.json", "local/package.json"]) assert.deepEqual(JSON.parse(read(name)), { version });
      const packages = { "": { version }, local: { version } };
      assert.deepEqual(JSON.parse(read("package-lock.json")), { version, packages });
      for (const name of installations) {
        assert.equal(read(name.replace("1.2.3", version)), `pulumi plugin install resource rekey ${version}`, name);
      }
      assert.match(said, new RegExp(`git tag v${version}`));
    });
  }

  const refused: Readonly<Record<string, { changelog: string; args: string[]; why: RegExp }>> = {
    "no kind": { changelog: "## Unreleased\n\n- New.\n", args: [], why: /kind/ },
    "nothing new": { changelog: "## Unreleased\n\n## 1.2.3\n\n- Old.\n", args: ["patch"], why: /nothing to release/ },
    "no section": { changelog: "# Changelog\n", args: ["patch"], why: /no section/ },
  };
  for (const [what, { changelog, args, why }] of Object.entries(refused)) {
    it(`refuses ${what}, and changes nothing`, () => {
      const { status, said } = release(changelog, ...args);
      assert.equal(status, 1);
      assert.match(said, why);
      assert.equal(read("CHANGELOG.md"), changelog);
    });
  }
});
