import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, type Platform, startPlatform } from "../../../local/platform/index";
import { redisUser } from "../../../local/platform/redis";
import { databaseReply, withRedis } from "../../support/redis";
import { databasePath, readDatabase, resetPassword } from "./client";

function specs(redis: boolean): void {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform({ redis, credentials: "read", databasePath })));
  afterEach(() => platform.close());

  const reset = async (): Promise<Database> => {
    assert.equal((await resetPassword(platform)).status, 200);
    return platform.database("db-quickstart");
  };
  /** Which of the passwords the database accepts. */
  const accepted = async (...databases: Database[]): Promise<boolean[]> => {
    const user = redis ? [redisUser("db-quickstart")] : [];
    const replies = databases.map(({ record, password }) => databaseReply(record, ["AUTH", ...user, password]));
    return (await Promise.all(replies)).map((reply) => reply.startsWith("+OK"));
  };
  /** The credentials in a read: those of one of the databases. */
  const assertRead = async ({ record, password, restToken, readOnlyRestToken }: Database): Promise<void> => {
    const credentials = { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
    assert.deepEqual((await readDatabase(platform)).body, { ...record, ...credentials });
  };

  it("applies a reset late", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: 60_000 });
    assert.deepEqual(await accepted(former, await reset()), [true, false]);
    platform.failNext({ applyAfterMs: 20 });
    const current = await reset();
    while ((await accepted(former, current)).join() !== "false,true");
    assert.deepEqual({ resets: current.resets, generation: current.generation }, { resets: 2, generation: 3 });
  });

  it("reads the former credentials until a late reset is applied", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: 60_000 });
    await reset();
    await assertRead(former);
    platform.failNext({ applyAfterMs: 20 });
    const current = await reset();
    while ((await readDatabase(platform)).text.includes(former.password));
    await assertRead(current);
    assert.deepEqual(await accepted(former, current), [false, true]);
  });

  it("reads the former credentials after a reset that is never applied, until the next one", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: "never" });
    await reset();
    await assertRead(former);
    await assertRead(await reset());
  });

  it("reads the former credentials after a late reset whose response was lost", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ dropConnection: "after-apply", applyAfterMs: 60_000 });
    await assert.rejects(resetPassword(platform));
    assert.equal(platform.resetCount, 1);
    await assertRead(former);
  });

  it("reads the new credentials if the former password is still valid", async () => {
    platform.failNext({ keepFormerPassword: true });
    await assertRead(await reset());
  });

  for (const dropConnection of ["before-apply", "after-apply"] as const) {
    it(`reads the credentials that are valid after a reset that was cut ${dropConnection}`, async () => {
      const former = platform.database("db-quickstart");
      platform.failNext({ dropConnection });
      await assert.rejects(resetPassword(platform));
      const current = platform.database("db-quickstart");
      assert.equal(current.password === former.password, dropConnection === "before-apply");
      assert.deepEqual(await accepted(current), [true]);
      await assertRead(current);
    });
  }

  it("accepts only the new password after a change outside of the interface, also of a late reset", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: 50 });
    const late = await reset();
    await platform.changePassword("db-quickstart");
    await sleep(100);
    const current = platform.database("db-quickstart");
    assert.deepEqual(await accepted(former, late, current), [false, false, true]);
    await assertRead(current);
  });

  it("never applies a reset, and applies the next one", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: "never" });
    const current = await reset();
    assert.deepEqual(await accepted(former, current), [true, false]);
    assert.deepEqual(await accepted(former, current, await reset()), [false, false, true]);
  });

  it("leaves the former password valid until the next reset", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ keepFormerPassword: true });
    const current = await reset();
    assert.deepEqual(await accepted(former, current), [true, true]);
    assert.deepEqual(await accepted(former, current, await reset()), [false, false, true]);
  });

  it("does not apply a late reset after a newer one, or after reset()", async () => {
    platform.failNext({ applyAfterMs: 50, times: 2 });
    const late = await reset();
    const current = await reset();
    while (!(await accepted(current))[0]);
    assert.deepEqual(await accepted(late, current), [false, true]);
    platform.failNext({ applyAfterMs: 50 });
    const forgotten = await reset();
    await platform.reset();
    await sleep(100);
    assert.deepEqual(await accepted(forgotten, platform.database("db-quickstart")), [false, true]);
  });
}

describe("local platform: faults of a reset, with the platform's listener", () => specs(false));
withRedis("local platform: faults of a reset, with a Redis", () => specs(true));
