import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { type Platform } from "../../local/index";
import { Team, whyNoAge } from "../support/age";
import { credentialsAt, useCredentials, Watch } from "../support/credentials";
import { type Engine, localEngine, type Result, succeeds, valuesOf } from "../support/engine";
import { EngineProcess, runEngine } from "../support/engineProcess";
import { fixture, onEveryEngine } from "../support/onEngines";
import { Project } from "../support/project";
import { databasePath } from "../support/resources";
import { until } from "../support/results";
import { type Properties } from "../support/wire";

if (whyNoAge !== undefined) console.log(`Credentials are decrypted by the library alone: ${whyNoAge}.`);

const userId = "00000000-0000-4000-8000-000000000001";

/** Each kind of secret, and a fleet. */
const program = (version: number, saving: object): string => `
const rekey = require("pulumi-rekey");
const all = { version: ${version}, ...${JSON.stringify(saving)} };
const made = {
  single: new rekey.PasswordRotation("single", { databaseId: "db-single", ...all }),
  vector: new rekey.VectorTokenRotation("vector", { indexId: "idx-vectors", ...all }),
  search: new rekey.SearchTokenRotation("search", { indexId: "idx-search", ...all }),
  queue: new rekey.QueueTokenRotation("queue", { queueUserId: "${userId}", ...all }),
  keys: new rekey.SigningKeyRotation("keys", { minInterval: "0s", ...all }),
};
const fleet = new rekey.PasswordRotationFleet("fleet", { databases: { a: "db-a", b: "db-b" }, ...all });
for (const [name, one] of Object.entries(made)) exports[name] = one.encryptedCredentials;
exports.fleet = fleet.encryptedCredentials;
exports.outcomes = [...Object.values(made).map(({ outcome }) => outcome), fleet.databases.apply((all) => all.a.outcome)];`;

const databases = ["db-single", "db-a", "db-b"];

/** A secret of the program: its file, and the platform's side. */
const secrets: readonly {
  readonly what: string;
  readonly fileIn: (outputs: Properties) => unknown;
  readonly expected: (platform: Platform) => Properties;
  readonly use: (platform: Platform, credentials: Properties) => Promise<void>;
}[] = [
  ...databases.map((id) => ({
    what: id,
    fileIn: ({ single, fleet }: Properties) =>
      id === "db-single" ? single : (fleet as Record<string, unknown>)[id.replace("db-", "")],
    expected: (platform: Platform) => ({ databaseId: id, ...credentialsAt.database(platform, id) }),
    use: useCredentials.database,
  })),
  {
    what: "vector index",
    fileIn: ({ vector }) => vector,
    expected: (platform) => ({ indexId: "idx-vectors", ...credentialsAt.vectorIndex(platform, "idx-vectors") }),
    use: useCredentials.index,
  },
  {
    what: "search index",
    fileIn: ({ search }) => search,
    expected: (platform) => ({ indexId: "idx-search", ...credentialsAt.searchIndex(platform, "idx-search") }),
    use: useCredentials.index,
  },
  {
    what: "queue user",
    fileIn: ({ queue }) => queue,
    expected: (platform) => ({ queueUserId: userId, ...credentialsAt.queueUser(platform, userId) }),
    use: useCredentials.queueUser,
  },
  {
    what: "signing keys",
    fileIn: ({ keys }) => keys,
    expected: (platform) => ({ subject: "signing-keys", ...credentialsAt.signingKeys(platform) }),
    use: useCredentials.signingKeys,
  },
];

const resets = /reset-password|rotate/;

function resetsOf({ requests }: Platform): number {
  return requests.filter(({ method, path }) => method === "POST" && resets.test(path)).length;
}

