import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { Consumers } from "./consumers";
import { loadExample } from "./loadExample";
import { Folder } from "../support/folder";
import { closePlatforms, TestStack } from "./memory";
import { type RedisServer, startRedisServer, withRedis } from "../support/redis";

withRedis("The example redis-consumer", () => {
  let redis: RedisServer;
  before(async () => (redis = await startRedisServer()));
  afterEach(closePlatforms);
  after(() => redis.close());

  it("is cut off with the old password, and goes on with the new one", async () => {
    const config = { databaseId: "cache", user: "rekey-cache" };
    const program = () => loadExample("redis-consumer");
    const stack = await TestStack.start(program, {
      databases: ["cache"],
      redis: redis.url,
      credentials: "always",
      config,
    });
    const up = async (): Promise<string> => {
      const { outputs, printed } = await stack.up();
      assert.equal(outputs["url"]?.secret, true, printed);
      return String(outputs["url"].value);
    };
    const folder = new Folder();
    const file = folder.path("url");
    writeFileSync(file, await up());

    const consumer = new Consumers("redis-consumer", 1, [file]);
    try {
      await consumer.said(/^counted 1$/);
      stack.config["version"] = "2";
      const url = await up();
      const cut = await consumer.said(/^disconnected$/);
      const refused = await consumer.said(/^refused: WRONGPASS/, cut);
      // A shell that redirects the output of a command into the file empties it first.
      writeFileSync(file, "");
      // The first attempt after that may have read the file before.
      for (let again = refused, nth = 0; nth < 2; nth++) again = await consumer.said(/^refused: WRONGPASS/, again + 1);
      writeFileSync(file, url);
      const back = await consumer.said(/^connected$/, cut);
      await consumer.said(/^counted /, back);
    } finally {
      await consumer.end();
      folder.remove();
    }
  });
});
