import assert from "node:assert/strict";
import { Folder } from "../../../../support/folder";
import { type RedisServer, startRedisServer, withRedis } from "../../../../support/redis";
import { RealResource } from "./redisUser";

const settings = { deadlineSeconds: "2" };

withRedis("the rotation of a user of a real Redis", () => {
  const folder = new Folder();
  const servers: RedisServer[] = [];
  after(async () => {
    await Promise.all(servers.map((server) => server.close()));
    folder.remove();
  });
  const start = async (options: Parameters<typeof startRedisServer>[0] = {}): Promise<RedisServer> => {
    const server = await startRedisServer(options);
    servers.push(server);
    await server.acl("SETUSER", "app", "on", ">first");
    return server;
  };
  const inputsOf = ({ port }: RedisServer) => {
    return { userName: "app", admin: { host: "127.0.0.1", port, tls: false, password: "admin" } };
  };

  it("refuses a replica, a node of a cluster and a Sentinel, and warns of replicas and of a server without an ACL file", async () => {
    const primary = await start();
    const refusals = {
      "is a replica": await start({ replicaOf: primary }),
      "is a node of a cluster": await start({ clusterFile: folder.path("nodes.conf") }),
      "is a Sentinel": await start({ sentinelFile: folder.write("sentinel.conf", "") }),
    };
    for (const [says, server] of Object.entries(refusals)) {
      const { failure = "" } = await new RealResource("AclUserRotation", settings).up(inputsOf(server));
      assert.match(failure, new RegExp(`the server ${says}`));
    }
    const { said, failure } = await new RealResource("AclUserRotation", settings).up(inputsOf(primary));
    assert.equal(failure, undefined);
    assert.match(said, /has replicas \(1\)/);
    assert.match(said, /has no ACL file, so a restart undoes this change/);
  });

  it("says in each run how many passwords it does not know, until a read shows none", async () => {
    const server = await start();
    const inputs = { ...inputsOf(server), overlap: "none" };
    const app = new RealResource("AclUserRotation", settings);
    await app.up(inputs);
    for (const [words, count, mustRead] of [
      [">intruder", 1, undefined],
      ["<intruder", 0, undefined],
      [`<${String(app.outputs["password"])}`, 0, true],
    ] as const) {
      await server.acl("SETUSER", "app", words);
      const { said } = await app.refresh();
      assert.deepEqual([app.outputs["unknownPasswords"], app.outputs["mustRead"]], [count, mustRead]);
      assert.equal(/has 1 password that Rekey does not know/.test(said), count === 1);
      // Without a read.
      assert.equal(app.preview(inputs).said.includes(said), !mustRead);
    }
  });
});
