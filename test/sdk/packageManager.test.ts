import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { howToHaveOne, howToInstall } from "../../sdk/installed";

describe("sdk: advice about packages", () => {
  let root: string;
  let member: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "rekey-workspace-"));
    mkdirSync((member = join(root, "packages", "infra")), { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const commands: Readonly<Record<string, (folder: string) => string>> = {
    "package-lock.json": (folder) => `npm install --prefix ${folder} pulumi-rekey`,
    "pnpm-lock.yaml": (folder) => `pnpm add --dir ${folder} pulumi-rekey`,
    "yarn.lock": (folder) => `yarn --cwd ${folder} add pulumi-rekey`,
    "bun.lock": (folder) => `bun add --cwd ${folder} pulumi-rekey`,
    "bun.lockb": (folder) => `bun add --cwd ${folder} pulumi-rekey`,
  };
  for (const [lockFile, command] of Object.entries(commands)) {
    it(`names the package manager of a workspace with ${lockFile}`, () => {
      writeFileSync(join(root, lockFile), "");
      assert.ok(howToInstall(member).endsWith(`: ${command(JSON.stringify(member))}`), howToInstall(member));
      const [manager] = command("").split(" ");
      assert.ok(howToHaveOne(member).endsWith(`and run ${manager} install again.`), howToHaveOne(member));
    });
  }

  it("goes by the nearest lock file", () => {
    writeFileSync(join(root, "pnpm-lock.yaml"), "");
    writeFileSync(join(member, "yarn.lock"), "");
    assert.match(howToInstall(member), /: yarn --cwd /);
  });

  it("names npm if there is no lock file", () => {
    assert.ok(howToInstall(member).endsWith(`: npm install --prefix ${JSON.stringify(member)} pulumi-rekey`));
  });

  it("names the flag that pnpm needs in the root of a workspace", () => {
    writeFileSync(join(root, "pnpm-lock.yaml"), "");
    writeFileSync(join(root, "pnpm-workspace.yaml"), "packages: [packages/*]");
    assert.ok(howToInstall(root).endsWith(`: pnpm add --dir ${JSON.stringify(root)} --workspace-root pulumi-rekey`));
    assert.match(howToInstall(member), /: pnpm add --dir \S+ pulumi-rekey$/);
  });

  it("asks for node_modules in a project with Yarn Plug'n'Play", () => {
    writeFileSync(join(root, "yarn.lock"), "");
    writeFileSync(join(root, ".pnp.cjs"), "");
    assert.match(howToInstall(member), /node_modules.*nodeLinker: node-modules.*\.yarnrc\.yml.*yarn install/);
  });
});
