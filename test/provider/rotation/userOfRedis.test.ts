import assert from "node:assert/strict";
import { mock } from "node:test";
import { hashOf } from "../../../provider/clients/aclReplies";

import { Folder } from "../../support/folder";
import { type RedisServer, session, startRedisServer, withRedis } from "../../support/redis";
import { RealResource } from "../../support/redisUser";

type Admin = Readonly<Record<string, unknown>>;
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
    return server;
  };
  const filed = (): string => folder.write(`${servers.length}.acl`, "user default on >admin ~* &* +@all\n");
  let redis: RedisServer;
  before(async () => (redis = await start({ aclFile: filed() })));
  beforeEach(async () => {
    await redis.acl("DELUSER", "app");
    await redis.acl("SETUSER", "app", "on", ">first", ">second", "~*", "+@all");
  });

  const adminOf = ({ port }: RedisServer, more: Admin = {}): Admin => {
    return { host: "127.0.0.1", port, tls: false, password: "admin", ...more };
  };
  const hashes = async (): Promise<string[]> => {
    const reply = (await redis.acl("GETUSER", "app")) as unknown[];
    return reply[reply.indexOf("passwords") + 1] as string[];
  };
  /** Whether the server accepts a password of the user. */
  const accepts = async (password: unknown, { port } = redis): Promise<boolean> => {
    return session(`redis://app:${String(password)}@127.0.0.1:${port}`).then(
      (client) => (client.disconnect(), true),
      () => false,
    );
  };
  const user = (): RealResource => new RealResource("AclUserRotation", settings);
  const inputsOf = (more: Admin = {}, server = redis) => ({ userName: "app", admin: adminOf(server), ...more });

  const removesAll = /the user has 2 passwords that Rekey did not make\. The first retirement removes all of them/;

  it("adds a password, proves it, and retires all former ones after a verification", async () => {
    const app = user();
    const inputs = inputsOf({ version: 1 });
    const { said: announced } = app.preview(inputs);
    assert.match(announced, /The passwords that were valid before stay valid until a CredentialVerification/);
    assert.match(announced, /The first retirement removes all passwords that the user had before its first rotation\./);
    const { said, failure } = await app.up(inputs);
    assert.equal(failure, undefined);
    assert.match(app.preview({ ...inputs, version: 2 }).said, /The former password stays valid until/);
    assert.match(said, removesAll);
    const { password, connectionUrl, restToken, restUrl, access } = app.outputs;
    assert.equal(connectionUrl, `redis://app:${String(password)}@127.0.0.1:${redis.port}`);
    assert.deepEqual([restToken, restUrl], [undefined, undefined]);
    for (const one of ["first", "second", password]) assert.ok(await accepts(one));

    const verification = new RealResource("CredentialVerification", settings);
    const kept = await verification.up({ access });
    assert.deepEqual([kept.failure, verification.outputs["formerRefused"]], [undefined, undefined]);
    assert.equal((await hashes()).length, 3);
    const retired = await verification.up({ access, retireFormerAfter: ["deployment"] });
    assert.equal(retired.failure, undefined);
    assert.deepEqual(await hashes(), [hashOf(String(password))]);
    assert.ok(await accepts(password));

    const next = await app.up(inputsOf({ version: 2 }));
    assert.equal(next.failure, undefined);
    assert.deepEqual(await hashes(), [hashOf(String(password)), hashOf(String(app.outputs["password"]))]);
    const { former } = JSON.parse(String(app.outputs["access"])) as { former: { username: string } };
    assert.equal(former.username, "app", "another user would refuse it in any case");
    const later = await verification.up({ access: app.outputs["access"], retireFormerAfter: ["deployment"] });
    assert.equal(later.failure, undefined);
    assert.equal(verification.outputs["formerRefused"], true);
    assert.equal(await accepts(password), false);
    assert.ok(await accepts(app.outputs["password"]));
  });

  it("refuses a replica, a node of a cluster and a Sentinel, and warns of replicas and of a server without an ACL file", async () => {
    const primary = await start();
    const replica = await start({ replicaOf: primary });
    const node = await start({ clusterFile: folder.path("nodes.conf") });
    const sentinel = await start({ sentinelFile: folder.write("sentinel.conf", "") });
    const refusals = { "is a replica": replica, "is a node of a cluster": node, "is a Sentinel": sentinel };
    for (const server of [primary, ...Object.values(refusals)]) await server.acl("SETUSER", "app", "on", ">first");
    for (const [says, server] of Object.entries(refusals)) {
      const { failure = "" } = await user().up(inputsOf({}, server));
      assert.match(failure, new RegExp(`the server ${says}`));
    }
    const { said, failure } = await user().up(inputsOf({}, primary));
    assert.equal(failure, undefined);
    assert.match(said, /has replicas \(1\)/);
    assert.match(said, /has no ACL file, so a restart undoes this change/);
  });

  it("keeps a password over a restart with an ACL file", async () => {
    const server = await start({ aclFile: filed() });
    await server.acl("SETUSER", "app", "on", ">first", "+@all");
    const app = user();
    const { said } = await app.up(inputsOf({}, server));
    assert.doesNotMatch(said, /restart/);
    await server.restart();
    assert.ok(await accepts(app.outputs["password"], server));
  });

  it("is not verified without its password, and retires the former one when its time is over", async () => {
    const encryptFor = ["age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv"];
    const app = user();
    const inputs = inputsOf({ saveCredentials: false, encryptFor, overlap: "24h" });
    assert.equal((await app.up(inputs)).failure, undefined);
    assert.equal(app.outputs["password"], undefined);
    const { access } = app.outputs;
    const verification = new RealResource("CredentialVerification", settings);
    const { failure = "" } = await verification.up({ access, retireFormerAfter: ["deployment"] });
    assert.match(failure, /is not saved, and a Redis shows only hashes.*Set overlap to a duration/s);
    assert.equal((await hashes()).length, 3);
    mock.timers.enable({ apis: ["Date"], now: Date.now() + 24 * 3_600_000 });
    try {
      assert.match(app.preview(inputs).said, /retired, if it is still valid, because its time is over/);
      assert.equal((await app.up(inputs)).failure, undefined);
    } finally {
      mock.timers.reset();
    }
    assert.equal((await hashes()).length, 1);
    assert.ok(app.outputs["formerRetiredAt"]);
  });
});
