import assert from "node:assert/strict";
import { startRedisServer } from "../../local/platform/redisServer";
import { type Engine, fails, plainOutputs, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";
import { whoAmI, withRedis } from "../support/redis";
import { RedisLine } from "../support/redisLine";

/** Clients reach the Redis through a line that can be closed; the platform does not. */
const source = (version: number, port: number) => `
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db", version: ${version}, port: ${port}, username: "rekey-{id}" });
const verification = new PasswordVerification("cache", { rotation, withinSeconds: 0.5 });
for (const name of ["verified", "verifiedAt", "formerRefused"]) exports[name] = verification[name];
exports.url = rotation.connectionUrl;`;

withRedis("a rotation that is verified at a real Redis", () => {
  onEngines("PasswordVerification", (engine: Engine) => {
    it("shows that the new password works and the former one does not, and is repeated after a failure", async () => {
      const redis = await startRedisServer();
      const line = new RedisLine(Number(new URL(redis.url).port));
      await line.open();
      const { platform, project, stack } = await scene(engine, source(1, line.port), {
        databases: ["db"],
        redis: redis.url,
        credentialsInResponse: "always",
      });
      const saved = async () => plainOutputs(resourceNamed(await stack.exportState(true), "cache") ?? { urn: "" });
      try {
        assert.deepEqual((await succeeds(stack.preview())).changes, { create: 3 });
        const created = await succeeds(stack.up());
        const { verified, verifiedAt, formerRefused, url } = valuesOf(created);
        assert.deepEqual([verified, formerRefused, created.outputs["url"]?.secret], [true, undefined, true]);
        assert.match(String(verifiedAt), /^\d{4}-.*Z$/);
        assert.equal(await whoAmI(String(url)), "rekey-db");
        assert.deepEqual((await succeeds(stack.up())).changes, { same: 3 });
        await succeeds(stack.refresh());

        project.rewrite(source(2, line.port));
        const updated = await succeeds(stack.up());
        assert.equal(valuesOf(updated)["formerRefused"], true);
        await assert.rejects(whoAmI(String(url)), /WRONGPASS/);

        // Unreachable: the rotation is saved, and the next run only verifies.
        line.close();
        project.rewrite(source(3, line.port));
        await fails(stack.up(), /ECONNREFUSED/, /rotation itself is saved/, /\[REKEY_VERIFICATION_FAILED\]/);
        assert.equal(platform.resetCount, 3);
        assert.equal((await saved())["password"], platform.database("db").password);
        await line.open();
        const repeated = await succeeds(stack.up());
        assert.deepEqual([repeated.changes["update"], valuesOf(repeated)["formerRefused"]], [1, true]);
        assert.equal(platform.resetCount, 3);

        await succeeds(stack.destroy());
        assert.equal(platform.requests.length, 3);
      } finally {
        line.close();
        await redis.close();
      }
    });
  });
});
