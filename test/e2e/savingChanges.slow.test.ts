import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { Team } from "../support/age";
import { leaksOf } from "../support/canaries";
import { type Engine, fails, plainOutputs, pluginOnCli, type Stack, succeeds, valuesOf } from "../support/engine";
import {
  assertEncrypted,
  everySecret,
  everySecretFixture,
  everySecretProgram,
  keepToken,
} from "../support/everySecret";
import { onEngine, onEveryEngine } from "../support/onEngines";
import { Project } from "../support/project";
import { databasePath } from "../support/resources";
import { methodsOf, savedFixture, unconfirmedIds } from "../support/savedStacks";
import { Watch } from "../support/watch";

/** The program of the saved stack, without what uses credentials, and without what would be reset by an `up`. */
function withoutUses(program: string, saving: object): string {
  const isLeftOut = new RegExp(
    `new PasswordVerification|exports|new PasswordRotation\\("(${unconfirmedIds.join("|")})"`,
  );
  const lines = program.split("\n").filter((line) => !isLeftOut.test(line));
  const args = /new PasswordRotation(?:Fleet)?\("\w+", \{/g;
  return `${lines.join("\n").replace(args, `$& ...${JSON.stringify(saving)}, `)}
exports.single = single.encryptedCredentials;
exports.fleet = fleet.encryptedCredentials;
exports.plain = plain.encryptedCredentials;`;
}

/** Verifies all but the queue's token, whose former one is still accepted (`keepToken`). */
const verifications = `
const verified = [made.single, made.vector, made.search].map(
  (rotation, index) => new rekey.PasswordVerification("proof-" + index, { rotation }),
);
verified.push(new rekey.PasswordVerification("proof", { fleet }));
exports.verified = verified.map((one) => one.verified);`;

/** A module that makes encryption fail while a file exists, once the platform has responded. */
const failing = (file: string) => `
const Module = require("node:module");
const { existsSync } = require("node:fs");
const load = Module._load;
let isPatched = false;
Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest);
  if (request !== "age-encryption" || isPatched) return loaded;
  isPatched = true;
  const { encrypt } = loaded.Encrypter.prototype;
  loaded.Encrypter.prototype.encrypt = function (text) {
    if (text !== "" && existsSync(${JSON.stringify(file)})) throw new Error("cannot encrypt " + text);
    return encrypt.call(this, text);
  };
  return loaded;
};`;

/** The outputs of all resources, secrets in plain. */
async function outputsIn(stack: Stack): Promise<Record<string, unknown>> {
  const { deployment } = await stack.exportState(true);
  return Object.fromEntries((deployment.resources ?? []).map((resource) => [resource.urn, plainOutputs(resource)]));
}

const specs = (engine: Engine): void => {
  it("are removed from a stack of an earlier commit without a reset, with a warning", async () => {
    const team = await Team.create();
    const { platform, project, stack, program } = await savedFixture(engine);
    await stack.setConfig("rekey:databasePath", databasePath);
    const issued = [...platform.databases.values()].flatMap(({ password, restToken }) => [password, restToken]);
    const canaries = Object.fromEntries(issued.map((one) => [one, one]));
    const leaks = async () => leaksOf(JSON.stringify(await stack.exportState(true)), canaries);
    assert.notDeepEqual(await leaks(), []);

    project.rewrite(withoutUses(program, { saveCredentials: false, encryptFor: [team.recipient] }));
    const preview = await succeeds(stack.preview());
    assert.match(preview.printed, /Removes the credentials of database "single" from the state/);
    assert.match(preview.printed, /"fleet" removes the credentials of 1 from the state/);
    assert.equal(platform.requests.length, 0);
    const up = await succeeds(stack.up());
    assert.match(up.printed, /database "single".*Older states and backups still have them: set a new version/);
    assert.match(up.printed, /"fleet".*Older states and backups still have them: set a new version/);
    assert.deepEqual(methodsOf(platform), ["GET"], "what was still to be read");
    assert.deepEqual(await leaks(), []);
    assert.deepEqual(leaksOf(preview.printed + up.printed, canaries), []);
    const { single, fleet, plain } = valuesOf(up) as Record<string, Record<string, unknown>>;
    const files = [single, ...Object.values(fleet ?? {}), ...Object.values(plain ?? {})];
    const ids = ["single", "fleet-a", "fleet-b", "fleet-c", "fleet-d"];
    for (const file of files) {
      const { databaseId, password } = await team.decrypt(file);
      assert.equal(password, platform.database(String(databaseId)).password);
      ids.splice(ids.indexOf(String(databaseId)), 1);
    }
    assert.deepEqual(ids, [], "each has a file");
    const { length } = platform.requests;
    const { changes } = await succeeds(stack.up());
    assert.deepEqual(Object.keys(changes), ["same"]);
    assert.equal(platform.requests.length, length);
  });

  for (const saving of [{}, { saveCredentials: false }]) {
    it(`change nothing in ten runs and refreshes, and are not verified again (${JSON.stringify(saving)})`, async () => {
      const team = await Team.create();
      const given = { ...saving, encryptFor: [team.recipient] };
      // A verification needs to know where the fleet's databases are.
      const program = everySecretProgram(1, given, verifications).replace(
        "{ databases:",
        "{ includeRecords: true, databases:",
      );
      const project = new Project(program, { native: engine.native });
      const { platform, stack } = await everySecretFixture(engine, project);
      platform.failNext(keepToken);
      const first = await succeeds(stack.up());
      await assertEncrypted(first, team, platform);
      assert.deepEqual(valuesOf(first)["verified"], [true, true, true, true]);
      const saved = await outputsIn(stack);
      const operations = [...Array<() => ReturnType<Stack["up"]>>(10).fill(() => stack.up({ refresh: true }))];
      for (const operation of [...operations, stack.refresh, stack.preview, stack.up]) {
        const { changes, printed } = await succeeds(operation());
        assert.deepEqual(Object.keys(changes), ["same"], printed);
        assert.doesNotMatch(printed, /warning|Reads|read and are saved|was changed outside/);
      }
      assert.deepEqual(await outputsIn(stack), saved);
      assert.equal(platform.resetCount, everySecret.length);
    });
  }

  it("are saved if they cannot be encrypted after a reset, and the next up encrypts them without one", async () => {
    const team = await Team.create();
    const saving = { saveCredentials: false, encryptFor: [team.recipient] };
    const project = new Project(everySecretProgram(1, saving), { native: engine.native });
    const preload = project.write("failing.cjs", failing(project.path("fail")));
    const options = `${process.env.NODE_OPTIONS ?? ""} --require ${JSON.stringify(preload)}`;
    const { platform, stack } = await everySecretFixture(engine, project, {}, { NODE_OPTIONS: options });
    const watch = new Watch(project);
    project.write("fail", "");
    platform.failNext(keepToken);
    const failed = await fails(stack.up(), /could not be encrypted for encryptFor.*REKEY_NOT_ENCRYPTED/);
    watch.note(platform);
    assert.deepEqual(leaksOf(failed.printed, watch.canaries), []);
    assert.deepEqual(leaksOf(JSON.stringify(await stack.exportState()), watch.canaries), [], "saved as secrets");
    const state = JSON.stringify(await stack.exportState(true));
    const isSaved = (values: unknown[]) => values.every((one) => state.includes(String(one)));
    const saved = everySecret.filter(({ expected }) => isSaved(Object.values(expected(platform))));
    // An engine may end before it has begun the last ones.
    assert.ok(saved.length > 0);
    assert.equal(saved.length, platform.resetCount, "what was reset is saved");

    rmSync(project.path("fail"));
    await assertEncrypted(await succeeds(stack.up()), team, platform);
    assert.equal(platform.resetCount, everySecret.length);
    watch.note(platform);
    assert.deepEqual(leaksOf(JSON.stringify(await stack.exportState(true)), watch.canaries), []);
    assert.deepEqual(Object.keys((await succeeds(stack.up())).changes), ["same"]);
  });
};
onEveryEngine("Credentials that are encrypted", specs);

const imported = (engine: Engine): void => {
  it("are in no state of an import, and the next up encrypts them without a reset", async () => {
    const team = await Team.create();
    const saving = { saveCredentials: false, encryptFor: [team.recipient] };
    // A component cannot be imported.
    const importing = everySecretProgram(1, saving)
      .replace(/\{ databaseId: "db-single".*? \}/, "$&, { import: 'db-single' }")
      .replace(/\{ indexId: "(.*?)".*? \}/g, "$&, { import: '$1' }")
      .replace(/\{ queueUserId: "(.*?)".*? \}/, "$&, { import: '$1' }")
      .replace(/\{ minInterval: "0s".*? \}/, "$&, { import: 'signing-keys' }");
    const project = new Project(importing, { native: engine.native });
    const { platform, stack } = await everySecretFixture(engine, project);
    const watch = new Watch(project);
    watch.note(platform);
    watch.see((await succeeds(stack.up())).printed, JSON.stringify(await stack.exportState(true)));
    project.rewrite(everySecretProgram(1, saving));
    const up = await succeeds(stack.up());
    // Those of the fleet.
    assert.equal(platform.resetCount, 2);
    await assertEncrypted(up, team, platform);
    watch.note(platform);
    watch.see(up.printed, JSON.stringify(await stack.exportState(true)));
    assert.deepEqual(Object.keys((await succeeds(stack.up())).changes), ["same"]);
    await watch.assertNoLeak();
  });
};
onEngine(pluginOnCli, `Credentials that are encrypted, with imports on the ${pluginOnCli.name}`, imported);
