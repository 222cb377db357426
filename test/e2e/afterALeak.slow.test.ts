import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Platform, startPlatform } from "../../local/index";
import { readSeed } from "../../local/platform/seed";
import { packageVersion } from "../../provider/platform/version";
import { type Engine, localEngine, plainOutputs, pulumiCli, type Stack, succeeds } from "../support/engine";
import { engineEnvironment } from "../support/engineProcess";
import { projectRoot } from "../support/host";
import { onEngine, onEngines } from "../support/onEngines";
import { HomeWithPlugin, unreachable, whyNoPrograms } from "../support/pluginArchive";
import { environmentOf, examples, Project, transpileOnly, writePulumiStandIn } from "../support/project";
import { runAsync } from "../support/processes";
import { databasePath } from "../support/resources";

const leakedAt = "2026-04-19";
const queueUserId = "00000000-0000-4000-8000-000000000001";
const doctor = join(projectRoot, "dist", "provider", "doctor", "main.js");

/** What is reset of the secrets that are not databases. */
const others = [
  "/v2/keys/rotate",
  `/v2/qstash/rotate-token/${queueUserId}`,
  "/v2/search/idx-search/reset-password",
  "/v2/vector/index/idx-vectors/reset-password",
];
const fleetOf20 = Array.from({ length: 20 }, (_, index) => `db-${String(index + 1).padStart(2, "0")}`);
const resetOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;
const older = [...["db-adopted", ...fleetOf20].map(resetOf), ...others].sort();

interface Story {
  readonly platform: Platform;
  readonly project: Project;
  readonly stack: Stack;
  readonly environment: Readonly<Record<string, string>>;
}

/** The account of the example: 23 databases, of which one is created now. */
async function startStory(
  engine: Engine,
  project: Project,
  more: Readonly<Record<string, string>> = {},
): Promise<Story> {
  const seed = readSeed(join(examples, "after-a-leak", "platform.yaml"));
  const databases = (seed.databases ?? []).map((one) => {
    const { database_id } = one as { database_id: string };
    return database_id === "db-new" ? { database_id, creation_time: Math.floor(Date.now() / 1000) } : one;
  });
  const platform = await startPlatform({ ...seed, databases, databasePath, credentials: "always" });
  const { REKEY_QUEUE_TOKEN: _, ...settings } = environmentOf(platform);
  const environment = {
    ...settings,
    ...transpileOnly,
    ...more,
    REKEY_QUEUE_USER_ID: queueUserId,
    REKEY_DATABASE_PATH: databasePath,
    REKEY_DATABASE_LIST_PATH: "/v2/redis/databases",
  };
  return { platform, project, stack: await engine.open(project.directory, environment), environment };
}

/** The resets that an `up` sends, as the request log of the platform has them. */
async function resetsOf({ platform, stack }: Story): Promise<string[]> {
  const before = platform.requests.length;
  await succeeds(stack.up());
  const sent = platform.requests.slice(before).filter(({ method }) => method !== "GET");
  assert.ok(sent.every(({ status }) => status === 200));
  return sent.map(({ path }) => path).sort();
}

/** The verification of each kind has succeeded, and contacted what it verified. */
async function assertProven({ platform, stack }: Story): Promise<void> {
  const { resources = [] } = (await stack.exportState(true)).deployment;
  const proofs = resources.filter(({ urn }) => urn.includes(":PasswordVerification::")).map(plainOutputs);
  assert.deepEqual(
    proofs.map(({ verified }) => verified),
    [true, true, true, true],
  );
  for (const path of ["/indexes/vector/idx-vectors/info", "/indexes/search/idx-search/info", "/v2/globalParallelism"]) {
    const statuses = platform.requests.filter((request) => request.path === path).map(({ status }) => status);
    assert.ok(statuses.includes(200) && statuses.includes(401), `${path}: ${statuses.join()}`);
  }
}

