import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { databaseReply, redisCommand } from "../../support/redis";
import { resetPassword } from "./client";

describe("Local platform: the listener for the Redis protocol", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
  afterEach(() => platform.close());

  const database = (id = "db-quickstart") => platform.database(id);
  const reply = (...commands: (readonly string[])[]) => databaseReply(database().record, ...commands);
  const wrongPassword = /^-WRONGPASS /;

  it("refuses other passwords, users and commands", async () => {
    await start();
    const { password } = database();
    assert.match(await reply(["AUTH", "wrong"]), wrongPassword);
    assert.match(await reply(["AUTH", "other", password]), wrongPassword);
    assert.match(await reply(["AUTH"]), /^-ERR wrong number of arguments/);
    assert.match(await reply(["PING"]), /^-NOAUTH /);
    const replies = "-ERR unknown command 'HELLO'\r\n+OK\r\n-ERR unknown command 'GET'\r\n+PONG\r\n";
    assert.equal(await reply(["HELLO", "3"], ["AUTH", password], ["GET", "key"], ["PING"]), replies);
  });

  it("refuses the former password after a reset, even in an open session", async () => {
    await start();
    const socket = connect(Number(database().record.port), "127.0.0.1").setEncoding("utf8");
    socket.write(redisCommand("AUTH", database().password));
    assert.deepEqual(await once(socket, "data"), ["+OK\r\n"]);
    await resetPassword(platform);
    socket.write(redisCommand("PING"));
    assert.match(String(await once(socket, "data")), /^-NOAUTH /);
    socket.destroy();
  });

  it("leaves a record with another endpoint unchanged", async () => {
    const other = { database_id: "other", endpoint: "cache.example.com", port: 6379, tls: true };
    await start({ databases: [other] });
    const { record } = database("other");
    assert.deepEqual({ ...record, ...other }, record);
  });
});
