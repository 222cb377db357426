import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { type Platform } from "../../local/platform/index";
import { Team, whyNoAge } from "../support/age";
import { EngineStack, onEngine, onEngineByAdapter, type Result, succeeds } from "../support/engineStack";
import {
  assertEncrypted,
  databases,
  declareEverySecret,
  everySecret,
  everySecretConfig,
  everySecretPlatform,
  keepToken,
  userId,
} from "../support/everySecret";
import { Folder } from "../support/folder";
import { until } from "../support/results";
import { Watch } from "../support/watch";

if (whyNoAge !== undefined) console.log(`Credentials are decrypted by the library alone: ${whyNoAge}.`);

const resets = /reset-password|rotate/;

function resetsOf({ requests }: Platform): number {
  return requests.filter(({ method, path }) => method === "POST" && resets.test(path)).length;
}

onEngineByAdapter("Credentials that are not saved", (adapter) => {
  it("are nowhere but in files that the platform's credentials can be decrypted from", async () => {
    const team = await Team.create();
    const all = { saveCredentials: false, encryptFor: [team.recipient] };
    let version = 1;
    const log = new Folder().path("grpc.json");
    const stack = await EngineStack.start(
      (rekey) => {
        const { made, outputs } = declareEverySecret(rekey, { version, ...all });
        new rekey.CredentialVerification("verified", { access: made.single.access });
        return outputs;
      },
      {
        adapter,
        platform: { ...everySecretPlatform, onRequest: () => watch?.note(platform) },
        config: everySecretConfig,
        environment: { PULUMI_DEBUG_GRPC: log },
      },
    );
    await stack.unset("rekey:queueToken");
    const { platform } = stack;
    const watch = new Watch(stack);
    watch.note(platform);

    const assertDecrypted = async (result: Result) => {
      await assertEncrypted(result, team, platform);
      for (const name of ["single", "fleet", "keys"]) assert.equal(result.outputs[name]?.secret, false, name);
      watch.note(platform);
      watch.see(JSON.stringify(await stack.saved(true)));
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

    version = 2;
    platform.failNext({ ...keepToken, dropConnection: "after-apply" });
    platform.failNext({ method: "POST", path: resets, dropConnection: "after-apply", times: everySecret.length - 1 });
    const lost = sees(await succeeds(stack.up()));
    assert.match(lost.printed, /was not confirmed .* but a read shows other credentials than before it/);
    await assertDecrypted(lost);
    assert.equal(platform.resetCount, 2 * everySecret.length);

    for (const id of databases) await platform.changePassword(id);
    platform.changeVectorIndexTokens("idx-vectors");
    platform.changeSearchIndexTokens("idx-search");
    platform.changeQueueUserTokens(userId);
    platform.changeSigningKeys();
    watch.note(platform);
    assert.match(sees(await succeeds(stack.refresh())).printed, /was changed outside of Rekey: password/);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 2 * everySecret.length);

    version = 3;
    const sent = resetsOf(platform);
    platform.failNext({ ...keepToken, delayMs: 2_000 });
    platform.failNext({ method: "POST", path: resets, delayMs: 2_000, times: everySecret.length - 1 });
    const killed = stack.up();
    await until(() => resetsOf(platform) === sent + everySecret.length);
    stack.kill("both");
    sees(await killed);
    await until(() => platform.resetCount === 3 * everySecret.length);
    watch.note(platform);
    await stack.run("cancel", "--yes");
    sees(await succeeds(stack.refresh()));
    assert.equal(platform.resetCount, 3 * everySecret.length);
    platform.failNext(keepToken);
    await assertDecrypted(sees(await succeeds(stack.up())));
    assert.equal(platform.resetCount, 4 * everySecret.length);

    assert.ok(existsSync(log));
    watch.see(readFileSync(log, "utf8"));
    watch.assertNoLeak();
  });

  it("change nothing in refreshes and runs, and are not verified again", async () => {
    const team = await Team.create();
    const all = { version: 1, saveCredentials: false, encryptFor: [team.recipient] };
    const stack = await EngineStack.start(
      (rekey) => {
        const { made, fleet, outputs } = declareEverySecret(rekey, all);
        // The queue's former token is still accepted.
        for (const [name, rotation] of Object.entries({
          single: made.single,
          vector: made.vector,
          search: made.search,
        })) {
          new rekey.CredentialVerification(name, { access: rotation.access });
        }
        new rekey.CredentialVerification("fleet", { access: fleet.access });
        return outputs;
      },
      { adapter, platform: everySecretPlatform, config: everySecretConfig },
    );
    await stack.unset("rekey:queueToken");
    const { platform } = stack;
    platform.failNext(keepToken);
    await assertEncrypted(await succeeds(stack.up()), team, platform);
    const outputs = async () =>
      Object.fromEntries((await stack.saved(true)).resources.map(({ urn, outputs }) => [urn, outputs]));
    const saved = await outputs();
    for (const operation of [() => stack.up({ refresh: true }), () => stack.refresh(), () => stack.preview()]) {
      const { changes, printed } = await succeeds(operation());
      assert.deepEqual(Object.keys(changes), ["same"], printed);
      assert.doesNotMatch(printed, /was changed outside|are saved/);
    }
    assert.deepEqual(await outputs(), saved);
    assert.equal(platform.resetCount, everySecret.length);
  });
});

onEngine("Credentials that are encrypted, with imports", () => {
  it("are in no state of an import, and the next up encrypts them without a reset", async () => {
    const team = await Team.create();
    const all = { version: 1, saveCredentials: false, encryptFor: [team.recipient] };
    const ids = {
      single: "db-single",
      vector: "idx-vectors",
      search: "idx-search",
      queue: userId,
      keys: "signing-keys",
    };
    let imports = true;
    const stack = await EngineStack.start(
      (rekey) => declareEverySecret(rekey, all, (name) => (imports ? { import: ids[name] } : {})).outputs,
      { adapter: "plugin", platform: everySecretPlatform, config: everySecretConfig },
    );
    await stack.unset("rekey:queueToken");
    const { platform } = stack;
    const watch = new Watch(stack);
    watch.note(platform);
    watch.see((await succeeds(stack.up())).printed, JSON.stringify(await stack.saved(true)));
    imports = false;
    const up = await succeeds(stack.up());
    // Those of the fleet, which cannot be imported.
    assert.equal(platform.resetCount, 2);
    await assertEncrypted(up, team, platform);
    watch.note(platform);
    watch.see(up.printed, JSON.stringify(await stack.saved(true)));
    assert.deepEqual(Object.keys((await succeeds(stack.up())).changes), ["same"]);
    watch.assertNoLeak();
  });
});
