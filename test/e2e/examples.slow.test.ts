import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/index";
import { fails, localEngine, pulumiCli, type Stack, succeeds, valuesOf } from "../support/engine";
import { engineEnvironment } from "../support/engineProcess";
import { onEngine, onEngines } from "../support/onEngines";
import { environmentOf, Project, transpileOnly } from "../support/project";
import { databasePath } from "../support/resources";
import { runAsync } from "../support/processes";

interface Run {
  readonly project: Project;
  readonly platform: Platform;
  readonly stack: Stack;
  /** The outputs of the first `up`. */
  readonly first: Record<string, unknown>;
}

interface Expectation {
  readonly what: string;
  readonly platform?: PlatformOptions;
  readonly config?: Readonly<Record<string, string>>;
  /** Checks the first `up`, and goes on from there. */
  readonly then: (run: Run) => Promise<void> | void;
}

/** The given outputs. */
function pick(values: Record<string, unknown>, ...names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
const upOf = async (stack: Stack): Promise<Record<string, unknown>> => valuesOf(await succeeds(stack.up()));
const sentBy = ({ requests }: Platform): number => requests.filter(({ method }) => method === "POST").length;

const config = { databaseId: "db-sessions" };
const orders = { flowControlKey: "orders", waitListSize: 7, parallelismMax: 3, parallelismCount: 3 };
const emails = { flowControlKey: "emails", waitListSize: 2, rateMax: 10, rateCount: 4, ratePeriod: 60 };
const inLanguage: Expectation = {
  what: "runs",
  config,
  then({ platform, first }) {
    const { endpoint } = platform.database("db-sessions").record;
    assert.deepEqual(pick(first, "endpoint", "keys"), { endpoint, keys: 2 });
  },
};

const examples: Readonly<Record<string, Expectation>> = {
  "nightly-rotation": {
    what: "keeps the password, then resets and verifies it when its interval has passed",
    platform: { credentials: "always", databasePath },
    config: { ...config, "rekey:databasePath": databasePath },
    async then({ platform, stack, first }) {
      const days = (Date.parse(String(first["nextRotationAt"])) - Date.now()) / 864e5;
      assert.ok(days > 29.9 && days <= 30, String(days));
      assert.equal(platform.resetCount, 0);
      await stack.setConfig("rotateEvery", "PT1S");
      await sleep(1000);
      const { reason, verifiedAt, url } = await upOf(stack);
      assert.equal(reason, "schedule");
      assert.ok(Date.parse(String(verifiedAt)) > 0);
      assert.equal(new URL(String(url)).password, platform.database("db-sessions").password);
      assert.equal(platform.resetCount, 1);
    },
  },
  "rotation-on-demand": {
    what: "rotates once for a new version",
    platform: { credentials: "always" },
    config,
    async then({ platform, stack, first }) {
      assert.equal(first["rotationCount"], 1);
      await stack.setConfig("version", "2026-11-leak");
      const { outputs } = await succeeds(stack.up());
      assert.deepEqual(outputs["password"], { value: platform.database("db-sessions").password, secret: true });
      assert.equal(outputs["rotationCount"]?.value, 2);
      assert.equal(platform.resetCount, 2);
    },
  },
  "flow-control-incident": {
    what: "resets for an incident, and never without one",
    platform: { flowControlKeys: [{ ...emails, rateCount: 10 }] },
    config: { flowControlKey: "emails" },
    async then({ platform, stack }) {
      assert.equal(sentBy(platform), 0);
      await stack.setConfig("incident", "INC-4711");
      const expected = { waitingBefore: 2, dispatchedBefore: 10, dispatchedAfter: 0 };
      assert.deepEqual(pick(await upOf(stack), ...Object.keys(expected)), expected);
      assert.equal(sentBy(platform), 1);
    },
  },
  "flow-control-dashboard": {
    what: "shows what waits, what runs and what is stuck",
    platform: { flowControlKeys: [orders, emails] },
    then({ first: { keys, waiting, stuck, everything } }) {
      assert.deepEqual(keys, {
        orders: { waiting: 7, running: 3, parallelismMax: 3, rateCount: 0, reached: ["parallelism"] },
        emails: { waiting: 2, running: 0, rateMax: 10, rateCount: 4, reached: [] },
      });
      assert.deepEqual({ waiting, stuck }, { waiting: 9, stuck: ["orders"] });
      assert.equal((everything as Record<string, number>)["parallelismMax"], 100);
    },
  },
  "flow-control-limits": {
    what: "pins what is configured, pauses, and drains slowly",
    platform: { flowControlKeys: [] },
    config: { flowControlKey: "orders", parallelism: "10", rate: "100" },
    async then({ platform, stack, first }) {
      assert.deepEqual(first, { parallelism: 10, rate: 100, period: 60, paused: false });
      await stack.setConfig("paused", "true");
      assert.deepEqual(await upOf(stack), { ...first, paused: true });
      await stack.setConfig("parallelism", "2");
      await stack.setConfig("paused", "false");
      assert.deepEqual(await upOf(stack), { ...first, parallelism: 2 });
      const sent = platform.requests
        .filter(({ method }) => method === "POST")
        .map(({ path }) => path.split("/").at(-1));
      assert.deepEqual(sent, ["pin?parallelism=10&rate=100&period=60", "pause", "pin?parallelism=2", "resume"]);
    },
  },
  "fleet-from-file": {
    what: "resets all for the file's version, and one for its own",
    platform: { databases: ["db-sessions", "db-carts", "db-prices"] },
    async then({ project, platform, stack, first }) {
      assert.deepEqual(first["failed"], []);
      const settings = JSON.parse(readFileSync(project.path("fleet.json"), "utf8")) as {
        databases: { prices: { version: number } };
      };
      settings.databases.prices.version++;
      project.write("fleet.json", JSON.stringify(settings));
      await upOf(stack);
      const counts = [...platform.databases].map(([id, { resets }]) => [id, resets]);
      assert.deepEqual(Object.fromEntries(counts), { "db-sessions": 1, "db-carts": 1, "db-prices": 2 });
    },
  },
  "languages/javascript-commonjs": inLanguage,
  "languages/javascript-esm": inLanguage,
  "languages/typescript-commonjs": inLanguage,
  "languages/typescript-esm": inLanguage,
};

onEngines("The example", (engine) => {
  for (const [name, { what, platform: options, config = {}, then }] of Object.entries(examples)) {
    it(`${name} ${what}`, async () => {
      const platform = await startPlatform(options);
      const project = new Project({ example: name });
      try {
        const stack = await engine.open(project.directory, { ...environmentOf(platform), ...transpileOnly });
        for (const [key, setting] of Object.entries(config)) await stack.setConfig(key, setting);
        await succeeds(stack.preview());
        assert.equal(sentBy(platform), 0, "a preview resets nothing");
        await then({ project, platform, stack, first: await upOf(stack) });
      } finally {
        await platform.close();
        project.remove();
      }
    });
  }
});

onEngine(localEngine, "The example fleet-over-stacks", () => {
  it("resets each database once, in one of the stacks, and requires a stack's name to say which part it is", async () => {
    const project = new Project({ example: "fleet-over-stacks" });
    const databases = readFileSync(project.path("databases.txt"), "utf8").split("\n").filter(Boolean);
    const platform = await startPlatform({ databases });
    const open = (stack: string) => localEngine.open(project.directory, environmentOf(platform), stack);
    const counts: number[] = [];
    for (const name of ["part-0-of-2", "part-1-of-2"]) {
      const { failed, count } = await upOf(await open(name));
      assert.deepEqual(failed, []);
      counts.push(Number(count));
    }
    const [first = NaN, second = NaN] = counts;
    assert.ok(first > 0 && second > 0 && first + second === databases.length, counts.join());
    assert.ok([...platform.databases.values()].every(({ resets }) => resets === 1));
    await fails((await open("part-2-of-2")).up(), /part-0-of-4/);
    await platform.close();
    project.remove();
  });
});

onEngine(localEngine, "If the settings of its triggers are removed, nothing is reset by the example", () => {
  const triggers = { version: "2026-11-leak", incident: "INC-4711" };
  const settings = { databaseId: "db-00000", flowControlKey: "orders", ...triggers };
  const names = ["quickstart", "rotation-on-demand", "fleet-over-stacks", "redis-consumer", "flow-control-incident"];
  for (const name of names) {
    it(name, async () => {
      const databases = Array.from({ length: 20 }, (_, index) => `db-000${String(index).padStart(2, "0")}`);
      const platform = await startPlatform({ databases, flowControlKeys: [orders], credentials: "always" });
      const project = new Project({ example: name });
      // The quickstart uses that of the repository.
      project.write("Pulumi.yaml", `name: example\nruntime: nodejs\nmain: index.ts\n`);
      try {
        const environment = { ...environmentOf(platform), ...transpileOnly };
        const stack = await localEngine.open(project.directory, environment, "part-0-of-1");
        for (const [key, value] of Object.entries(settings)) await stack.setConfig(key, value);
        await upOf(stack);
        const before = sentBy(platform);
        assert.ok(before > 0);
        for (const key of Object.keys(triggers)) await stack.removeConfig(key);
        await upOf(stack);
        assert.equal(sentBy(platform), before);
      } finally {
        await platform.close();
        project.remove();
      }
    });
  }
});

const automation = { example: "automation-api" };

/** Runs the script from another folder, as a scheduler does. */
async function runAutomation(project: Project, args: readonly string[], environment: Record<string, string> = {}) {
  mkdirSync(project.path("backend"), { recursive: true });
  const ownEnvironment = { ...engineEnvironment(project.directory), TS_NODE_PROJECT: project.path("tsconfig.json") };
  const env = { ...environment, ...ownEnvironment };
  const loader = require.resolve("ts-node/register/transpile-only");
  return runAsync(process.execPath, ["-r", loader, project.path("rotate.ts"), ...args], { cwd: tmpdir(), env });
}

it("The example automation-api prints its usage", async () => {
  const project = new Project(automation);
  const { code, output } = await runAutomation(project, ["production"]);
  project.remove();
  assert.equal(code, 2);
  assert.match(output, /^usage: rotate\.ts <stack> <databaseId> /);
});

onEngine(pulumiCli, "The example automation-api", () => {
  const args = ["production", "db-sessions", "leak"];
  let platform: Platform;
  let project: Project;

  beforeEach(async () => {
    platform = await startPlatform();
    project = new Project(automation);
  });
  afterEach(async () => {
    await platform.close();
    project.remove();
  });

  it("rotates now, and not again for the same version", async () => {
    for (const printed of [/in all 1\n$/, /Nothing was reset: .*\n.*in all 1\n$/]) {
      const { code, output } = await runAutomation(project, args, environmentOf(platform));
      assert.equal(code, 0, output);
      assert.match(output, printed);
      assert.equal(platform.resetCount, 1);
    }
  });

  it("needs workDir: without it, the provider host does not find its packages", async () => {
    const source = readFileSync(project.path("rotate.ts"), "utf8");
    const settings = '{ projectSettings: { name: "rotate-now", runtime: "nodejs" } }';
    project.write("rotate.ts", source.replace("{ workDir: __dirname }", settings));
    const { code, output } = await runAutomation(project, args, environmentOf(platform));
    assert.equal(code, 1, output);
    assert.match(output, /Cannot find module '@pulumi\/pulumi\/cmd\/dynamic-provider'/);
    assert.deepEqual(platform.requests, []);
  });
});
