import assert from "node:assert/strict";
import { type Adapter, adapters } from "../support/host";
import { hasRedis } from "../support/redis";
import { onEngine, succeeds } from "./engineStack";
import { type App, Apps } from "./retiredApps";

/** What differs in the `up` that rotates. */
interface Row extends App {
  /** Given in that `up`. */
  readonly then?: Pick<App, "rotation" | "retirement" | "options" | "provider" | "isUnused">;
  /** Which `up` retires the former one: that one, or the next. Default: that one. */
  readonly retiredBy?: "next";
}

const both: readonly Row[] = [
  { name: "plain" },
  { name: "replaceOption" },
  { name: "tainted" },
  { name: "ignoringAll", then: { options: { ignoreChanges: ["*"] } }, retiredBy: "next" },
  { name: "ignoringAccess", then: { options: { ignoreChanges: ["access"] } }, retiredBy: "next" },
  {
    name: "aliased",
    isReplaced: true,
    then: { retirement: "renamedAliased", options: { aliases: [{ name: "aliased" }] } },
  },
  { name: "renamed", isReplaced: true, then: { retirement: "renamedOnly" } },
  { name: "newSalt", isReplaced: true, then: { rotation: "renamedRotation" }, retiredBy: "next" },
  { name: "unused", isReplaced: true, drainMs: 500, then: { isUnused: true } },
];
const ofThePlugin: readonly Row[] = [
  { name: "ownProvider", provider: "own" },
  { name: "otherProvider", isReplaced: true, then: { provider: "other" }, retiredBy: "next" },
];

if (!hasRedis) it.skip("Options of a retirement (skipped: there is no redis-server on PATH)");
else {
  const byAdapter = (adapter: Adapter) => {
    const rows = [...both, ...(adapter === "plugin" ? ofThePlugin : [])].map((row): Row => ({ ...row }));
    let apps: Apps;
    before(async () => (apps = await Apps.start(rows, adapter, 1)));
    after(() => apps.close());
    const urnOf = async (name: string): Promise<string> =>
      (await apps.stack.saved()).resources.find(({ urn }) => urn.endsWith(`:Retirement::${name}`))?.urn ??
      assert.fail(name);
    /** How many passwords each user has. */
    const counts = async () =>
      Object.fromEntries(await Promise.all(rows.map(async (row) => [row.name, await apps.countOf(row)] as const)));

    it("in the `up` that rotates, and all former secrets are retired one `up` later", async () => {
      await succeeds(apps.stack.up());
      await apps.succeeds();
      await apps.succeeds();
      apps.version++;
      for (const row of rows) Object.assign(row, row.then);
      await apps.stack.run("state", "taint", await urnOf("tainted"), "--yes");
      const { printed } = await succeeds(apps.stack.up({ replace: [await urnOf("replaceOption")] }));
      await apps.assertNoneRefused({ printed });
      assert.deepEqual(
        await counts(),
        Object.fromEntries(rows.map(({ name, retiredBy }) => [name, retiredBy === "next" ? 2 : 1])),
        printed,
      );
      for (const row of rows) if (row.options?.ignoreChanges) row.options = {};
      await apps.succeeds();
    });

    it("in a refresh while deletes wait, and one `up` later if their provider changes meanwhile", async () => {
      apps.version++;
      apps.deployments.failing = (name) => name === "plain";
      await apps.fails(/plain is broken/);
      const { printed } = await succeeds(apps.stack.refresh());
      await apps.assertNoneRefused({ printed });
      assert.equal((await counts())["plain"], 2, printed);
      apps.deployments.failing = () => false;
      for (const row of rows) if (row.provider !== undefined) row.provider = "third";
      await succeeds(apps.stack.up());
      await apps.succeeds();
    });

    it("except of those that `--target` leaves out", async () => {
      apps.version++;
      apps.deployments.failing = (name) => name === "plain";
      await apps.fails(/plain is broken/);
      const { printed } = await succeeds(apps.stack.up({ target: [await urnOf("plain")] }));
      assert.equal((await counts())["plain"], 1, printed);
      const refused = new Set((await apps.deployments.refused()).map((refusal) => refusal.split(":")[0]));
      assert.deepEqual([...refused], ["plain"], printed);
    });
  };
  // In both, it takes twice the time.
  for (const adapter of process.env["REKEY_CLIENTS"] === undefined ? (["plugin"] as const) : adapters) {
    onEngine(
      `Clients are never refused by Pulumi's options and commands for a retirement, by the ${adapter} adapter`,
      () => byAdapter(adapter),
    );
  }
}
