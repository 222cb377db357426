import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { type RedisServer, startRedisServer } from "../../../local/platform/redisServer";
import { session, whoAmI, withRedis } from "../../support/redis";
import { RedisLine } from "../../support/redisLine";
import { killedPlatform } from "../support/source";
import { resetPassword } from "./client";

withRedis("local platform: an attached Redis, and its outages", () => {
  let redis: RedisServer;
  let line: RedisLine;
  let platform: Platform;
  /** The database's address in the Redis itself, around the line. */
  const direct = (url = platform.database("db-quickstart").redisUrl) =>
    (url ?? "").replace(/:\d+$/, `:${new URL(redis.url).port}`);
  /** Waits until the Redis takes the password that the platform has recorded. */
  const agreed = async () => {
    while (!(await whoAmI(direct()).catch(() => undefined))) await sleep(20);
  };

  before(async () => (redis = await startRedisServer()));
  after(() => redis.close());
  beforeEach(async () => {
    const { port, password } = new URL(redis.url);
    line = new RedisLine(Number(port));
    await line.open();
    platform = await startPlatform({ redis: `redis://:${password}@127.0.0.1:${line.port}` });
  });
  afterEach(async () => {
    await platform.close();
    line.close();
  });

  it("responds with 503 while it is away, the password unchanged, and goes on when it is back", async () => {
    const before = platform.database("db-quickstart");
    line.close();
    const { status, error } = await resetPassword(platform);
    assert.equal(status, 503);
    assert.match(error, /^redis: .+ "db-quickstart" is unchanged/);
    assert.deepEqual(platform.database("db-quickstart"), before);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
    await line.open();
    while ((await resetPassword(platform)).status !== 200) await sleep(20);
    assert.equal(platform.resetCount, 1);
    await assert.rejects(whoAmI(direct(before.redisUrl)), /WRONGPASS/);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
  });

  it("reverts a password whose confirmation was lost", async () => {
    const before = platform.database("db-quickstart");
    line.loseAnswers = true;
    assert.equal((await resetPassword(platform)).status, 503);
    assert.deepEqual(platform.database("db-quickstart"), before);
    await assert.rejects(whoAmI(direct()), /WRONGPASS/, "the test must have lost the response, not the request");
    line.loseAnswers = false;
    await agreed();
  });

  it("creates the users again in a Redis that has lost them", async () => {
    const admin = await session(redis.url);
    await admin.call("acl", "deluser", "rekey-db-quickstart", "rekey-db-sessions");
    line.cut();
    await agreed();
    admin.disconnect();
  });

  it("loses nothing but the platform's own users when the platform ends", async () => {
    const admin = await session(redis.url);
    await admin.call("acl", "setuser", "someone", "on", ">else");
    await admin.set("kept", "value");
    await platform.close();
    assert.deepEqual(await admin.call("acl", "users"), ["default", "someone"]);
    assert.equal(await admin.get("kept"), "value");
    admin.disconnect();
  });

  it("keeps the users of a platform that was killed, until the next start takes them over", async () => {
    const databases = ["taken over"];
    const left = await killedPlatform({ redis: redis.url, databases }, "taken over");
    assert.equal(await whoAmI(left), "rekey-taken%20over");
    const next = await startPlatform({ redis: redis.url, databases });
    await assert.rejects(whoAmI(left), /WRONGPASS/);
    assert.equal(await whoAmI(next.database("taken over").redisUrl), "rekey-taken%20over");
    await next.close();
  });
});
