import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";

// release.slow.test.ts releases a copy of the repository.
describe("npm run release", () => {
  const repository = { url: "git+https://github.com/acme/pulumi-rekey.git" };
  const unreleased = "## Unreleased\n\n- New.\n\n## 1.2.2 (2026-01-01)\n\n- Old.\n";
  const refused: Readonly<Record<string, { version?: string; changelog?: string; repository?: object; why: RegExp }>> =
    {
      "a project without a public repository": { version: "1.2.3", repository: {}, why: /npm pkg set repository/ },
      "a repository on another host": {
        version: "1.2.3",
        repository: { repository: { url: "https://example.com/acme/rekey" } },
        why: /npm pkg set repository/,
      },
      "no version": { why: /Name the version/ },
      "a kind of release": { version: "minor", why: /Name the version/ },
      "an older version": { version: "1.2.1", why: /1\.2\.3 is newer than 1\.2\.1/ },
      "a version that was released": {
        version: "1.2.3",
        changelog: `${unreleased}\n## 1.2.3 (2026-01-02)\n`,
        why: /has version 1\.2\.3 already/,
      },
      "nothing new": { version: "1.2.3", changelog: "## Unreleased\n\n## 1.2.2\n", why: /nothing to release/ },
      "no section": { version: "1.2.3", changelog: "# Changelog\n", why: /no section/ },
    };
  for (const [what, { version, changelog = unreleased, repository: named = { repository }, why }] of Object.entries(
    refused,
  )) {
    it(`refuses ${what}, and changes nothing`, () => {
      const folder = new Folder();
      const files = { "CHANGELOG.md": changelog, "package.json": JSON.stringify({ version: "1.2.3", ...named }) };
      for (const [name, text] of Object.entries(files)) folder.write(name, text);
      const script = join(projectRoot, "scripts", "release.mjs");
      const args = [script, ...(version === undefined ? [] : [version])];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder.directory, encoding: "utf8" });
      assert.equal(status, 1);
      assert.match(stderr, why);
      for (const [name, text] of Object.entries(files)) assert.equal(readFileSync(folder.path(name), "utf8"), text);
      folder.remove();
    });
  }
});
