import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { howToInstall } from "../../../provider/doctor/installAdvice";
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

  const published = { version: "1.2.3", repository: {} };
  const name = "pulumi-rekey@1.2.3";

  const commands: Readonly<Record<string, (folder: string) => string>> = {
    "package-lock.json": (folder) => `npm install --prefix ${folder} ${name}`,
    "pnpm-lock.yaml": (folder) => `pnpm add --dir ${folder} ${name}`,
    "yarn.lock": (folder) => `yarn --cwd ${folder} add ${name}`,
    "bun.lock": (folder) => `bun add --cwd ${folder} ${name}`,
    "bun.lockb": (folder) => `bun add --cwd ${folder} ${name}`,
  };
  for (const [lockFile, command] of Object.entries(commands)) {
    it(`names the package manager of a workspace with ${lockFile}`, () => {
      folder.write(lockFile, "");
      const advice = howToInstall(member, published);
      assert.ok(advice.endsWith(`: ${command(JSON.stringify(member))}`), advice);
    });
  }

  it("goes by the nearest lock file", () => {
    folder.write("pnpm-lock.yaml", "");
    folder.write("packages/infra/yarn.lock", "");
    assert.match(howToInstall(member, published), /: yarn --cwd /);
  });

  it("names the way from a clone as long as nothing is published, and no package of the registry", () => {
    const advice = howToInstall(member, { version: "1.2.3" });
    const [vendor, archive] = [join(member, "vendor"), join(member, "vendor", "pulumi-rekey-1.2.3.tgz")];
    assert.match(advice, /^It is not published yet: in a clone of its repository, run `npm ci && .*`, and commit/);
    assert.ok(advice.includes(`npm pack --pack-destination ${JSON.stringify(vendor)}\``), advice);
    assert.ok(advice.endsWith(`npm install --prefix ${JSON.stringify(member)} ${JSON.stringify(archive)}`), advice);
  });

  it("names the flag that pnpm needs in the root of a workspace", () => {
    folder.write("pnpm-lock.yaml", "");
    folder.write("pnpm-workspace.yaml", "packages: [packages/*]");
    const command = `: pnpm add --dir ${JSON.stringify(root)} --workspace-root ${name}`;
    assert.ok(howToInstall(root, published).endsWith(command));
    assert.match(howToInstall(member, published), /: pnpm add --dir \S+ pulumi-rekey@1\.2\.3$/);
  });

  it("asks for node_modules in a project with Yarn Plug'n'Play", () => {
    folder.write("yarn.lock", "");
    folder.write(".pnp.cjs", "");
    assert.match(howToInstall(member), /node_modules.*nodeLinker: node-modules.*\.yarnrc\.yml.*yarn install/);
  });
});
