import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { type Platform } from "../../local/index";
import { Team, whyNoAge } from "../support/age";
import { type Engine, localEngine, type Result, succeeds } from "../support/engine";
import { EngineProcess, runEngine } from "../support/engineProcess";
import {
  assertEncrypted,
  databases,
  everySecret,
  everySecretFixture,
  everySecretProgram,
  keepToken,
  userId,
} from "../support/everySecret";
import { onEveryEngine } from "../support/onEngines";
import { Project } from "../support/project";
import { until } from "../support/results";
import { Watch } from "../support/watch";

if (whyNoAge !== undefined) console.log(`Credentials are decrypted by the library alone: ${whyNoAge}.`);

const resets = /reset-password|rotate/;

function resetsOf({ requests }: Platform): number {
  return requests.filter(({ method, path }) => method === "POST" && resets.test(path)).length;
}

onEveryEngine("Credentials that are not saved", (engine) => {
  it("are nowhere but in files that the platform's credentials can be decrypted from", async () => {
    const team = await Team.create();
    const saving = { saveCredentials: false, encryptFor: [team.recipient] };
    const verification = 'new rekey.PasswordVerification("verified", { rotation: made.single });';
    const program = (version: number) => everySecretProgram(version, saving, verification);
    const project = new Project(program(1), { native: engine.native });
    mkdirSync(project.path("tmp"));
    const watch = new Watch(project);
    const made: { platform?: Platform } = {};
    const onRequest = () => made.platform && watch.note(made.platform);
    const environment = { TMPDIR: project.path("tmp") };
    const { platform, stack } = await everySecretFixture(engine, project, { onRequest }, environment);
    made.platform = platform;
    watch.note(platform);

    const assertDecrypted = async (result: Pick<Result, "outputs">) => {
      await assertEncrypted(result, team, platform);
      for (const name of ["single", "fleet", "keys"]) assert.equal(result.outputs[name]?.secret, false, name);
      watch.note(platform);
      watch.see(JSON.stringify(await stack.exportState(true)));
    };
    const sees = (result: Result): Result => {
      watch.see(result.printed);
      return result;
    };

    platform.failNext(keepToken);
    sees(await succeeds(stack.preview()));
    assert.equal(platform.resetCount, 0);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, everySecret.length);

    project.rewrite(program(2));
    platform.failNext(keepToken);
    watch.see(await verboseUp(engine, project));
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 2 * everySecret.length);

    project.rewrite(program(3));
    platform.failNext({ ...keepToken, dropConnection: "after-apply" });
    platform.failNext({ method: "POST", path: resets, dropConnection: "after-apply", times: everySecret.length - 1 });
    const lost = sees(await succeeds(stack.up()));
    assert.match(lost.printed, /was not confirmed .* but a read shows other credentials than before it/);
    await assertDecrypted(lost);
    assert.equal(platform.resetCount, 3 * everySecret.length);

    for (const id of databases) await platform.changePassword(id);
    platform.changeVectorIndexTokens("idx-vectors");
    platform.changeSearchIndexTokens("idx-search");
    platform.changeQueueUserTokens(userId);
    platform.changeSigningKeys();
    watch.note(platform);
    assert.match(sees(await succeeds(stack.refresh())).printed, /was changed outside of Rekey: password/);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 3 * everySecret.length);

    project.rewrite(program(4));
    const sent = resetsOf(platform);
    platform.failNext({ ...keepToken, delayMs: 2_000 });
    platform.failNext({ method: "POST", path: resets, delayMs: 2_000, times: everySecret.length - 1 });
    const killed = new EngineProcess(engine, ["up", "--yes", "--skip-preview"], project.directory);
    await until(() => resetsOf(platform) === sent + everySecret.length);
    killed.kill("everyone");
    watch.see((await killed.ended).printed);
    await until(() => platform.resetCount === 4 * everySecret.length);
    watch.note(platform);
    if (engine !== localEngine) await runEngine(engine, ["cancel", "--yes"], project.directory);
    sees(await succeeds(stack.refresh()));
    assert.equal(platform.resetCount, 4 * everySecret.length);
    platform.failNext(keepToken);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 5 * everySecret.length);

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
