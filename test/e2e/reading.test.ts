import assert from "node:assert/strict";
import { adapters } from "../support/host";
import { HostedRotation, type ReadableWorld, requestsOf, startReadable } from "../support/hostedRotation";
import { until } from "../support/results";
import { type Properties, revealed, secretNames } from "../support/wire";
import { databasePath } from "../support/resources";

// The rows 85 to 98 of the fault table have the requests of each scenario.
for (const adapter of adapters) {
  describe(`reading, by the ${adapter} adapter`, () => {
    const ids = ["added", "drift"];
    let world: ReadableWorld;
    const sent = (id: string) => ({
      posts: requestsOf(world.platform, id, "POST"),
      gets: requestsOf(world.platform, id, "GET"),
    });
    /** Waits for a line of diagnostics. */
    const assertShown = (words: string) =>
      until(() => world.hosts.some(({ stderr, engine }) => (stderr + engine.received).includes(words)), 5_000);
    before(async () => (world = await startReadable(adapter, "read", ids, [{}, { databasePath }])));
    after(() => world.end());

    it("changes nothing if a program adds the setting; a refresh then reads what was not known", async () => {
      const { hosts, platform } = world;
      const added = new HostedRotation("added");
      await added.play("create", hosts[0]);
      await added.play("refresh", hosts[0]);
      await added.play("up", hosts[1]);
      assert.deepEqual(sent("added"), { posts: 1, gets: 0 });
      assert.equal(added.saved["password"], undefined);
      assert.equal((await added.play("refresh", hosts[1]))["password"], platform.database("added").password);
      await assertShown('The credentials of database "added" were read and are saved');
      await hosts[1].diff("added", added.saved, { ...added.inputs, version: 2 });
      await hosts[1].delete("added", { ...added.inputs, ...added.saved });
      assert.deepEqual(sent("added"), { posts: 1, gets: 1 });
    });

    it("saves what was changed outside, encrypted, and names it; no rotation is due for that", async () => {
      const { hosts, platform } = world;
      const drift = new HostedRotation("drift");
      const before = await drift.play("create", hosts[1]);
      await platform.changePassword("drift");
      platform.changeRecord("drift", { type: "pro" });
      const { outs } = await hosts[1].read("drift", before, drift.inputs);
      assert.deepEqual(
        secretNames(outs).filter((name) => /oken|password|Url/.test(name)),
        adapter === "plugin"
          ? ["connectionUrl", "password", "readOnlyRestToken", "restToken", "restUrl"]
          : ["password", "readOnlyRestToken", "restToken"],
      );
      const after = revealed(outs);
      assert.deepEqual(
        { password: after["password"], type: (after["record"] as Properties)["type"], at: after["rotatedAt"] },
        { password: platform.database("drift").password, type: "pro", at: before["rotatedAt"] },
      );
      if (adapter === "plugin") {
        assert.match(String(after["connectionUrl"]), new RegExp(`:${String(after["password"])}@`));
      }
      await assertShown('"drift" was changed outside of Rekey: password, restToken, readOnlyRestToken, type.');
      drift.saved = after;
      await drift.play("up", hosts[1]);
      assert.deepEqual(sent("drift"), { posts: 1, gets: 3 });
    });
  });
}

describe("reading: an import by the plugin", () => {
  let world: ReadableWorld;
  afterEach(() => world.end());

  for (const { delivery, isShown } of [
    { delivery: "read", isShown: true },
    { delivery: "once", isShown: false },
  ] as const) {
    it(`reads the database, and resets nothing; credentials: ${delivery}`, async () => {
      world = await startReadable("plugin", delivery, ["db"]);
      const { hosts, platform } = world;
      const imported = new HostedRotation("db");
      const { outs } = await hosts[0].read("db", {}, imported.inputs);
      const { outcome, password, connectionUrl } = (imported.saved = revealed(outs));
      // An import does not know the program, which may not save credentials.
      assert.deepEqual([outcome, password, connectionUrl], ["adopted", undefined, undefined]);
      const updated = await imported.play("up", hosts[0]);
      assert.equal(updated["password"], isShown ? platform.database("db").password : undefined);
      assert.equal(typeof updated["connectionUrl"], isShown ? "string" : "undefined");
      assert.equal(platform.resetCount, 0);
    });
  }
});
