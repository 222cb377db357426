import assert from "node:assert/strict";
import { EngineStack, fails, onEngine, onEngineByAdapter, succeeds } from "../support/engineStack";

/** A part of a record that Rekey does not know, and that is saved: as large as a response may be. */
const large = (id: string) => ({ database_id: id, description: "x".repeat(900_000) });
const ids = Array.from({ length: 7 }, (_, nth) => `db-${nth}`);

onEngine("A fleet of the plugin of which a database fails", () => {
  for (const { title, count, withinLimit } of [
    { title: "below the limit of an init error: fails, and is saved by it", count: 6, withinLimit: true },
    { title: "above it: passes, and its failure is shown", count: 7, withinLimit: false },
  ]) {
    it(`${title}; what is created meanwhile is saved`, async () => {
      const databases = [...ids.slice(0, count).map(large), { database_id: "refused" }, { database_id: "other" }];
      const stack = await EngineStack.start(
        ({ PasswordRotationFleet, PasswordRotation }) => {
          const members = Object.fromEntries([...ids.slice(0, count), "refused"].map((id) => [id, id]));
          const fleet = new PasswordRotationFleet("caches", { databases: members });
          const other = new PasswordRotation("other", { databaseId: "other" });
          return { failed: fleet.failed, password: other.password };
        },
        { adapter: "plugin", platform: { databases, credentials: "always" } },
      );
      const { platform } = stack;
      platform.failNext({ path: /reset-password\/refused/, status: 422, body: '{"error":"id: is locked"}' });
      // It ends after the fleet.
      platform.failNext({ path: /reset-password\/other/, delayMs: 3_000 });
      const failure = /1 of \d databases failed:\s+refused: .*422: id: is locked.*REKEY_FLEET_INCOMPLETE/s;
      const { printed } = await (withinLimit ? fails(stack.up(), failure) : succeeds(stack.up()));
      assert.match(printed, failure);
      const { credentials, failed, initErrors } = await stack.outputsOf("caches");
      assert.deepEqual([failed, initErrors.length], [["refused"], withinLimit ? 1 : 0]);
      for (const id of ids.slice(0, count)) {
        const { password } = (credentials as Record<string, { password?: string }>)[id] ?? {};
        assert.equal(password, platform.database(id).password, id);
      }
      assert.equal((await stack.outputsOf("other"))["password"], platform.database("other").password);
      const sent = platform.resetCount;
      await succeeds(stack.up());
      assert.equal(platform.resetCount, sent + 1);
    });
  }
});

onEngineByAdapter("A fleet", (adapter) => {
  it("is kept under another name with `aliases`, and applies `ignoreChanges` to its version", async () => {
    const databases = { sessions: "a", carts: "b" };
    let declared = { name: "caches", version: 1, options: {} };
    const stack = await EngineStack.start(
      ({ PasswordRotationFleet }) => {
        const { name, version, options } = declared;
        new PasswordRotationFleet(name, { databases, version }, options);
      },
      { adapter, platform: { databases: ["a", "b"] } },
    );
    const resetsAfter = async (next: typeof declared) => {
      declared = next;
      await succeeds(stack.up());
      return stack.platform.resetCount;
    };
    assert.equal(await resetsAfter(declared), 2);
    const options = { aliases: [{ name: "caches" }], ignoreChanges: ["version"] };
    assert.equal(await resetsAfter({ name: "renamed", version: 2, options }), 2);
    assert.equal(await resetsAfter({ name: "renamed", version: 2, options: {} }), 4);
  });
});
