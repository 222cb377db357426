import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Folder } from "../../../support/folder";
import { type RedisServer, startRedisServer, withRedis } from "../../../support/redis";
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

  it("says in each run which passwords it does not know, until a read shows none, and in plain text what a refresh finds", async () => {
    const server = await start();
    const inputs = { ...inputsOf(server), overlap: "none" };
    const app = new RealResource("AclUserRotation", settings);
    await app.up(inputs);
    const found = async () => {
      const { said } = await app.refresh();
      return [app.outputs["unknownPasswords"], app.outputs["mustRead"], said];
    };
    assert.deepEqual(await found(), [0, undefined, ""]);
    await server.acl("SETUSER", "app", ">intruder");
    const [count, , said] = await found();
    const password = String(app.outputs["password"]);
    const [one, own] = ["intruder", password].map((text) =>
      createHash("sha256").update(text).digest("hex").slice(0, 12),
    );
    assert.equal(count, 1);
    assert.match(
      String(said),
      new RegExp(`has 1 password that .*what begins with ${one}\\. Keep the current one, ${own}\\.`),
    );
    const { changes, said: saidLater } = app.preview(inputs);
    assert.deepEqual([changes, saidLater], [false, said], "without a read");
    await server.acl("SETUSER", "app", "<intruder");
    assert.deepEqual(await found(), [0, undefined, ""]);
    assert.equal(app.preview(inputs).said, "");
    await server.acl("SETUSER", "app", `<${password}`);
    assert.deepEqual((await found()).slice(0, 2), [0, true]);
    assert.match((await app.up(inputs)).failure ?? "", /does not have the current password any more/);
  });
});
