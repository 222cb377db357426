import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { startPlatform } from "../../local/index";
import { withRedis } from "../support/redis";
import { onEngines } from "../support/onEngines";
import { environmentOf, Project, transpileOnly } from "../support/project";

withRedis("with a redis-server", () => {
  onEngines("The example redis-consumer", (engine) => {
    it("is cut off with the old password, and goes on with the new one", async () => {
      const platform = await startPlatform({ databases: ["cache"], redis: true, credentials: "always" });
      const project = new Project({ example: "redis-consumer" }, { packages: ["ioredis"] });
      const stack = await engine.open(project.directory, { ...environmentOf(platform), ...transpileOnly });
      const settings = { databaseId: "cache", user: "rekey-cache" };
      for (const [key, value] of Object.entries(settings)) await stack.setConfig(key, value);
      const up = async (): Promise<string> => {
        const { outputs, printed } = await stack.up();
        assert.equal(outputs["url"]?.secret, true, printed);
        return String(outputs["url"].value);
      };
      const file = project.path("url");
      writeFileSync(file, await up());

      const consumer = spawn(process.execPath, [project.path("consumer.mjs"), file], {
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
        await stack.setConfig("version", "2");
        const url = await up();
        const cut = await said(/^disconnected$/);
        const refused = await said(/^refused: WRONGPASS/, cut);
        // A shell that redirects the output of a command into the file empties it first.
        writeFileSync(file, "");
        // The next attempt may have read the file before.
        const again = await said(/^refused: WRONGPASS/, refused + 1);
        await said(/^refused: WRONGPASS/, again + 1);
        writeFileSync(file, url);
        const back = await said(/^connected$/, cut);
        await said(/^counted /, back);
      } finally {
        consumer.kill();
        await ended;
        await platform.close();
        project.remove();
      }
    });
  });
});
