import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../../local/platform/redisServer";
import { caFile, certificateFiles } from "../../faults/certificates";
import { Folder } from "../../support/folder";
import { withRedis } from "../../support/redis";
import { Run, runSource } from "../support/source";

/** Prints the user of a client with the first password, again after a reset, and with the second password. */
const source = `
  const { startPlatform } = require("./local/platform");
  const { resetPassword } = require("./test/local/platform/client");
  const { whoAmI } = require("./test/support/redis");
  (async () => {
    const platform = await startPlatform({ redis: process.env.REDIS_ADDRESS });
    const url = () => platform.database("db-sessions").redisUrl;
    const first = url();
    const before = await whoAmI(first);
    const { body } = await resetPassword(platform, "db-sessions");
    const old = await whoAmI(first).catch(({ message }) => message.split(" ")[0]);
    const { protocol } = new URL(first);
    console.log(JSON.stringify({ protocol, tls: body.tls, before, old, after: await whoAmI(url()) }));
    await platform.close();
  })();`;

withRedis("local platform: a Redis behind TLS", () => {
  it("takes its users' passwords by rediss://", async function () {
    const [port, folder] = [await freePort(), new Folder()];
    const { cert, key } = certificateFiles("good");
    const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", caFile];
    const listen = ["--bind", "127.0.0.1", "--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"];
    const redis = spawn("redis-server", [...listen, ...files, "--dir", folder.directory, "--save", ""]);
    const ended = once(redis, "close");
    try {
      let said = "";
      redis.stderr.on("data", (data) => (said += String(data)));
      for await (const chunk of redis.stdout) if ((said += String(chunk)).includes("Ready to accept")) break;
      if (!said.includes("Ready to accept")) await ended;
      // What cannot be done without TLS is an unknown setting there; anything else is a failure.
      if (/tls.*Bad directive/s.test(said)) {
        console.log("      skipped: this redis-server has no TLS");
        this.skip();
      }
      assert.match(said, /Ready to accept/);
      const env = { NODE_EXTRA_CA_CERTS: caFile, REDIS_ADDRESS: `rediss://127.0.0.1:${port}` };
      const user = "rekey-db-sessions";
      const seen = await new Run(runSource(source, [], env)).started();
      assert.deepEqual(seen, { protocol: "rediss:", tls: true, before: user, old: "WRONGPASS", after: user });
    } finally {
      redis.kill("SIGKILL");
      await ended;
      folder.remove();
    }
  });
});
