import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import { projectRoot } from "../support/host";

/** What a user reads, copies or installs, and the code that prints messages. */
const isShown =
  /^((provider|sdk|local)\/.*\.ts|(docs|examples|plugin|\.github)\/.*\.(md|go|ts|js|py|cs|ya?ml|json|svg)|(local\/)?(README\.md|package\.json)|schema\.json|[A-Z_]+\.md)$/;

// With one, `npm run release` writes the commands that install from the registry.
const { repository } = manifest as { repository?: object };

(repository === undefined ? describe : describe.skip)("The project, which has no public repository", () => {
  const { stdout } = spawnSync("git", ["ls-files"], { cwd: projectRoot, encoding: "utf8" });
  const files = stdout.split("\n").filter((name) => isShown.test(name));
  const unfinished: Readonly<Record<string, RegExp>> = {
    "a placeholder": /github\.com\/OWNER\b|CONDUCT_CONTACT/,
    "a package that anyone could publish": /npm (install|i)\b.*(?<![-/@\w.])(pulumi-rekey|rekey-local)(?![-\w/])/,
    "an address for downloads": /api\.github\.com(?!\/owner\/name\b)|npmjs\.com\/package\/pulumi-rekey/,
  };
  for (const [what, pattern] of Object.entries(unfinished)) {
    it(`shows no ${what.replace(/^an? /, "")}`, () => {
      assert.ok(files.length > 80, String(files.length));
      const found = files.flatMap((name) =>
        readFileSync(join(projectRoot, name), "utf8")
          .split("\n")
          .filter((line) => pattern.test(line))
          .map((line) => `${name}: ${line.trim()}`),
      );
      assert.deepEqual(found, []);
    });
  }
});
