import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { type RedisServer, session, startRedisServer, withRedis } from "../../support/redis";
import { RedisGate } from "../../support/redisGate";
import { resetPassword } from "./client";

// That its passwords are replaced, late or never: secrets.test.ts.
withRedis("Local platform: a real Redis, and its outages", () => {
  let redis: RedisServer;
  let gate: RedisGate;
  let platform: Platform;
  /** The URL of a database in the Redis itself, around the gate. */
  const urlOf = ({ password } = platform.database("db-quickstart")) =>
    Object.assign(new URL(redis.url), { username: "rekey-db-quickstart", password }).href;
  before(async () => (redis = await startRedisServer()));
  after(() => redis.close());
  beforeEach(async () => {
    const url = new URL(redis.url);
    gate = await RedisGate.start(redis.port);
    platform = await startPlatform({ redis: Object.assign(url, { port: gate.port }).href });
  });
  afterEach(async () => {
    await platform.close();
    await gate.close();
  });

  it("disconnects clients at a reset, and lets a database's user do nothing to the server", async () => {
    const client = await session(urlOf());
    assert.equal(await client.set("any key", "value"), "OK");
    const commands = ["acl setuser default nopass", "acl deluser rekey-db-sessions", "config get *", "shutdown nosave"];
    for (const [name = "", ...words] of commands.map((command) => command.split(" "))) {
      await assert.rejects(client.call(name, ...words), /NOPERM/);
    }
    const ended = new Promise((resolve) => client.once("end", resolve));
    assert.equal((await resetPassword(platform)).status, 200);
    await ended;
    const { endpoint, port } = platform.database("db-quickstart").record;
    assert.deepEqual([endpoint, port], ["127.0.0.1", gate.port]);
  });

  it("keeps the former password while it is away, and if the confirmation of a reset was lost", async () => {
    const refusesReset = async () => {
      const before = platform.database("db-quickstart");
      const { status, error } = await resetPassword(platform);
      assert.equal(status, 503);
      assert.match(error, /^redis: .+ "db-quickstart" is unchanged/);
      assert.deepEqual(platform.database("db-quickstart"), before);
    };
    await gate.close();
    await refusesReset();
    await gate.listen();
    while ((await resetPassword(platform)).status !== 200) await sleep(20);
    gate.fail({ command: /^EXEC/i, does: "close", at: "applied", times: 99 });
    await refusesReset();
    await assert.rejects(session(urlOf()), /WRONGPASS/, "the test must have lost the response, not the request");
    gate.meet = () => undefined;
    let client: Awaited<ReturnType<typeof session>> | undefined;
    while (!(client = await session(urlOf()).catch(() => undefined))) await sleep(20);
    client.disconnect();
  });
});

describe("Local platform: a Redis that cannot be used", () => {
  const refuses = (redis: string, problem: RegExp) => {
    const expected = { name: "PlatformOptionError", option: "redis", problem, message: /^(?!.*canary)/s };
    return assert.rejects(startPlatform({ redis }), expected);
  };

  it("is named with the reason if the connection is refused, without its password", () =>
    refuses("redis://:canary@127.0.0.1:1", /^connect ECONNREFUSED 127\.0\.0\.1:1\. /));

  it("is named with its version if it is too old", async () => {
    const old = await RedisGate.alone(() => ({ reply: "$22\r\nredis_version:6.0.16\r\n" }));
    await refuses(`redis://:canary@127.0.0.1:${old.port}`, /Redis 6\.0.* 6\.2 or newer/);
    await old.close();
  });
});
