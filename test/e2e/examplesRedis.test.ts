import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { loadExample } from "./loadExample";
import { Folder } from "../support/folder";
import { closePlatforms, TestStack } from "./memory";
import { type RedisServer, startRedisServer, withRedis } from "../support/redis";
import { examples } from "../support/project";

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

    const consumer = spawn(process.execPath, [join(examples, "redis-consumer", "consumer.mjs"), file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(consumer, "close");
    const lines: string[] = [];
    const told = createInterface({ input: consumer.stdout }).on("line", (line) => lines.push(line));
    const said = async (wanted: RegExp, from = 0): Promise<number> => {
      for (;;) {
        const index = lines.findIndex((line, at) => at >= from && wanted.test(line));
        if (index >= 0) return index;
        await Promise.race([once(told, "line"), ended]);
        assert.equal(consumer.exitCode, null, lines.join("\n"));
      }
    };
    try {
      await said(/^counted 1$/);
      stack.config["version"] = "2";
      const url = await up();
      const cut = await said(/^disconnected$/);
      const refused = await said(/^refused: WRONGPASS/, cut);
      // A shell that redirects the output of a command into the file empties it first.
      writeFileSync(file, "");
      // The first attempt after that may have read the file before.
      for (let again = refused, nth = 0; nth < 2; nth++) again = await said(/^refused: WRONGPASS/, again + 1);
      writeFileSync(file, url);
      const back = await said(/^connected$/, cut);
      await said(/^counted /, back);
    } finally {
      consumer.kill();
      await ended;
      folder.remove();
    }
  });
});
