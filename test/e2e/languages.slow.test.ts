import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startPlatform } from "../../local/index";
import { Folder } from "../support/folder";
import { HomeWithPlugin, whyNoPrograms } from "./pluginArchive";
import { examples } from "../support/project";
import { databasePath } from "../support/resources";

/** What each example needs on PATH, in addition to `pulumi`. */
const languages: Readonly<Record<string, readonly string[]>> = {
  yaml: ["pulumi-language-yaml"],
  python: ["pulumi-language-python", "python3"],
  go: ["pulumi-language-go", "go"],
  nodejs: ["pulumi-language-nodejs", "npm"],
  csharp: ["pulumi-language-dotnet", "dotnet"],
};

const ids = ["96ad0856-03b1-4ee7-9666-e81abd0349e1", "6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90"] as const;

/** An account with one of the databases of the examples. */
const startAccount = (id: string, name: string) =>
  startPlatform({
    ...{ databases: [id], databasePath, credentials: "read" },
    ...{ username: name, password: `${name}-password`, queueToken: `${name}-token` },
  });

/** The commands in the first `sh` block of the README of an example. */
function commandsOf(language: string): string {
  const page = readFileSync(join(examples, "languages", language, "README.md"), "utf8");
  return /^ *```sh\n([\s\S]*?)^ *```$/m.exec(page)?.[1] ?? assert.fail("the page has no commands");
}

/** Changes the version of each resource in a copy of an example. */
function rewriteVersions(folder: Folder): void {
  const names = ["Pulumi.yaml", "__main__.py", "main.go", "index.ts", "Program.cs"];
  for (const name of names.filter((one) => existsSync(folder.path(one)))) {
    const text = readFileSync(folder.path(name), "utf8");
    folder.write(name, text.replace(/(version\W+(?:pulumi\.Float64\()?"?)1\b/gi, "$12"));
  }
}

describe("The examples of other languages, on the pulumi CLI", function () {
  // Go compiles Pulumi's SDK, which takes minutes without a cache.
  this.timeout(1_800_000);
  /** Made by the first test that can run. */
  let installed: HomeWithPlugin | undefined;
  after(() => installed?.remove());

  for (const [language, programs] of Object.entries(languages)) {
    const why = whyNoPrograms(...programs);
    if (why !== undefined) {
      it.skip(`${language} (skipped: ${why})`);
      continue;
    }
    it(`${language}: the commands of its README keep the passwords, and a new version rotates once`, async function () {
      const home = (installed ??= await HomeWithPlugin.make());
      const [one, two] = [await startAccount(ids[0], "one"), await startAccount(ids[1], "two")];
      const folder = new Folder();
      const run = (commands: string) => home.run(folder.directory, commands, this);
      const sent = () => [one, two].map(({ requests }) => requests.filter(({ method }) => method === "POST").length);
      try {
        cpSync(join(examples, "languages", language), folder.directory, { recursive: true });
        const commands = commandsOf(language)
          .replaceAll("http://127.0.0.1:4100", one.url)
          .replaceAll("http://127.0.0.1:4200", two.url);
        const up = await run(commands);
        assert.match(up, /verifiedAt *: "2/);
        assert.match(up, /waiting *: 42/);
        assert.deepEqual(sent(), [1, 0]);
        rewriteVersions(folder);
        await run("pulumi up");
        assert.deepEqual(sent(), [3, 1]);
        assert.match(await run("pulumi up"), /6 unchanged/);
        await run("pulumi preview --expect-no-changes; pulumi refresh");
        await run(
          "pulumi config set --secret rekey:password a; pulumi config set --secret secondPassword b; pulumi up",
        );
        assert.deepEqual(sent(), [3, 1]);
        assert.ok([one, two].every(({ requests }) => requests.every(({ status }) => status === 200)));

        const passwords = [one.database(ids[0]).password, two.database(ids[1]).password];
        const show = async (output: string) => (await run(`pulumi stack output ${output} --show-secrets`)).trim();
        assert.deepEqual([await show("password"), await show("secondPassword")], passwords);
        const state = await run("pulumi stack export");
        const secrets = [...passwords, "one-password", "two-password"];
        assert.ok(!secrets.some((secret) => state.includes(secret)));
      } finally {
        for (const platform of [one, two]) await platform.close();
        folder.remove();
      }
    });
  }
});
