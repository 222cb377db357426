import assert from "node:assert/strict";
import { Folder } from "../../support/folder";
import { type RedisServer, startRedisServer, withRedis } from "../../support/redis";
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

  it("is not verified without its password", async () => {
    const encryptFor = ["age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv"];
    const app = new RealResource("AclUserRotation", settings);
    await app.up({ ...inputsOf(await start()), saveCredentials: false, encryptFor, overlap: "24h" });
    const verification = new RealResource("CredentialVerification", settings);
    const { failure, said } = await verification.up({ access: app.outputs["access"] });
    assert.deepEqual([failure, verification.outputs["verified"]], [undefined, false]);
    assert.match(said, /Not verified, because no current credential is known: user "app" of/);
  });
});
