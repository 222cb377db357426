import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, startPlatform } from "../../local/index";
import { Folder } from "../support/folder";
import { HomeWithPlugin, unreachable, whyNoPrograms } from "../support/pluginArchive";
import { examples } from "../support/project";
import { runAsync } from "../support/processes";

/** What each example needs on PATH, in addition to `pulumi`. */
const languages: Readonly<Record<string, readonly string[]>> = {
  yaml: ["pulumi-language-yaml"],
  python: ["pulumi-language-python", "python3"],
  go: ["pulumi-language-go", "go"],
  nodejs: ["pulumi-language-nodejs", "npm"],
  csharp: ["pulumi-language-dotnet", "dotnet"],
};

const readPage = (...path: string[]) => readFileSync(join(examples, "languages", ...path), "utf8");

/** The commands in the first `sh` block of a page. */
function commandsOf(page: string): string {
  return /^ *```sh\n([\s\S]*?)^ *```$/m.exec(page)?.[1] ?? assert.fail("the page has no commands");
}

/** Changes the version of each resource in a copy of an example. */
function rewriteVersions(folder: Folder): void {
  for (const name of ["Pulumi.yaml", "__main__.py", "main.go", "index.ts", "Program.cs"].filter((one) =>
    existsSync(folder.path(one)),
  )) {
    const text = readFileSync(folder.path(name), "utf8");
    folder.write(name, text.replace(/(version\W+(?:pulumi\.Float64\()?"?)1\b/gi, "$12"));
  }
}

describe("The examples of other languages, on the pulumi CLI", function () {
  // Go compiles Pulumi's SDK, which takes minutes without a cache.
  this.timeout(1_800_000);
  /** Made by the first test that can run. */
  let installed: HomeWithPlugin | undefined;
  const ids = ["96ad0856-03b1-4ee7-9666-e81abd0349e1", "6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90"] as const;
  let [first, second]: Platform[] = [];

  beforeEach(async () => {
    const credentials = (name: string) => ({
      username: name,
      password: `${name}-password`,
      queueToken: `${name}-token`,
    });
    const options = { databasePath: "/v2/redis/database/{id}", credentials: "read" } as const;
    first = await startPlatform({ ...options, databases: [ids[0]], ...credentials("one") });
    second = await startPlatform({ ...options, databases: [ids[1]], ...credentials("two") });
  });
  afterEach(async () => {
    await first?.close();
    await second?.close();
  });
  after(() => installed?.remove());

  for (const [language, programs] of Object.entries(languages)) {
    const why = whyNoPrograms(...programs);
    if (why !== undefined) {
      it.skip(`${language} (skipped: ${why})`);
      continue;
    }
    it(`${language}: the commands of its README keep the passwords, and a new version rotates once`, async function () {
      installed ??= await HomeWithPlugin.make();
      const [one, two] = [first ?? assert.fail(), second ?? assert.fail()];
      const folder = new Folder();
      cpSync(join(examples, "languages", language), folder.directory, { recursive: true });
      const commands = commandsOf(readPage(language, "README.md"))
        .replaceAll("http://127.0.0.1:4100", one.url)
        .replaceAll("http://127.0.0.1:4200", two.url);
      const up = await run(folder.directory, commands, { test: this });
      assert.match(up, /verifiedAt *: "2/);
      assert.match(up, /waiting *: 42/);
      const sent = () => [one, two].map(({ requests }) => requests.filter(({ method }) => method === "POST").length);
      assert.deepEqual(sent(), [1, 0]);
      rewriteVersions(folder);
      await run(folder.directory, "pulumi up");
      assert.deepEqual(sent(), [3, 1]);
      assert.match(await run(folder.directory, "pulumi up"), /6 unchanged/);
      await run(folder.directory, "pulumi preview --expect-no-changes");
      await run(folder.directory, "pulumi refresh");
      await run(
        folder.directory,
        "pulumi config set --secret rekey:password a; pulumi config set --secret secondPassword b",
      );
      await run(folder.directory, "pulumi up");
      assert.deepEqual(sent(), [3, 1]);
      assert.ok([one, two].every(({ requests }) => requests.every(({ status }) => status === 200)));

      const passwords = [one.database(ids[0]).password, two.database(ids[1]).password];
      const show = (output: string) => run(folder.directory, `pulumi stack output ${output} --show-secrets`);
      assert.deepEqual(
        [await show("password"), await show("secondPassword")].map((shown) => shown.trim()),
        passwords,
      );
      const state = await run(folder.directory, "pulumi stack export");
      assert.deepEqual(
        [...passwords, "one-password", "two-password"].filter((secret) => state.includes(secret)),
        [],
      );
      folder.remove();
    });
  }

  /**
   * Runs commands as a user does in a folder. @returns what they printed
   *
   * @param options `test` is skipped if a package registry cannot be reached
   */
  async function run(cwd: string, commands: string, { test }: { test?: Mocha.Context } = {}): Promise<string> {
    const backend = join(cwd, "backend");
    mkdirSync(backend, { recursive: true });
    const env = {
      ...installed?.environment,
      PULUMI_BACKEND_URL: `file://${backend}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_CONFIRMATIONS: "true",
    };
    const { code, output } = await runAsync("sh", ["-e", "-c", commands], { cwd, env });
    if (code !== 0 && test && unreachable.test(output)) {
      console.log("      skipped: the package registry cannot be reached from here");
      test.skip();
    }
    assert.equal(code, 0, `${commands}\n${output}`);
    return output;
  }
});
