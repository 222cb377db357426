import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, startPlatform } from "../../local/index";
import { pulumiCli } from "../support/engine";
import { Folder } from "../support/folder";
import { HomeWithPlugin, whyNoPrograms } from "../support/pluginArchive";
import { examples } from "../support/project";
import { runAsync } from "../support/runAsync";

/** What each example needs on PATH, in addition to `pulumi`. */
const languages: Readonly<Record<string, readonly string[]>> = {
  yaml: ["pulumi-language-yaml"],
  python: ["pulumi-language-python", "python3"],
  go: ["pulumi-language-go", "go"],
  csharp: ["pulumi-language-dotnet", "dotnet"],
};

const readPage = (...path: string[]) => readFileSync(join(examples, "languages", ...path), "utf8");

/** The commands in the first `sh` block of a page. */
function commandsOf(page: string): string {
  return /^ *```sh\n([\s\S]*?)^ *```$/m.exec(page)?.[1] ?? assert.fail("the page has no commands");
}

/** What pip and Go print without a package registry. */
const unreachable = /Failed to establish a new connection|proxy\.golang\.org\S*: dial tcp/;

describe("The examples of other languages, on the pulumi CLI", function () {
  // Go compiles Pulumi's SDK, which takes minutes without a cache.
  this.timeout(1_800_000);
  let home: HomeWithPlugin | undefined;
  const databases = ["db-sessions"];
  let [first, second]: Platform[] = [];

  before(async () => {
    if (pulumiCli.unavailable === undefined) home = await HomeWithPlugin.make();
  });
  beforeEach(async () => {
    const credentials = (name: string) => ({
      username: name,
      password: `${name}-password`,
      queueToken: `${name}-token`,
    });
    first = await startPlatform({ databases, credentialsInResponse: "always", ...credentials("one") });
    second = await startPlatform({ databases, credentialsInResponse: "always", ...credentials("two") });
  });
  afterEach(async () => {
    await first?.close();
    await second?.close();
  });
  after(() => home?.remove());

  for (const [language, programs] of Object.entries(languages)) {
    const why = whyNoPrograms(...programs);
    if (why !== undefined) {
      it.skip(`${language} (skipped: ${why})`);
      continue;
    }
    it(`${language}: the commands of its README rotate once, and no later one does`, async function () {
      const [one, two] = [first ?? assert.fail(), second ?? assert.fail()];
      const folder = new Folder();
      cpSync(join(examples, "languages", language), folder.directory, { recursive: true });
      const commands = commandsOf(readPage(language, "README.md"))
        .replaceAll("http://127.0.0.1:4100", one.url)
        .replaceAll("http://127.0.0.1:4200", two.url);
      const up = await run(folder.directory, commands, this);
      assert.match(up, /verifiedAt *: "2/);
      assert.match(up, /waiting *: 42/);
      const sent = () => [one, two].map(({ requests }) => requests.filter(({ method }) => method === "POST").length);
      assert.deepEqual(sent(), [2, 1]);

      assert.match(await run(folder.directory, "pulumi up"), /7 unchanged/);
      await run(folder.directory, "pulumi preview --expect-no-changes");
      await run(folder.directory, "pulumi refresh");
      await run(
        folder.directory,
        "pulumi config set --secret rekey:password a; pulumi config set --secret secondPassword b",
      );
      await run(folder.directory, "pulumi up");
      assert.deepEqual(sent(), [2, 1]);
      assert.ok([one, two].every(({ requests }) => requests.every(({ status }) => status === 200)));

      const passwords = [one, two].map((platform) => platform.database("db-sessions").password);
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
   * @param test is skipped if a package registry cannot be reached
   */
  async function run(cwd: string, commands: string, test?: Mocha.Context): Promise<string> {
    const backend = join(cwd, "backend");
    mkdirSync(backend, { recursive: true });
    const env = {
      ...home?.environment,
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
