import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { type RedisServer, startRedisServer } from "../../../local/platform/redisServer";
import { FakeRedis } from "../../support/fakeRedis";
import { Folder } from "../../support/folder";
import { RedisLine, refused, session, whoAmI, withRedis } from "../../support/redis";
import { killedPlatform } from "../support/source";
import { resetPassword } from "./client";

withRedis("local platform: a Redis that it starts", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform({ redis: true, ...options }));
  const urlOf = (id: string) => platform.database(id).redisUrl;
  afterEach(() => platform.close());

  it("refuses the old password after a reset, takes the new one, and closes only the old sessions", async () => {
    await start();
    const before = urlOf("db-quickstart");
    const old = await session(before);
    await old.set("kept", "value");
    const other = await session(urlOf("db-sessions"));
    const ended = once(old, "end");
    assert.equal((await resetPassword(platform)).status, 200);
    await assert.rejects(whoAmI(before), /WRONGPASS/);
    await ended;
    assert.equal(await other.ping(), "PONG");
    other.disconnect();
    const after = await session(urlOf("db-quickstart"));
    assert.equal(await after.get("kept"), "value");
    after.disconnect();
  });

  it("returns the address of the Redis, and no password unless asked", async () => {
    await start({ databases: [{ database_id: "one", port: 1, tls: true }] });
    const { body, text } = await resetPassword(platform, "one");
    const { endpoint, port, tls } = body as Record<string, unknown>;
    assert.equal(`redis://${endpoint as string}:${port as number}`, platform.redisUrl);
    assert.equal(tls, false);
    assert.ok(!text.includes(platform.database("one").password));
  });

  it("agrees with its Redis after resets of one database at once, and after reset() among them", async () => {
    await start();
    await Promise.all(Array.from({ length: 20 }, () => resetPassword(platform)));
    assert.equal(platform.database("db-quickstart").resets, 20);
    assert.equal(await whoAmI(urlOf("db-quickstart")), "rekey-db-quickstart");
    await Promise.all([resetPassword(platform), resetPassword(platform), platform.reset(), resetPassword(platform)]);
    assert.equal(await whoAmI(urlOf("db-quickstart")), "rekey-db-quickstart");
  });

  for (const id of ["a b", "größe 日本", "a/b:c@d", "default", "%2F", "\u0000"]) {
    it(`has a user for ${JSON.stringify(id)}`, async () => {
      await start({ databases: [id] });
      await resetPassword(platform, id);
      assert.equal(await whoAmI(urlOf(id)), `rekey-${encodeURIComponent(id)}`);
    });
  }

  it("lets a database's user do what a program does, and nothing to the server", async () => {
    await start();
    const client = await session(urlOf("db-quickstart"));
    assert.equal(await client.set("any key", "value"), "OK");
    assert.match(await client.info("server"), /redis_version/);
    const commands = ["acl setuser default nopass", "acl deluser rekey-db-sessions", "config get *", "shutdown nosave"];
    for (const [name = "", ...words] of commands.map((command) => command.split(" "))) {
      await assert.rejects(client.call(name, ...words), /NOPERM/);
    }
    client.disconnect();
  });
});

withRedis("local platform: the end of a Redis that it started", () => {
  it("comes with a SIGKILL of the platform", async () => {
    await refused(await killedPlatform({ redis: true }, "db-quickstart"));
  });

  it("comes if the platform cannot be started", async () => {
    const first = await startPlatform();
    const port = Number(new URL(first.url).port);
    const spawned = mock.method(childProcess, "spawn");
    try {
      await assert.rejects(startPlatform({ redis: true, port }), /port: cannot listen/);
      const ends = spawned.mock.calls.map(({ result }) => result?.signalCode ?? result?.exitCode);
      assert.ok(ends.length > 0 && !ends.includes(null), "a process still runs");
    } finally {
      spawned.mock.restore();
      await first.close();
    }
  });
});

describe("local platform: a Redis that cannot be used", () => {
  const refuses = (redis: string | boolean, problem: RegExp) => {
    const expected = { name: "PlatformOptionError", option: "redis", problem, message: /^(?!.*canary)/s };
    return assert.rejects(startPlatform({ redis }), expected);
  };

  it("is named with the reason if the connection is refused, without its password", () =>
    refuses("redis://:canary@127.0.0.1:1", /^connect ECONNREFUSED 127\.0\.0\.1:1\. /));

  it("is named with its version if it is too old", async () => {
    const old = await FakeRedis.start(() => "$22\r\nredis_version:6.0.16\r\n");
    await refuses(`redis://:canary@127.0.0.1:${old.port}`, /Redis 6\.0.* 6\.2 or newer/);
    await old.close();
  });

  for (const given of ["localhost:6379", "http://localhost", "redis://"]) {
    it(`is refused as ${JSON.stringify(given)}`, () => refuses(given, /must be true or a URL/));
  }

  it("is asked for by its package if there is no redis-server", async function () {
    if (process.platform === "win32") {
      console.log("      skipped: there is no /bin/sh to leave on PATH");
      this.skip();
    }
    const folder = new Folder();
    symlinkSync("/bin/sh", folder.path("sh"));
    const path = process.env.PATH;
    process.env.PATH = folder.directory;
    try {
      await refuses(true, /redis-server is not on PATH: install .*redis-server/);
    } finally {
      process.env.PATH = path;
      folder.remove();
    }
  });
});

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
    await line.start();
    platform = await startPlatform({ redis: `redis://:${password}@127.0.0.1:${line.port}` });
  });
  afterEach(async () => {
    await platform.close();
    await line.close();
  });

  it("responds with 503 while it is away, the password unchanged, and goes on when it is back", async () => {
    const before = platform.database("db-quickstart");
    await line.close();
    const { status, error } = await resetPassword(platform);
    assert.equal(status, 503);
    assert.match(error, /^redis: .+ "db-quickstart" is unchanged/);
    assert.deepEqual(platform.database("db-quickstart"), before);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
    await line.start();
    while ((await resetPassword(platform)).status !== 200) await sleep(20);
    assert.equal(platform.resetCount, 1);
    await assert.rejects(whoAmI(direct(before.redisUrl)), /WRONGPASS/);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
  });

  it("reverts a password whose confirmation was lost", async () => {
    const before = platform.database("db-quickstart");
    line.loseResponses = true;
    assert.equal((await resetPassword(platform)).status, 503);
    assert.deepEqual(platform.database("db-quickstart"), before);
    await assert.rejects(whoAmI(direct()), /WRONGPASS/, "the test must have lost the response, not the request");
    line.loseResponses = false;
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
