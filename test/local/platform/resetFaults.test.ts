import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, type Platform, startPlatform } from "../../../local/platform/index";
import { redisUser } from "../../../local/platform/redis";
import { databaseReply, withRedis } from "../../support/redis";
import { resetPassword } from "./client";

function specs(redis: boolean): void {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform({ redis })));
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

  it("applies a reset late", async () => {
    const former = platform.database("db-quickstart");
    platform.failNext({ applyAfterMs: 60_000 });
    assert.deepEqual(await accepted(former, await reset()), [true, false]);
    platform.failNext({ applyAfterMs: 20 });
    const current = await reset();
    while ((await accepted(former, current)).join() !== "false,true");
    assert.deepEqual([current.resets, current.generation], [2, 3]);
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
