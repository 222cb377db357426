import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { readSeed } from "../../local/platform/seed";
import { packageVersion } from "../../provider/domain/ownPackage";
import { EngineStack, onEngine, succeeds } from "./engineStack";
import { loadExample } from "./loadExample";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { HomeWithPlugin, whyNoPrograms } from "./pluginArchive";
import { environmentOf, examples } from "../support/project";
import { runAsync } from "../support/processes";
import { databasePath } from "../support/resources";

const leakedAt = "2026-04-19";
const queueUserId = "00000000-0000-4000-8000-000000000001";
const doctor = join(projectRoot, "dist", "provider", "doctor", "main.js");

/** What is reset of the secrets that are not databases. */
const others = [
  "/v2/keys/rotate",
  `/v2/qstash/next-token/${queueUserId}`,
  "/v2/search/idx-search/reset-password",
  "/v2/vector/index/idx-vectors/reset-password",
];
/** The former queue token stays valid until the next `up`. */
const retirement = `/v2/qstash/roll-token/${queueUserId}`;
const fleetOf20 = Array.from({ length: 20 }, (_, index) => `db-${String(index + 1).padStart(2, "0")}`);
const resetOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;
const older = [...["db-adopted", ...fleetOf20].map(resetOf), ...others].sort();

/** A platform with the account of the example: 23 databases, of which one is created now. */
function startAccount(): PlatformOptions {
  const seed = readSeed(join(examples, "after-a-leak", "platform.yaml"));
  const databases = (seed.databases ?? []).map((one) => {
    const { database_id } = one as { database_id: string };
    return database_id === "db-new" ? { database_id, creation_time: Math.floor(Date.now() / 1000) } : one;
  });
  return { ...seed, databases, databasePath, credentials: "always" };
}

const settings = {
  "rekey:queueUserId": queueUserId,
  "rekey:databasePath": databasePath,
  "rekey:databaseListPath": "/v2/redis/databases",
};

/** The resets that a run sends. */
async function resetsOf({ requests }: Platform, run: () => Promise<unknown>): Promise<string[]> {
  const before = requests.length;
  await run();
  const sent = requests.slice(before).filter(({ method }) => method !== "GET");
  assert.ok(sent.every(({ status }) => status === 200));
  return sent.map(({ path }) => path).sort();
}

/** Each kind of token was tried: the new one was accepted, and the former one refused. */
function assertProven({ requests }: Platform): void {
  for (const path of ["/indexes/vector/idx-vectors/info", "/indexes/search/idx-search/info", "/v2/globalParallelism"]) {
    const statuses = requests.filter((request) => request.path === path).map(({ status }) => status);
    assert.ok(statuses.includes(200) && statuses.includes(401), `${path}: ${statuses.join()}`);
  }
}

onEngine("The program for the time after a leak", () => {
  it("resets what is older, once; after the import of an older state once more; then the count finds nothing", async () => {
    const program = () => loadExample("after-a-leak") as Record<string, unknown>;
    const stack = await EngineStack.start(program, {
      platform: startAccount(),
      config: { ...settings, "rekey:queueToken": undefined },
    });
    const { platform } = stack;
    const up = () => resetsOf(platform, () => succeeds(stack.up()));
    /** The exit code of the count, and what it prints. */
    const coverage = async () => {
      const args = [doctor, "doctor", "--coverage", "--stack", stack.name, "--since", leakedAt];
      const options = { cwd: stack.directory, env: stack.variables };
      const { code, output } = await runAsync(process.execPath, args, options);
      return { code, last: output.trim().split("\n").at(-1) };
    };
    const older23 = `27 secrets: 24 older than ${leakedAt}, 1 of unknown age.`;
    assert.deepEqual(await up(), []);
    assert.deepEqual(await coverage(), { code: 1, last: older23 });
    const file = stack.path("before.json");
    await stack.run("stack", "export", "--file", file);

    await stack.configure({ leakedAt });
    assert.deepEqual(await up(), older);
    assert.deepEqual(await up(), [retirement]);
    assert.equal((await coverage()).code, 1, "one signing key is older");
    assertProven(platform);

    await stack.run("stack", "import", "--file", file);
    await stack.configure({ minInterval: "0s" });
    assert.deepEqual(await up(), older);
    assert.deepEqual(await up(), ["/v2/keys/rotate", retirement]);
    assert.deepEqual(await up(), []);
    assert.deepEqual(await coverage(), { code: 0, last: `27 secrets: 0 older than ${leakedAt}, 0 of unknown age.` });
  });
});

/** Programs for the plugin: what they need on PATH, and the databases that they reset. */
const withPlugin = {
  yaml: { needs: ["pulumi-language-yaml"], resets: ["db-adopted", "db-01", "db-02"] },
  python: { needs: ["pulumi-language-python", "python3"], resets: ["db-adopted", ...fleetOf20] },
};

for (const [language, { needs, resets }] of Object.entries(withPlugin)) {
  const title = `The program in ${language} for the time after a leak, with the plugin, resets what is older, once`;
  const why = whyNoPrograms(...needs);
  if (why !== undefined) {
    it.skip(`${title} (skipped: ${why})`);
    continue;
  }
  it(title, async function () {
    const platform = await startPlatform(startAccount());
    const home = await HomeWithPlugin.make();
    const folder = new Folder();
    cpSync(join(examples, "after-a-leak", language), folder.directory, { recursive: true });
    const { REKEY_QUEUE_TOKEN: _, ...account } = environmentOf(platform);
    const run = (commands: string) => home.run(folder.directory, commands, this, account);
    const up = () => resetsOf(platform, () => run("pulumi up"));
    try {
      await run(
        `pulumi package add rekey@${packageVersion()}; pulumi stack init dev; pulumi config set leakedAt ${leakedAt}`,
      );
      for (const [name, value] of Object.entries(settings)) await run(`pulumi config set ${name} '${value}'`);
      assert.deepEqual(await up(), [...resets.map(resetOf), ...others].sort());
      assert.deepEqual(await up(), [retirement]);
      assertProven(platform);
      await run("pulumi config set minInterval 0s");
      assert.deepEqual(await up(), ["/v2/keys/rotate"]);
      assert.deepEqual(await up(), []);
    } finally {
      await platform.close();
      folder.remove();
      home.remove();
    }
  }).timeout(900_000);
}