onEveryEngine("Credentials that are not saved", (engine) => {
  it("are nowhere but in files that the platform's credentials can be decrypted from", async () => {
    const team = await Team.create();
    const saving = { saveCredentials: false, encryptFor: [team.recipient] };
    const project = new Project(program(1, saving), { native: engine.native });
    mkdirSync(project.path("tmp"));
    const watch = new Watch(project);
    const made: { platform?: Platform } = {};
    const options = {
      databases,
      credentials: "always",
      databasePath,
      onRequest: () => made.platform && watch.note(made.platform),
    } as const;
    const { platform, stack } = await fixture(engine, project, options, { TMPDIR: project.path("tmp") });
    made.platform = platform;
    watch.note(platform);
    await stack.setConfig("rekey:databasePath", databasePath);
    await stack.removeConfig("rekey:queueToken");
    await stack.setConfig("rekey:queueUserId", userId);

    /** Asserts that the files in a stack's outputs have the credentials of the platform. */
    const assertDecrypted = async ({ outputs }: Pick<Result, "outputs">) => {
      for (const { what, fileIn, expected, use } of secrets) {
        const { rotatedAt, connectionUrl, restUrl, ...found } = await team.decrypt(fileIn(valuesOf({ outputs })));
        assert.deepEqual(found, expected(platform), what);
        await use(platform, { connectionUrl, restUrl, ...found });
      }
      for (const name of ["single", "fleet", "keys"]) assert.equal(outputs[name]?.secret, false, name);
      watch.note(platform);
      watch.see(JSON.stringify(await stack.exportState(true)));
    };
    const sees = (result: Result): Result => {
      watch.see(result.printed);
      return result;
    };
    // Keys are rolled with the token of the queue, which is rotated at the same time.
    const keepToken = { path: /rotate-token/, keepFormerPassword: true };

    platform.failNext(keepToken);
    sees(await succeeds(stack.preview()));
    assert.equal(platform.resetCount, 0);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, secrets.length);

    project.rewrite(program(2, saving));
    platform.failNext(keepToken);
    watch.see(await verboseUp(engine, project));
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 2 * secrets.length);

    project.rewrite(program(3, saving));
    platform.failNext({ ...keepToken, dropConnection: "after-apply" });
    platform.failNext({ method: "POST", path: resets, dropConnection: "after-apply", times: secrets.length - 1 });
    const lost = sees(await succeeds(stack.up()));
    assert.match(lost.printed, /was not confirmed .* but a read shows other credentials than before it/);
    await assertDecrypted(lost);
    assert.equal(platform.resetCount, 3 * secrets.length);

    for (const id of databases) await platform.changePassword(id);
    platform.changeVectorIndexTokens("idx-vectors");
    platform.changeSearchIndexTokens("idx-search");
    platform.changeQueueUserTokens(userId);
    platform.changeSigningKeys();
    watch.note(platform);
    assert.match(sees(await succeeds(stack.refresh())).printed, /was changed outside of Rekey: password/);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 3 * secrets.length);

    project.rewrite(program(4, saving));
    const sent = resetsOf(platform);
    platform.failNext({ ...keepToken, delayMs: 2_000 });
    platform.failNext({ method: "POST", path: resets, delayMs: 2_000, times: secrets.length - 1 });
    const killed = new EngineProcess(engine, ["up", "--yes", "--skip-preview"], project.directory);
    await until(() => resetsOf(platform) === sent + secrets.length);
    killed.kill("everyone");
    watch.see((await killed.ended).printed);
    await until(() => platform.resetCount === 4 * secrets.length);
    watch.note(platform);
    if (engine !== localEngine) await runEngine(engine, ["cancel", "--yes"], project.directory);
    sees(await succeeds(stack.refresh()));
    assert.equal(platform.resetCount, 4 * secrets.length);
    platform.failNext(keepToken);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 5 * secrets.length);

    await watch.assertNoLeak();
  });
});

/** Runs `up` with everything that an engine can be asked to show. */
async function verboseUp(engine: Engine, project: Project): Promise<string> {
  const log = project.path("grpc.json");
  const more = engine === localEngine ? ["--json"] : ["--stack", "dev", "--json", "-v=9", "--logtostderr"];
  const command = ["up", "--yes", "--skip-preview", ...more];
  const { code, printed } = await runEngine(engine, command, project.directory, { PULUMI_DEBUG_GRPC: log });
  assert.equal(code, 0, printed.slice(-3_000));
  return existsSync(log) ? printed + readFileSync(log, "utf8") : printed;
}
