import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/index";
import { type Result, type Stack, succeeds } from "../support/engine";
import { onEngines } from "../support/onEngines";
import { environmentOf, Project, transpileOnly } from "../support/project";

interface Run {
  readonly project: Project;
  readonly platform: Platform;
  readonly stack: Stack;
  /** The first `up`. */
  readonly first: Result;
}

interface Expectation {
  readonly what: string;
  readonly platform?: PlatformOptions;
  readonly config?: Readonly<Record<string, string>>;
  /** Looks at the first `up`, and goes on from there. */
  readonly then: (run: Run) => Promise<void> | void;
}

const value = ({ outputs, printed }: Result, name: string): unknown => {
  assert.ok(name in outputs, printed);
  return outputs[name]?.value;
};
const resetsOf = ({ requests }: Platform): number => requests.filter(({ method }) => method === "POST").length;

const inLanguage: Expectation = {
  what: "runs",
  config: { databaseId: "db-sessions" },
  then({ platform, first }) {
    const { endpoint } = platform.database("db-sessions").record;
    assert.deepEqual([value(first, "endpoint"), value(first, "keys")], [endpoint, 2]);
  },
};

const examples: Readonly<Record<string, Expectation>> = {
  "nightly-rotation": {
    what: "resets a password whose time is over",
    config: { databaseId: "db-sessions" },
    async then({ platform, stack, first }) {
      assert.equal(value(first, "reason"), "created");
      const days =
        (Date.parse(String(value(first, "nextRotationAt"))) - Date.parse(String(value(first, "rotatedAt")))) / 864e5;
      assert.equal(days, 30);
      assert.equal(platform.resetCount, 1);
      await stack.setConfig("rotateEvery", "PT1S");
      await sleep(1000);
      assert.equal(value(await stack.up(), "reason"), "schedule");
      assert.equal(platform.resetCount, 2);
    },
  },
  "rotation-on-demand": {
    what: "rotates once for a new version",
    platform: { credentialsInResponse: "always" },
    config: { databaseId: "db-sessions" },
    async then({ platform, stack, first }) {
      assert.equal(value(first, "rotationCount"), 1);
      await stack.setConfig("version", "2026-11-leak");
      const { outputs } = await stack.up();
      const { password } = platform.database("db-sessions");
      assert.deepEqual([outputs["rotationCount"]?.value, platform.resetCount], [2, 2]);
      assert.deepEqual(outputs["password"], { value: password, secret: true });
    },
  },
  "flow-control-incident": {
    what: "resets for an incident, and never without one",
    platform: {
      flowControlKeys: [{ flowControlKey: "orders", waitListSize: 7, parallelismMax: 3, parallelismCount: 3 }],
    },
    config: { flowControlKey: "orders" },
    async then({ platform, stack }) {
      assert.equal(resetsOf(platform), 0);
      await stack.setConfig("incident", "INC-4711");
      const reset = await stack.up();
      const seen = ["waitingBefore", "runningBefore", "runningAfter"].map((name) => value(reset, name));
      assert.deepEqual(seen, [7, 3, 0]);
      assert.equal(resetsOf(platform), 1);
    },
  },
  "flow-control-dashboard": {
    what: "shows what waits, what runs and what is stuck",
    platform: {
      flowControlKeys: [
        { flowControlKey: "orders", waitListSize: 7, parallelismMax: 3, parallelismCount: 3 },
        { flowControlKey: "emails", waitListSize: 2, rateMax: 10, rateCount: 4, ratePeriod: 60 },
      ],
    },
    then({ first }) {
      const { orders, emails } = value(first, "keys") as Record<string, object>;
      assert.deepEqual(orders, { waiting: 7, running: 3, parallelismMax: 3, rateCount: 0, full: true });
      assert.deepEqual(emails, { waiting: 2, running: 0, rateMax: 10, rateCount: 4, full: false });
      assert.deepEqual([value(first, "waiting"), value(first, "stuck")], [9, ["orders"]]);
      assert.equal((value(first, "everything") as Record<string, number>)["parallelismMax"], 100);
    },
  },
  "fleet-from-file": {
    what: "resets all for the file's version, and one for its own",
    platform: { databases: ["db-sessions", "db-carts", "db-prices"] },
    async then({ project, platform, stack, first }) {
      assert.deepEqual(value(first, "failed"), []);
      const file = project.path("fleet.json");
      const settings = JSON.parse(readFileSync(file, "utf8")) as { databases: { prices: { version: number } } };
      settings.databases.prices.version++;
      writeFileSync(file, JSON.stringify(settings));
      await succeeds(stack.up());
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
        assert.equal(resetsOf(platform), 0, "a preview resets nothing");
        const first = await succeeds(stack.up());
        await then({ project, platform, stack, first });
      } finally {
        await platform.close();
        project.remove();
      }
    });
  }
});
