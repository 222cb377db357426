import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { howToHaveOne, howToInstall } from "../../../provider/doctor/installAdvice";
import { Folder } from "../../support/folder";

describe("sdk: advice about packages", () => {
  let folder: Folder;
  let root: string;
  let member: string;
  beforeEach(() => {
    folder = new Folder();
    root = folder.directory;
    mkdirSync((member = folder.path("packages", "infra")), { recursive: true });
  });
  afterEach(() => folder.remove());

  const commands: Readonly<Record<string, (folder: string) => string>> = {
    "package-lock.json": (folder) => `npm install --prefix ${folder} pulumi-rekey`,
    "pnpm-lock.yaml": (folder) => `pnpm add --dir ${folder} pulumi-rekey`,
    "yarn.lock": (folder) => `yarn --cwd ${folder} add pulumi-rekey`,
    "bun.lock": (folder) => `bun add --cwd ${folder} pulumi-rekey`,
    "bun.lockb": (folder) => `bun add --cwd ${folder} pulumi-rekey`,
  };
  for (const [lockFile, command] of Object.entries(commands)) {
    it(`names the package manager of a workspace with ${lockFile}`, () => {
      folder.write(lockFile, "");
      assert.ok(howToInstall(member).endsWith(`: ${command(JSON.stringify(member))}`), howToInstall(member));
      const [manager] = command("").split(" ");
      assert.ok(howToHaveOne(member).endsWith(`and run ${manager} install again.`), howToHaveOne(member));
    });
  }

  it("goes by the nearest lock file", () => {
    folder.write("pnpm-lock.yaml", "");
    folder.write("packages/infra/yarn.lock", "");
    assert.match(howToInstall(member), /: yarn --cwd /);
  });

  it("names npm if there is no lock file", () => {
    assert.ok(howToInstall(member).endsWith(`: npm install --prefix ${JSON.stringify(member)} pulumi-rekey`));
  });

  it("names the flag that pnpm needs in the root of a workspace", () => {
    folder.write("pnpm-lock.yaml", "");
    folder.write("pnpm-workspace.yaml", "packages: [packages/*]");
    assert.ok(howToInstall(root).endsWith(`: pnpm add --dir ${JSON.stringify(root)} --workspace-root pulumi-rekey`));
    assert.match(howToInstall(member), /: pnpm add --dir \S+ pulumi-rekey$/);
  });

  it("asks for node_modules in a project with Yarn Plug'n'Play", () => {
    folder.write("yarn.lock", "");
    folder.write(".pnp.cjs", "");
    assert.match(howToInstall(member), /node_modules.*nodeLinker: node-modules.*\.yarnrc\.yml.*yarn install/);
  });
});