onEngines("The program for the time after a leak", (engine) => {
  /** The exit code of the count, and what it prints. */
  async function coverage({ project, environment }: Story) {
    const bin = project.path("bin");
    if (engine === localEngine) writePulumiStandIn(bin);
    const env = {
      ...engineEnvironment(project.directory),
      ...environment,
      SELECTED_STACK: "dev",
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    };
    const args = [doctor, "doctor", "--coverage", "--stack", "dev", "--since", leakedAt];
    const { code, output } = await runAsync(process.execPath, args, { cwd: project.directory, env });
    return { code, last: output.trim().split("\n").at(-1) };
  }

  it("resets what is older, once; after the import of an older state once more; then the count finds nothing", async () => {
    const project = new Project({ example: "after-a-leak" });
    const story = await startStory(engine, project);
    const { platform, stack } = story;
    const state = join(project.path(dirname(engine.stateFolder)), "after-a-leak", "dev.json");
    try {
      assert.deepEqual(await resetsOf(story), []);
      assert.deepEqual(await coverage(story), {
        code: 1,
        last: `27 secrets: 24 older than ${leakedAt}, 1 of unknown age.`,
      });
      copyFileSync(state, project.path("before.json"));

      await stack.setConfig("leakedAt", leakedAt);
      assert.deepEqual(await resetsOf(story), older);
      assert.deepEqual(await resetsOf(story), []);
      assert.equal((await coverage(story)).code, 1, "one signing key is older");
      await assertProven(story);

      copyFileSync(project.path("before.json"), state);
      await stack.setConfig("minInterval", "0s");
      assert.deepEqual(await resetsOf(story), older);
      assert.deepEqual(await resetsOf(story), ["/v2/keys/rotate"]);
      assert.deepEqual(await resetsOf(story), []);
      assert.deepEqual(await coverage(story), {
        code: 0,
        last: `27 secrets, all rotated or created since ${leakedAt}.`,
      });
    } finally {
      await platform.close();
      project.remove();
    }
  });
});

/** Programs for the plugin: what they need on PATH, the databases that they reset, and how they find the plugin. */
const withPlugin: Readonly<Record<string, PluginProgram>> = {
  yaml: {
    needs: ["pulumi-language-yaml"],
    resets: ["db-adopted", "db-01", "db-02"],
    prepare: (project) => {
      const main = join(projectRoot, "dist", "provider", "engine", "plugin", "main.js");
      project.write("plugin/pulumi-resource-rekey", `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, 0o755);
      const [program] = readFileSync(project.path("Pulumi.yaml"), "utf8").split("# As `pulumi package add`");
      project.write("Pulumi.yaml", `${program}plugins: { providers: [{ name: rekey, path: ./plugin }] }\n`);
      return Promise.resolve(undefined);
    },
  },
  python: {
    needs: ["pulumi-language-python", "python3"],
    resets: ["db-adopted", ...fleetOf20],
    prepare: async (project, test) => {
      const home = await HomeWithPlugin.make();
      const env = { ...engineEnvironment(project.directory), ...home.environment };
      const add = ["package", "add", `rekey@${packageVersion()}`];
      const { code, output } = await runAsync("pulumi", add, { cwd: project.directory, env });
      if (code !== 0 && unreachable.test(output)) {
        console.log("      skipped: the package registry cannot be reached from here");
        test.skip();
      }
      assert.equal(code, 0, output);
      return home;
    },
  },
};

interface PluginProgram {
  readonly needs: readonly string[];
  readonly resets: readonly string[];
  /** @returns the home in which the plugin is installed, if the project does not name it */
  readonly prepare: (project: Project, test: Mocha.Context) => Promise<HomeWithPlugin | undefined>;
}

for (const [language, { needs, resets, prepare }] of Object.entries(withPlugin)) {
  const why = whyNoPrograms(...needs);
  const engine = why === undefined ? pulumiCli : { ...pulumiCli, unavailable: why };
  onEngine(engine, `The program in ${language} for the time after a leak, with the plugin`, () => {
    it("resets what is older, once, and rolls the signing keys twice", async function () {
      const project = new Project({ example: `after-a-leak/${language}` });
      const home = await prepare(project, this);
      const story = await startStory(engine, project, home?.environment);
      const { platform, stack } = story;
      try {
        await stack.setConfig("leakedAt", leakedAt);
        assert.deepEqual(await resetsOf(story), [...resets.map(resetOf), ...others].sort());
        assert.deepEqual(await resetsOf(story), []);
        await assertProven(story);
        await stack.setConfig("minInterval", "0s");
        assert.deepEqual(await resetsOf(story), ["/v2/keys/rotate"]);
        assert.deepEqual(await resetsOf(story), []);
      } finally {
        await platform.close();
        project.remove();
        home?.remove();
      }
    });
  });
}
