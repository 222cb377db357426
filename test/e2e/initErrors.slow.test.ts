import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { EngineStack, fails, onEngine, onEngineByAdapter, succeeds } from "./engineStack";

/** A part of a record that Rekey does not know, and that is saved: as large as a response may be. */
const large = (id: string) => ({ database_id: id, description: "x".repeat(900_000) });
const lost = { path: /reset-password/, dropConnection: "after-apply" } as const;

onEngineByAdapter("A change that fails", (adapter) => {
  it("saves its outputs, however large a record is, and fails; what is created meanwhile is saved", async () => {
    let version = 1;
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => {
        const one = new PasswordRotation("large", { databaseId: "large", version });
        if (version > 1) new PasswordRotation("other", { databaseId: "other" });
        return { password: one.password };
      },
      { adapter, platform: { databases: [large("large"), "other"], credentials: "always" } },
    );
    await succeeds(stack.up());
    version = 2;
    stack.platform.failNext({ ...lost, path: /reset-password\/large/ });
    stack.platform.failNext({ path: /reset-password\/other/, delayMs: 1_000 });
    await fails(stack.up(), /large \*\*updating failed\*\*/, /\[REKEY_UNCONFIRMED\]/);
    const { initErrors, outcome, otherFields } = await stack.outputsOf("large");
    assert.deepEqual({ errors: initErrors.length, outcome }, { errors: 1, outcome: "unknown" });
    assert.ok(String(otherFields).length > 900_000);
    assert.equal((await stack.outputsOf("other"))["password"], stack.platform.database("other").password);
    const { outputs } = await succeeds(stack.up());
    assert.equal(outputs["password"]?.value, stack.platform.database("large").password);
    assert.equal(stack.platform.resetCount, 4);
  });

  it("gives the program no former credential, not even with --continue-on-error or --target", async () => {
    const seen: string[] = [];
    let version = 1;
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => {
        const { password, urn } = new PasswordRotation("one", { databaseId: "one", version });
        new PasswordRotation("other", { databaseId: "other", initialRotation: false });
        pulumi.all([password, urn]).apply(([known]) => seen.push(known ?? ""));
      },
      { adapter, platform: { databases: ["one", "other"], credentials: "always" } },
    );
    await succeeds(stack.up());
    const [former = ""] = seen.splice(0);
    version = 2;
    stack.platform.failNext({ ...lost, times: 2 });
    await fails(stack.up(), /REKEY_UNCONFIRMED/);
    await fails(stack.up({ continueOnError: true }), /REKEY_UNCONFIRMED/);
    const other = (await stack.saved()).resources.find(({ urn }) => urn.endsWith("::other"));
    await (adapter === "dynamic" ? fails : succeeds)(stack.up({ target: [other?.urn ?? ""] }));
    // The plugin's resources are plain: only the classes of the SDK can refuse what is in the state.
    assert.deepEqual([...new Set(seen)], adapter === "dynamic" ? [] : [former]);
  });
});

onEngine("A fleet of the plugin of which a database fails", () => {
  for (const { title, count, withinLimit } of [
    { title: "below the limit of an init error: fails, and is saved by it", count: 6, withinLimit: true },
    { title: "above it: passes, and its failure is shown", count: 7, withinLimit: false },
  ]) {
    it(title, async () => {
      const ids = Array.from({ length: count }, (_, nth) => `db-${nth}`);
      const stack = await EngineStack.start(
        ({ PasswordRotationFleet }) => {
          const databases = Object.fromEntries([...ids, "refused"].map((id) => [id, id]));
          return { failed: new PasswordRotationFleet("caches", { databases }).failed };
        },
        { adapter: "plugin", platform: { databases: [...ids.map(large), "refused"], credentials: "always" } },
      );
      const { platform } = stack;
      platform.failNext({ path: /reset-password\/refused/, status: 422, body: '{"error":"id: is locked"}' });
      const failure = /1 of \d databases failed:\s+refused: .*422: id: is locked.*REKEY_FLEET_INCOMPLETE/s;
      const { printed } = await (withinLimit ? fails(stack.up(), failure) : succeeds(stack.up()));
      assert.match(printed, failure);
      const { credentials, failed, initErrors } = await stack.outputsOf("caches");
      assert.deepEqual([failed, initErrors.length], [["refused"], withinLimit ? 1 : 0]);
      for (const id of ids) {
        const { password } = (credentials as Record<string, { password?: string }>)[id] ?? {};
        assert.equal(password, platform.database(id).password, id);
      }
      const sent = platform.resetCount;
      await succeeds(stack.up());
      assert.equal(platform.resetCount, sent + 1);
    });
  }
});
