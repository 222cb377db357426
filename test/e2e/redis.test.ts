import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedisServer } from "../../local/platform/redisServer";
import { resetPassword } from "../local/platform/client";
import { fails, succeeds } from "../support/engine";
import { onEngines, rotating, scene } from "../support/onEngines";
import { session, whoAmI, withRedis } from "../support/redis";
import { RedisLine } from "../support/redisLine";

const source = (version: number) => `${rotating(`version: ${version}, username: "rekey-{id}"`)}
exports.address = rotation.connectionUrl;`;

withRedis("a database in a real Redis", function () {
  this.timeout(180_000);
  onEngines("PasswordRotation with a Redis", (engine) => {
    it("makes Redis refuse the old password, accept the new one, and close the old session", async () => {
      const options = { redis: true, credentialsInResponse: "always" } as const;
      const { platform, project, stack } = await scene(engine, source(1), options);
      const up = async (): Promise<string> => {
        const { outputs, printed } = await stack.up();
        assert.equal(outputs["address"]?.secret, true, printed);
        return String(outputs["address"].value);
      };
      const initial = platform.database("db-quickstart").redisUrl;
      assert.equal(await whoAmI(initial), "rekey-db-quickstart");
      const address = await up();
      await assert.rejects(whoAmI(initial), /WRONGPASS/);
      const old = await session(address);
      assert.equal(await old.ping(), "PONG");
      const ended = once(old, "end");

      await stack.preview();
      await succeeds(stack.up());
      assert.equal(await old.ping(), "PONG", "nothing was to be rotated");

      project.rewrite(source(2));
      const next = await up();
      await ended;
      await assert.rejects(whoAmI(address), /WRONGPASS/);
      assert.equal(await whoAmI(next), "rekey-db-quickstart");
    });

    it("keeps the old password if Redis is down, reports it, and rotates when Redis is back", async () => {
      const redis = await startRedisServer();
      const { port, password } = new URL(redis.url);
      const line = new RedisLine(Number(port));
      await line.start();
      const address = `redis://:${password}@127.0.0.1:${line.port}`;
      const { platform, stack } = await scene(engine, source(1), { redis: address, credentialsInResponse: "always" });
      const around = (url: unknown) => String(url).replace(`:${line.port}`, `:${port}`);
      const initial = around(platform.database("db-quickstart").redisUrl);
      try {
        await line.close();
        await fails(stack.up(), /503: redis: .*unchanged/);
        assert.equal(await whoAmI(initial), "rekey-db-quickstart");
        await line.start();
        while ((await resetPassword(platform, "db-sessions")).status !== 200) await sleep(20);
        const { outputs } = await succeeds(stack.up());
        await assert.rejects(whoAmI(initial), /WRONGPASS/);
        assert.equal(await whoAmI(around(outputs["address"]?.value)), "rekey-db-quickstart");
      } finally {
        await line.close();
        await redis.close();
      }
    });
  });
});
