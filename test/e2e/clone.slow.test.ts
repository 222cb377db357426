import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { type Platform, startPlatform } from "../../local/platform/index";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { findOnPath, runToEnd } from "../support/processes";
import { environmentOf } from "../support/project";
import { databasePath } from "../support/resources";
import { environmentIn, pulumiPath } from "./engine";
import { onEngine } from "./engineStack";
import { startLanguageHost } from "./languageHost";

/** What a clone does not have, or what is linked: `npm ci` and the build make it. */
const made = ["node_modules", "dist", ".git", ".stryker-tmp", "coverage", "reports"];

const { name: project } = parse(readFileSync(join(projectRoot, "Pulumi.yaml"), "utf8")) as { name: string };
/** What Pulumi's official CLI has, and one that is built from its module does not. */
const language = "pulumi-language-nodejs";

onEngine("`pulumi` at the top of a clone", () => {
  let platform: Platform;
  let clone: Folder;
  before(async () => {
    platform = await startPlatform({ databasePath, flowControlKeys: ["orders"] });
    clone = new Folder();
    cpSync(projectRoot, clone.directory, { recursive: true, filter: (path) => !made.includes(basename(path)) });
    for (const name of ["node_modules", "dist"]) symlinkSync(join(projectRoot, name), clone.path(name), "junction");
    mkdirSync(clone.path("backend"));
  });
  after(async () => {
    await platform.close();
    clone.remove();
  });

  const pulumi = (...args: string[]) => {
    const env = { ...environmentIn(clone), ...environmentOf(platform), REKEY_DATABASE_PATH: databasePath };
    return runToEnd(pulumiPath, [...args, "--non-interactive", "--color", "never"], { cwd: clone.directory, env });
  };

  async function previewsTheQuickstart(stack: string, ...more: string[]): Promise<void> {
    await pulumi("stack", "init", stack);
    const config = ["--config", "databaseId=db-quickstart", "--config", "flowControlKey=orders"];
    const printed = await pulumi("preview", "--stack", stack, ...config, ...more);
    assert.match(printed, /rekey:PasswordRotation +cache +create/);
    assert.match(printed, new RegExp(`pulumi:pulumi:Stack +${project}-${stack} +create`));
    assert.match(printed, /[Pp]assword of database "db-quickstart".* because the resource is new/);
    assert.doesNotMatch(printed, /is not a setting/);
    assert.match(printed, /\+ 4 to create/);
    assert.deepEqual(
      platform.requests.filter(({ method }) => method !== "GET"),
      [],
    );
  }

  it("previews the quickstart", async () => {
    const host = await startLanguageHost();
    await previewsTheQuickstart("ours", "--client", host.address).finally(() => host.close());
  });

  if (findOnPath(language) === undefined) {
    it.skip(`the same by Pulumi's language host (skipped: no \`${language}\` on PATH)`);
  } else it("the same by Pulumi's language host", () => previewsTheQuickstart("theirs"));
});
