import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { maxInitErrorBytes } from "../../provider/engine/engineErrors";
import { EngineStack, fails, onEngine, onEngineByAdapter, succeeds } from "../support/engineStack";

/** A resource of any type. */
class Resource extends pulumi.CustomResource {}

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

onEngine("The largest init error that Rekey makes", () => {
  it("reaches the engine, and other creations in flight are saved", async () => {
    // The whole provider, as the text that its resources have.
    const text = `exports.handler = () => {
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      return { async create({ ms, size, __provider }) {
        await wait(ms);
        const outs = { value: "x".repeat(size), __provider };
        if (size > 0) throw Object.assign(new Error("too late"), { id: "1", properties: outs, reasons: ["too late"] });
        return { id: "1", outs };
      } };
    }`;
    const make = (name: string, ms: number, size: number) =>
      new Resource("pulumi-nodejs:dynamic:Sized", name, { ms, size, __provider: text });
    const stack = await EngineStack.start(() => {
      make("large", 500, maxInitErrorBytes);
      for (const ms of [700, 1_000, 2_000]) make(`takes ${ms}`, ms, 0);
    });
    await fails(stack.up(), /too late/);
    const { resources } = await stack.saved();
    const saved = resources
      .map(({ urn }) => urn.split("::").at(-1))
      .filter((name) => /^(large|takes \d+)$/.test(name ?? ""));
    assert.deepEqual(saved.sort(), ["large", "takes 1000", "takes 2000", "takes 700"]);
  });
});
