import assert from "node:assert/strict";
import { type Platform } from "../../local/index";
import { localEngine, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { fixture, onEngine } from "../support/onEngines";
import { until } from "../support/results";

/** Each kind of secret that is not the password of a database. */
const kinds: readonly {
  readonly declared: (version: number) => string;
  readonly credential: string;
  readonly resetPath: RegExp;
  readonly atPlatform: (platform: Platform) => { readonly value: string; readonly resets: number };
  /** Settings instead of `rekey:queueToken`. */
  readonly settings?: Readonly<Record<string, string>>;
}[] = [
  {
    declared: (version) => `new VectorTokenRotation("one", { indexId: "idx-vectors", version: ${version}, adopts })`,
    credential: "token",
    resetPath: /vector.*reset-password/,
    atPlatform: ({ vectorIndexes }) => tokenOf(vectorIndexes.get("idx-vectors")),
  },
  {
    declared: (version) => `new SearchTokenRotation("one", { indexId: "idx-search", version: ${version}, adopts })`,
    credential: "token",
    resetPath: /search.*reset-password/,
    atPlatform: ({ searchIndexes }) => tokenOf(searchIndexes.get("idx-search")),
  },
  {
    declared: (version) => `new QueueTokenRotation("one", { queueUserId: "qu-one", version: ${version}, adopts })`,
    credential: "token",
    resetPath: /rotate-token/,
    atPlatform: ({ queueUsers }) => tokenOf(queueUsers.get("qu-one")),
    settings: { "rekey:queueUserId": "qu-one" },
  },
  {
    declared: (version) => `new SigningKeyRotation("one", { version: ${version}, minInterval: "0s", adopts })`,
    credential: "currentKey",
    resetPath: /keys\/rotate/,
    atPlatform: ({ signingKeys: { current, rolls } }) => ({ value: current, resets: rolls }),
  },
];

function tokenOf(resource: { readonly token: string; readonly resets: number } | undefined) {
  assert.ok(resource);
  return { value: resource.token, resets: resource.resets };
}

onEngine(localEngine, "A run that is killed after the reset", (engine) => {
  for (const { declared, credential, resetPath, atPlatform, settings } of kinds) {
    const program = (version: number) => `
const { QueueTokenRotation, SearchTokenRotation, SigningKeyRotation, VectorTokenRotation } = require("pulumi-rekey");
const one = ${declared(version).replace("adopts", "initialRotation: false")};
exports.credential = one.${credential};
exports.outcome = one.outcome;`;
    const [, type = ""] = /^new (\w+)/.exec(declared(1)) ?? [];

    /** A stack whose `up` was killed after its reset arrived. */
    const killed = async () => {
      let noteReset: ((path: string) => void) | undefined;
      const { platform, project, stack } = await fixture(engine, program(1), {
        credentials: "always",
        queueUsers: ["qu-one"],
        onRequest: ({ method, path }) => method === "POST" && noteReset?.(path),
      });
      if (settings) await stack.removeConfig("rekey:queueToken");
      for (const [key, value] of Object.entries(settings ?? {})) await stack.setConfig(key, value);
      await succeeds(stack.up());
      assert.equal(atPlatform(platform).resets, 0);

      project.rewrite(program(2));
      const arrived = new Promise<void>((resolve) => (noteReset = (path) => resetPath.test(path) && resolve()));
      platform.failNext({ path: resetPath, delayMs: 500 });
      const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview"], project.directory);
      await arrived;
      await up.killEngine();
      await up.killOrphans();
      await up.ended;
      await until(() => atPlatform(platform).resets === 1);
      return { platform, stack };
    };

    /** The killed run saved nothing of its reset, so the changed version is applied by one more. */
    const assertResetOnce = async ({ platform, stack }: Awaited<ReturnType<typeof killed>>) => {
      assert.equal(valuesOf(await succeeds(stack.up()))["credential"], atPlatform(platform).value);
      assert.equal(atPlatform(platform).resets, 2);
      assert.equal((await stack.up()).changes["same"], 2);
      assert.equal(atPlatform(platform).resets, 2);
    };

    it(`${type}: a refresh saves what was reset, and the next up resets once more`, async () => {
      const { platform, stack } = await killed();
      await succeeds(stack.refresh());
      const refreshed = resourceNamed(await stack.exportState(true), "one");
      assert.ok(JSON.stringify(refreshed?.outputs).includes(atPlatform(platform).value), "the refresh saved it");
      assert.equal(atPlatform(platform).resets, 1);
      await assertResetOnce({ platform, stack });
    });

    it(`${type}: without a refresh, the next up resets once more, too`, async () => {
      await assertResetOnce(await killed());
    });
  }
});
