import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedisServer } from "../../local/platform/redisServer";
import { resetPassword } from "../local/platform/client";
import { session, whoAmI, withRedis } from "../support/redis";
import { RedisLine } from "../support/redisLine";
import { fails, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

const rotating = (version: number) => `
const { PasswordRotation } = require("pulumi-rekey");
const { interpolate } = require("@pulumi/pulumi");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version: ${version} });
exports.outcome = rotation.outcome;
exports.address = interpolate\`redis://rekey-db-quickstart:\${rotation.password}@\${rotation.endpoint}:\${rotation.port}\`;
`;

withRedis("a database in a real Redis", function () {
  this.timeout(180_000);
  onEngines("PasswordRotation with a Redis", (engine) => {
    it("leaves the old password refused, the new one accepted, and the old session closed", async () => {
      const { platform, project, stack } = await scene(engine, rotating(1), {
        redis: true,
        credentialsInResponse: "always",
      });
      const initial = platform.database("db-quickstart").redisUrl;
      assert.equal(await whoAmI(initial), "rekey-db-quickstart");
      const first = await stack.up();
      await assert.rejects(whoAmI(initial), /WRONGPASS/);
      const address = first.outputs["address"];
      assert.equal(address?.secret, true);
      const old = await session(String(address.value));
      assert.equal(await old.ping(), "PONG");
      const ended = once(old, "end");

      await stack.preview();
      await succeeds(stack.up());
      assert.equal(await old.ping(), "PONG", "nothing was to be rotated");

      project.rewrite(rotating(2));
      const second = await stack.up();
      await ended;
      await assert.rejects(whoAmI(String(address.value)), /WRONGPASS/);
      assert.equal(await whoAmI(String(second.outputs["address"]?.value)), "rekey-db-quickstart");
    });

    it("keeps the old password where the Redis is away, says so, and rotates when it is back", async () => {
      const redis = await startRedisServer();
      const { port, password } = new URL(redis.url);
      const line = new RedisLine(Number(port));
      await line.open();
      const address = `redis://:${password}@127.0.0.1:${line.port}`;
      const { platform, stack } = await scene(engine, rotating(1), { redis: address, credentialsInResponse: "always" });
      const around = (url = platform.database("db-quickstart").redisUrl) =>
        (url ?? "").replace(`:${line.port}`, `:${port}`);
      const initial = around();
      try {
        line.close();
        await fails(stack.up(), /answered 503: redis: .*is unchanged/);
        assert.equal(await whoAmI(initial), "rekey-db-quickstart");
        await line.open();
        while ((await resetPassword(platform, "db-sessions")).status !== 200) await sleep(20);
        const back = await stack.up();
        assert.equal(back.outputs["outcome"]?.value, "reset", back.printed);
        await assert.rejects(whoAmI(initial), /WRONGPASS/);
        assert.equal(await whoAmI(around(String(back.outputs["address"]?.value))), "rekey-db-quickstart");
      } finally {
        line.close();
        await redis.close();
      }
    });
  });
});
