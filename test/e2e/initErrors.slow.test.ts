import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { EngineStack, fails, onEngineByAdapter, succeeds } from "../support/engineStack";

const lost = { path: /reset-password/, dropConnection: "after-apply" } as const;

onEngineByAdapter("A change that fails", (adapter) => {
  it("saves its outputs, however large a record is, and fails; what is created meanwhile is saved", async () => {
    // As large as a response may be.
    const databases = [{ database_id: "large", description: "x".repeat(900_000) }, { database_id: "other" }];
    let version = 1;
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => {
        const one = new PasswordRotation("large", { databaseId: "large", version });
        if (version > 1) new PasswordRotation("other", { databaseId: "other" });
        return { password: one.password };
      },
      { adapter, platform: { databases, credentials: "always" } },
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
