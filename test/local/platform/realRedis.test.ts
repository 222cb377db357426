import assert from "node:assert/strict";
import { Folder } from "../../support/folder";
import { type RedisServer, session, startRedisServer, withRedis } from "../../support/redis";

// What the tests of users rely on, whichever server REKEY_REDIS names.
withRedis("The Redis of the tests", () => {
  const folder = new Folder();
  const started: RedisServer[] = [];
  const start = async (options?: Parameters<typeof startRedisServer>[0]) => {
    const server = await startRedisServer(options);
    started.push(server);
    return server;
  };
  afterEach(() => Promise.all(started.splice(0).map((server) => server.close())));
  after(() => folder.remove());

  const isUser = async ({ port }: RedisServer) => {
    const client = await session(`redis://app:secret@127.0.0.1:${port}`).catch((error: Error) => error);
    if (client instanceof Error) return /WRONGPASS/.test(client.message) ? false : assert.fail(client);
    client.disconnect();
    return true;
  };
  const addUser = ({ acl }: RedisServer) => acl("SETUSER", "app", "on", ">secret", "+@all");

  it("forgets its users at a restart, unless they are saved in its ACL file", async () => {
    const [plain, filed] = [await start(), await start({ aclFile: folder.path("users.acl") })];
    for (const server of [plain, filed]) {
      assert.equal(await addUser(server), "OK");
      assert.equal(await isUser(server), true);
    }
    await assert.rejects(plain.acl("SAVE"), /not configured to use an ACL file/);
    assert.equal(await filed.acl("SAVE"), "OK");
    await Promise.all([plain.restart(), filed.restart()]);
    assert.deepEqual([await isUser(plain), await isUser(filed)], [false, true]);
  });

  it("does not replicate its users", async () => {
    const original = await start();
    const replica = await start({ replicaOf: original });
    assert.match(String(await replica.call("INFO", "replication")), /^role:slave/m);
    assert.match(String(await original.call("INFO", "replication")), /^connected_slaves:1/m);
    await addUser(original);
    await original.call("WAIT", "1", "0");
    assert.deepEqual([await isUser(original), await isUser(replica)], [true, false]);
  });
});
