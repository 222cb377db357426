import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { databaseReply, redisCommand, type RedisServer, startRedisServer, withRedis } from "../../support/redis";
import { resetPassword } from "./client";

type Command = readonly string[];
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

// The commands in which the vendor does not differ from a Redis.
withRedis("Local platform: the users of a database reply like a real Redis", () => {
  let redis: RedisServer;
  let platform: Platform;
  before(async () => ([redis, platform] = await Promise.all([startRedisServer(), startPlatform()])));
  after(() => Promise.all([redis.close(), platform.close()]));

  const commands = [
    "whoami",
    "getuser app",
    "setuser app",
    "getuser app",
    "setuser app on ~* &* +@all",
    "GETUSER app",
    "users",
    "setuser app off bogus",
    `setuser app off !${"a".repeat(64)}`,
    `setuser app off !${"A".repeat(64)}`,
    "setuser app off !abc",
    "getuser app",
    "setuser other +@all -@all ~a ~b ~a",
    "getuser other",
    "deluser default",
    "deluser app app other none",
    "getuser app",
    "nope",
    "constructor",
    "getuser",
    "setuser",
    "deluser",
    "whoami now",
    "users all",
  ].map((line) => ["acl", ...line.split(" ")]);

  it("byte by byte", async () => {
    const { record, password } = platform.database("db-quickstart");
    for (const command of [...commands, ["acl"], ["acl", "setuser", "a b"], ["acl", "setuser", "app", "bo\r\ngus"]]) {
      const replies = await databaseReply({ endpoint: "127.0.0.1", port: redis.port }, ["auth", "admin"], command);
      // Valkey 9 shows one more pair of name and value.
      const expected = replies.replace(/\*14(.*)\$9\r\ndatabases\r\n\$\d+\r\n\w*\r\n/s, "*12$1");
      assert.equal(await databaseReply(record, ["auth", password], command), expected, command.join(" "));
    }
  });
});

describe("Local platform: the users of a database", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform()));
  afterEach(() => platform.close());

  const database = (id = "db-quickstart") => platform.database(id);
  /** The reply to the last of some commands. */
  const reply = async (...commands: Command[]) =>
    (await databaseReply(database().record, ...commands)).replace(/^(\+OK\r\n)(?=.)/s, "");
  const admin = (...words: Command) => reply(["AUTH", database().password], ["ACL", ...words]);
  const make = async (user = "app", ...password: string[]) =>
    (await admin("GENTOKEN", user, ...password)).split("\r\n")[1]!;
  const add = async (user = "app") => {
    const token = await make(user);
    assert.equal(await admin("SETUSER", user, "on", "+@all", "~*", `>${token}`), "+OK\r\n");
    return token;
  };
  const isAccepted = async (token: string, user = "app") => (await reply(["AUTH", user, token])) === "+OK\r\n";
  const remove = (token: string) => admin("SETUSER", "app", `!${sha256(token)}`);
  const pings = (socket: ReturnType<typeof connect>) => {
    socket.write(redisCommand("PING"));
    return once(socket, "data").then(String);
  };

  it("has several tokens at once, until each is removed by its hash", async () => {
    const [one, other] = [await add(), await add()];
    assert.notEqual(one, other);
    assert.deepEqual([await isAccepted(one), await isAccepted(other)], [true, true]);
    const hashes = [one, other].map((token) => `$64\r\n${sha256(token)}\r\n`).join("");
    assert.ok((await admin("GETUSER", "app")).includes(`passwords\r\n*2\r\n${hashes}`));
    assert.equal(await remove(one), "+OK\r\n");
    assert.deepEqual([await isAccepted(one), await isAccepted(other)], [false, true]);
    assert.match(
      await remove(one),
      /^-ERR .*: The password you are trying to remove from the user does not exist\r\n$/,
    );
  });

  it("takes only tokens that were made for the user, even before there was one", async () => {
    const token = await make();
    assert.equal(await admin("GETUSER", "app"), "$-1\r\n", "GENTOKEN makes no user");
    await make("other");
    for (const rule of [">password", `#${sha256(token)}`, "nopass", "+acl|getuser"]) {
      assert.match(await admin("SETUSER", "app", rule), /^-ERR Error in ACL SETUSER modifier /, rule);
    }
    assert.match(await admin("SETUSER", "other", `>${token}`), /^-ERR /);
    assert.match(await admin("SETUSER", "default", `>${await make("default")}`), /^-ERR .*'default' user/);
    assert.equal(await admin("GETUSER", "app"), "$-1\r\n", "nothing was changed");
    assert.equal(await admin("SETUSER", "app", "on", `>${token}`), "+OK\r\n");
    assert.ok(await isAccepted(token));
  });

  it("has tokens that wrap a given password, unless it is weak", async () => {
    const token = await make("app", "long-enough-password");
    await admin("SETUSER", "app", "on", `>${token}`);
    assert.deepEqual([await isAccepted(token), await isAccepted("long-enough-password")], [true, false]);
    assert.match(await admin("GENTOKEN", "app", "short"), /^-ERR .*weak/);
  });

  it("belongs to one database", async () => {
    const token = await add();
    const getsUser = (...auth: string[]) => reply(["AUTH", ...auth], ["ACL", "GETUSER", "app"]);
    assert.match(await getsUser(database().password), /^\*/);
    assert.match(await getsUser("app", token), /^\*/);
    assert.equal(await getsUser(database("db-sessions").password), "$-1\r\n");
    assert.equal(await reply(["AUTH", "app", token], ["ACL", "WHOAMI"]), "$3\r\napp\r\n");
  });

  it("is refused while it is off, and may do what its rules allow", async () => {
    const token = await add();
    const does = async (...words: Command) => (await reply(["AUTH", "app", token], words)).split(" ")[0]?.trim();
    for (const [rules, ping, acl] of [
      ["-@all", "-NOPERM", "-NOPERM"],
      ["+ping", "+PONG", "-NOPERM"],
      ["+@all -@dangerous", "+PONG", "-NOPERM"],
      ["-ping +acl", "-NOPERM", "$3"],
    ] as const) {
      await admin("SETUSER", "app", ...rules.split(" "));
      assert.deepEqual([await does("PING"), (await does("ACL", "WHOAMI"))?.split("\r\n")[0]], [ping, acl], rules);
    }
    await admin("SETUSER", "app", "off");
    assert.equal(await isAccepted(token), false);
  });

  it("keeps a session without its token, but not without the user", async () => {
    const token = await add();
    const socket = connect(Number(database().record.port), "127.0.0.1").setEncoding("utf8");
    socket.write(redisCommand("AUTH", "app", token));
    await once(socket, "data");
    await remove(token);
    assert.match(await pings(socket), /^\+PONG/);
    await admin("DELUSER", "app");
    assert.match(await pings(socket), /^-NOAUTH/);
    socket.destroy();
  });

  it("outlives a reset of the password, and is removed by reset()", async () => {
    const token = await add();
    await resetPassword(platform);
    assert.ok(await isAccepted(token));
    assert.equal(await admin("SAVE"), "+OK\r\n");
    await platform.reset();
    assert.equal(await isAccepted(token), false);
    assert.match(await admin("SETUSER", "app", `>${token}`), /^-ERR /);
  });
});
