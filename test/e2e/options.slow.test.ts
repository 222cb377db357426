import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { adapters } from "../support/host";
import { EngineStack, fails, onEngine, type Rekey, succeeds } from "./engineStack";

const isReset = /reset-password/;

/** A rotation whose hook retries, but not after an unconfirmed reset: docs/guide.md, "Unconfirmed resets". */
function retriedRotation({ PasswordRotation }: Rekey): void {
  const retry = new pulumi.ErrorHook(
    "retry",
    ({ errors }) => errors.length < 3 && !errors.some((error) => error.includes("REKEY_UNCONFIRMED")),
  );
  new PasswordRotation("sessions", { databaseId: "sessions", version: 1 }, { hooks: { onError: [retry] } });
}

// What docs/guide.md states about resets by Pulumi's own options and commands.
onEngine("Pulumi's options and commands", () => {
  const start = (program: (rekey: Rekey) => Record<string, unknown> | void, ...ids: string[]) =>
    EngineStack.start(program, { platform: { databases: ids, credentials: "always" } });
  const declare = ({ PasswordRotation }: Rekey, args: object, options?: pulumi.CustomResourceOptions) => {
    const { password } = new PasswordRotation("sessions", { databaseId: "sessions", ...args }, options);
    return { password };
  };
  const urnIn = async (stack: EngineStack): Promise<string> =>
    (await stack.saved()).resources.find(({ urn }) => urn.endsWith("::sessions"))?.urn ?? assert.fail();

  it("reset with a replacement: replacementTrigger, replaceWith and deletedWith do, dependsOn does not", async () => {
    const ids = ["t", "replaceWith", "deletedWith", "dependsOn"];
    let replacementTrigger = "1";
    const stack = await start(
      ({ PasswordRotation }) => {
        const rotation = (name: string, options: pulumi.CustomResourceOptions) =>
          new PasswordRotation(name, { databaseId: name, version: 1 }, options);
        const t = rotation("t", { replacementTrigger });
        rotation("replaceWith", { replaceWith: [t] });
        rotation("deletedWith", { deletedWith: t });
        rotation("dependsOn", { dependsOn: t });
      },
      ...ids,
    );
    await succeeds(stack.up());
    replacementTrigger = "2";
    await succeeds(stack.up());
    const resets = ids.map((id) => stack.platform.database(id).resets);
    assert.deepEqual(resets, [2, 2, 2, 1]);
  });

  it("reset with a replacement: state taint and --replace do, and untaint takes it back", async () => {
    const stack = await start((rekey) => declare(rekey, { version: 1 }), "sessions");
    await succeeds(stack.up());
    const urn = await urnIn(stack);
    const resetsAfter = async (options?: { replace: string[] }) => {
      await succeeds(stack.up(options));
      return stack.platform.resetCount;
    };
    await stack.run("state", "taint", urn, "--yes");
    await stack.run("state", "untaint", urn, "--yes");
    assert.equal(await resetsAfter(), 1);
    await stack.run("state", "taint", urn, "--yes");
    assert.equal(await resetsAfter(), 2);
    assert.equal(await resetsAfter({ replace: [urn] }), 3);
  });

  for (const adapter of adapters) {
    it(`do not reset what is adopted with --replace, and say so, by the ${adapter} adapter`, async () => {
      const stack = await EngineStack.start((rekey) => declare(rekey, { initialRotation: false }), {
        adapter,
        platform: { databases: ["sessions"] },
      });
      await succeeds(stack.up());
      const replace = [await urnIn(stack)];
      for (const run of [() => stack.preview({ replace }), () => stack.up({ replace })]) {
        const { printed } = await succeeds(run());
        assert.match(
          printed,
          /The password of database "sessions" is adopted, not reset\. To reset it, set a new version\./,
        );
      }
      assert.equal(stack.platform.resetCount, 0);
    });
  }

  it("do not reset with another name and `aliases`, or another version and `ignoreChanges`", async () => {
    let declared: readonly [name: string, version: number, options?: pulumi.CustomResourceOptions] = ["caches", 1];
    const stack = await start(({ PasswordRotationFleet }) => {
      const [name, version, options] = declared;
      new PasswordRotationFleet(name, { databases: ["sessions"], version }, options);
    }, "sessions");
    await succeeds(stack.up());
    declared = ["renamed", 2, { aliases: [{ name: "caches" }], ignoreChanges: ["version"] }];
    await succeeds(stack.up());
    assert.equal(stack.platform.resetCount, 1);
  });

  it("do not reset by replaceOnChanges, except after an unconfirmed reset", async () => {
    let args: object = { version: 1, connection: { host: "localhost" }, rotateEvery: "30d" };
    const stack = await start((rekey) => declare(rekey, args, { replaceOnChanges: ["*"] }), "sessions");
    await succeeds(stack.up());
    args = { connection: { host: "127.0.0.1" }, rotateEvery: "40d" };
    await succeeds(stack.up());
    assert.equal(stack.platform.resetCount, 1);
    args = { version: 2 };
    // Without the option, the fifth run would send nothing.
    stack.platform.failNext({ path: isReset, dropConnection: "after-apply", times: 4 });
    for (let run = 0; run < 4; run++) await fails(stack.up(), /REKEY_UNCONFIRMED/);
    await succeeds(stack.up());
    assert.equal(stack.platform.resetCount, 6);
  });

  it("repeat no reset with an error hook as in the guide, which stops at REKEY_UNCONFIRMED", async () => {
    const stack = await start(retriedRotation, "sessions");
    const { platform } = stack;
    platform.failNext({ path: isReset, status: 422, times: 2 });
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 1);
    platform.failNext({ path: isReset, dropConnection: "after-apply" });
    await stack.destroy();
    await fails(stack.up(), /REKEY_UNCONFIRMED/);
    assert.equal(platform.resetCount, 2);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
  });

  it("recover by cancel and state delete after an error hook without a bound", async () => {
    let isHooked = true;
    const stack = await start((rekey) => {
      const always = new pulumi.ErrorHook("always", () => true);
      return declare(rekey, { version: 2 }, isHooked ? { hooks: { onError: [always] } } : {});
    }, "sessions");
    const { platform } = stack;
    platform.failNext({ path: isReset, dropConnection: "after-apply" });
    await fails(stack.up(), /maximum number of error hook retries/);
    await fails(stack.up());
    const { printed } = await fails(stack.up({ refresh: true }));
    assert.doesNotMatch(printed, /was imported/);
    assert.equal(platform.resetCount, 1, "it is not repeated");
    await stack.unlock();
    await stack.run("state", "delete", await urnIn(stack), "--yes");
    isHooked = false;
    const { outputs } = await succeeds(stack.up());
    assert.equal(platform.resetCount, 2);
    assert.equal(outputs["password"]?.value, platform.database("sessions").password);
  });
});
