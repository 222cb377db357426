import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, PlatformOptionError, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { refused, session, whoAmI, withRedis } from "../../support/redis";
import { resetPassword } from "./client";

withRedis("local platform: a Redis of its own", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform({ redis: true, ...options }));
  const urlOf = (id: string) => platform.database(id).redisUrl;
  afterEach(() => platform.close());

  it("refuses the old password after a reset, takes the new one, and closes the old session", async () => {
    await start();
    const before = urlOf("db-quickstart");
    const old = await session(before);
    await old.set("kept", "value");
    const ended = once(old, "end");
    assert.equal((await resetPassword(platform)).status, 200);
    await assert.rejects(whoAmI(before), /WRONGPASS/);
    await ended;
    const after = await session(urlOf("db-quickstart"));
    assert.equal(await after.get("kept"), "value");
    after.disconnect();
  });

  it("closes no session of another database", async () => {
    await start();
    const other = await session(urlOf("db-sessions"));
    await resetPassword(platform);
    assert.equal(await other.ping(), "PONG");
    other.disconnect();
  });

  it("answers where the Redis is, and never a password unasked", async () => {
    await start({ databases: [{ database_id: "one", port: 1, tls: true }] });
    const answer = await resetPassword(platform, "one");
    const { endpoint, port, tls } = answer.body as Record<string, unknown>;
    assert.deepEqual([`redis://${endpoint as string}:${port as number}`, tls], [platform.redisUrl, false]);
    assert.ok(!answer.text.includes(platform.database("one").password));
  });

  it("sets the passwords of 100 databases at once", async () => {
    const databases = Array.from({ length: 100 }, (_, index) => `db-${index}`);
    await start({ databases });
    const answers = await Promise.all(databases.map((id) => resetPassword(platform, id)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(platform.resetCount, 100);
    const names = await Promise.all(databases.map((id) => whoAmI(urlOf(id))));
    assert.deepEqual(
      names,
      databases.map((id) => `rekey-${id}`),
    );
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
    for (const command of [
      ["setuser", "default", "nopass"],
      ["deluser", "rekey-db-sessions"],
    ]) {
      await assert.rejects(client.call("acl", ...command), /NOPERM/);
    }
    await assert.rejects(client.config("GET", "*"), /NOPERM/);
    await assert.rejects(client.shutdown("NOSAVE"), /NOPERM/);
    client.disconnect();
  });

  it("ends it with close()", async () => {
    await start();
    const url = urlOf("db-quickstart");
    assert.equal(await whoAmI(url), "rekey-db-quickstart");
    await platform.close();
    await refused(url);
  });
});

withRedis("local platform: the end of a Redis of its own", () => {
  it("comes with a SIGKILL of the platform", async () => {
    const code = `require("./local/platform").startPlatform({ redis: true }).then((platform) =>
      console.log(platform.database("db-quickstart").redisUrl))`;
    const child = spawn(process.execPath, ["-r", "ts-node/register/transpile-only", "-e", code], {
      cwd: join(__dirname, "../../.."),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    assert.equal(await whoAmI(url), "rekey-db-quickstart");
    child.kill("SIGKILL");
    await once(child, "exit");
    await refused(url);
  });

  it("comes where the platform cannot be started", async () => {
    const first = await startPlatform();
    const port = Number(new URL(first.url).port);
    await assert.rejects(startPlatform({ redis: true, port }), /port: cannot listen/);
    await first.close();
    // Its process has ended; a handle is taken off the list a moment later.
    while (process.getActiveResourcesInfo().includes("ProcessWrap")) await sleep(10);
  });
});

describe("local platform: a Redis that cannot be used", () => {
  const refuses = (redis: string | boolean, problem: RegExp) =>
    assert.rejects(startPlatform({ redis }), (error: unknown) => {
      assert.ok(error instanceof PlatformOptionError);
      assert.equal(error.option, "redis");
      assert.match(error.problem, problem);
      assert.doesNotMatch(error.message, /canary/);
      return true;
    });

  it("is named with the reason where nobody listens, without its password", () =>
    refuses("redis://:canary@127.0.0.1:1", /^connect ECONNREFUSED 127\.0\.0\.1:1. Check that a Redis is running/));

  it("is named with its version where it is too old", async () => {
    // To whatever it is asked.
    const answer = "$22\r\nredis_version:6.0.16\r\n\r\n";
    const old = createServer((socket) =>
      socket.on("data", (data) => socket.write(String(data).replace(/(\*\d+\r\n)[^*]*/g, answer))),
    ).listen(0, "127.0.0.1");
    await once(old, "listening");
    const { port } = old.address() as AddressInfo;
    await refuses(`redis://:canary@127.0.0.1:${port}`, /^it is Redis 6\.0, but 6\.2 or newer is required$/);
    await new Promise((resolve) => old.close(resolve));
  });

  for (const given of ["localhost:6379", "http://localhost", "redis://"]) {
    it(`is refused as ${JSON.stringify(given)}`, () => refuses(given, /must be true or a URL: redis:/));
  }

  it("is asked for by its package where there is no redis-server", async function () {
    if (process.platform === "win32") {
      console.log("      skipped: there is no /bin/sh to leave on PATH");
      this.skip();
    }
    const directory = mkdtempSync(join(tmpdir(), "rekey-path-"));
    symlinkSync("/bin/sh", join(directory, "sh"));
    const path = process.env.PATH;
    process.env.PATH = directory;
    try {
      await refuses(true, /redis-server is not on PATH: install it .*redis-server/);
    } finally {
      process.env.PATH = path;
      rmSync(directory, { recursive: true });
    }
  });
});
