import assert from "node:assert/strict";
import { findDue } from "../../provider/doctor/due";
import { exportedIn } from "../../provider/doctor/stackState";
import { EngineStack, onEngineByAdapter, succeeds } from "./engineStack";
import { makeKey, startServer } from "./keyVendor";
import { loadExample } from "./loadExample";

onEngineByAdapter("The example key-by-hand", (adapter) => {
  it("asks for a key when it is due, proves it, and tries the former one until it is refused", async () => {
    const vendor = await startServer();
    const [first, second] = [await makeKey(vendor), await makeKey(vendor)];
    const stack = await EngineStack.start(
      (rekey) => loadExample("key-by-hand", { "pulumi-rekey": rekey }) as Record<string, unknown>,
      { adapter, config: { server: vendor.url, stripeKey: first.key, version: "1", rotateEvery: "PT1S" } },
    );
    /** An `up` that warns of exactly this, as its preview does where nothing is tried. */
    const up = async (...warnings: readonly RegExp[]) => {
      const { printed } = await succeeds(stack.preview());
      const done = await succeeds(stack.up());
      const all = [due, same, ahead, former];
      const isOf = (text: string) => all.filter((one) => one.test(text));
      assert.deepEqual(isOf(done.printed), warnings, done.printed);
      assert.deepEqual(
        isOf(printed),
        warnings.filter((one) => one !== former),
      );
      return done;
    };
    const [due, same] = [
      /is due to be turned.*: a person is to replace the secret/,
      /has turned, but the credential is/,
    ];
    const [ahead, former] = [/credential is another one, but its trigger/, /The former credential is not refused/];
    const listed = async () => {
      const state = exportedIn("dev", (await stack.run("stack", "export")).output) ?? assert.fail();
      return findDue([state], "999d", new Date()).due.map(({ what }) => what.split(":")[0]);
    };
    try {
      await up();
      await up(due);
      assert.deepEqual((await up(due)).changes, { same: 3 }, "nothing changes each night");
      assert.equal((await listed()).at(-1), "waits");
      await stack.configure({ stripeKey: second.key });
      assert.equal((await up(due, ahead)).outputs["stripeKey"]?.value, second.key);
      await stack.configure({ version: "2", rotateEvery: "90d" });
      assert.equal((await up(former)).outputs["waits"]?.value, undefined);
      assert.deepEqual(await listed(), ["has former credentials that are still valid (1)"]);
      await fetch(`${vendor.url}/keys/${first.id}`, { method: "DELETE" });
      assert.equal((await up()).outputs["formersValid"]?.value, 0);
      assert.deepEqual(await listed(), []);
      await stack.configure({ version: "3" });
      await up(same);
      await stack.configure({ stripeKey: (await makeKey(vendor)).key });
      await up();
    } finally {
      vendor.close();
    }
  });
});
