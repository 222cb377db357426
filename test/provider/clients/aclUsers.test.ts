import assert from "node:assert/strict";
import { mock } from "node:test";
import { type SecureVersion } from "node:tls";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type AclUsers, type RedisAdmin } from "../../../provider/clients/aclUsers";
import { RequestError } from "../../../provider/domain/errors";
import { ConnectionError, Connections } from "../../../provider/platform/connections";
import { type Permission, type RequesterOptions } from "../../../provider/platform/http";
import { certificate, caFile } from "../../faults/certificates";
import { allThatShows, leaksOf } from "../../support/canaries";
import { freePort, startRedisServer, withRedis } from "../../support/redis";
import { type Meet, RedisGate } from "../../support/redisGate";
import { until } from "../../support/results";
import { clientOf, seen, withRealSockets } from "../platform/realSockets";

const canaries = { admin: "canary-admin-51d0", value: "canary-value-8ab2" };
const hash = hashOf(canaries.value);
const other = hashOf("other");
const password = { value: canaries.value, isToken: false };
const token = { value: canaries.value, isToken: true };

interface Given extends Partial<RedisAdmin> {
  readonly settings?: Parameters<typeof clientOf>[1];
  readonly permission?: Permission;
  readonly beforeSend?: RequesterOptions["beforeSend"];
}

/** The users of the server at a port of this machine. */
function usersAt(port: number, { settings, permission = "resets", beforeSend, ...admin }: Given = {}): AclUsers {
  const all = { deadlineSeconds: "30", ...settings };
  const client = clientOf("http://127.0.0.1:1", all, beforeSend).during({ permission });
  return client.aclUsers({ host: "127.0.0.1", port, tls: false, password: canaries.admin, ...admin });
}

/** The error with which it fails, which shows no secret. */
async function errorOf(failing: Promise<unknown>): Promise<RequestError> {
  const error: unknown = await failing.then(
    () => assert.fail("it did not fail"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RequestError, String(error));
  assert.deepEqual(leaksOf(allThatShows(error), { ...canaries, hash, other }), []);
  return error;
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}`;
const list = (...items: readonly string[]): string => [`*${items.length}`, ...items].join("\r\n");
/** The reply to `ACL GETUSER`, without its last line break. */
function userReply(hashes: readonly string[], flags: readonly string[] = ["on"]): string {
  const fields = { flags: list(...flags.map(bulk)), passwords: list(...hashes.map(bulk)), commands: bulk("+@all") };
  return list(...Object.entries(fields).flatMap(([name, value]) => [bulk(name), value]));
}

const reads: Readonly<Record<string, (users: AclUsers) => Promise<unknown>>> = {
  "ACL GETUSER": (users) => users.read("app"),
  INFO: (users) => users.readServer(),
};
const changes: Readonly<Record<string, (users: AclUsers) => Promise<unknown>>> = {
  "ACL GENTOKEN": (users) => users.make("app"),
  "ACL SETUSER": (users) => users.add("app", token),
  "ACL SETUSER to remove": (users) => users.remove("app", [hash]),
  "ACL SAVE": (users) => users.save(),
};
const isRead = (command: string): boolean => command.startsWith("ACL GETUSER");

describe("clients: the users of a Redis", () => {
  const { closes } = withRealSockets();

  /** A server that accepts the administrator, and replies so to other commands. */
  const startRedis = async (meet: Meet) =>
    closes(
      await RedisGate.alone((command, point) => (command.startsWith("AUTH") ? { reply: "+OK" } : meet(command, point))),
    );
  const replying =
    (reply: string): Meet =>
    () => ({ reply });
  const ok = replying("+OK");

  describe("on the wire", () => {
    it("a removal is followed by a read", async () => {
      const server = await startRedis((command) => ({ reply: isRead(command) ? userReply([other]) : "+OK" }));
      await usersAt(server.port).remove("app", [hash]);
      assert.deepEqual(server.sent(/^ACL/), [`ACL SETUSER app !${hash}`, "ACL GETUSER app"]);
      assert.equal(server.connections, 2);
    });

    it("not more commands run at a time than requests may", async () => {
      let replies: (() => void) | undefined;
      const waits = new Promise<void>((resolve) => (replies = resolve));
      const server = await startRedis(async () => {
        await waits;
        return { reply: "$-1" };
      });
      const users = usersAt(server.port, { settings: { maxConcurrency: "1" } });
      const both = [users.read("app"), users.read("app")];
      await until(() => server.sent(/^ACL/).length > 0);
      assert.equal(server.connections, 1);
      replies?.();
      assert.deepEqual(await Promise.all(both), [undefined, undefined]);
      assert.equal(server.connections, 2);
    });
  });

  describe("of the permission and the engine", () => {
    for (const [what, run] of Object.entries(changes)) {
      it(`${what} needs the permission to reset, and asks for the engine when it is ready to be sent`, async () => {
        const server = await startRedis(ok);
        for (const permission of ["nothing", "limits"] as const) {
          const { delivery, code } = await errorOf(run(usersAt(server.port, { permission })));
          assert.deepEqual([delivery, code], ["not sent", "REKEY_INTERNAL"]);
        }
        assert.equal(server.connections, 0);
        const asked: (readonly [string, number])[] = [];
        const beforeSend: Given["beforeSend"] = async (facts) => {
          asked.push([facts.method, server.commands.length]);
          throw new RequestError("not sent", facts, { happened: "the engine is gone", advice: "Run again." });
        };
        const { delivery, message } = await errorOf(run(usersAt(server.port, { beforeSend })));
        assert.equal(delivery, "not sent");
        assert.match(message, /the engine is gone/);
        assert.deepEqual(asked, [[what.replace(" to remove", ""), 1]]);
        assert.deepEqual(server.commands, [`AUTH ${canaries.admin}`]);
      });
    }

    it("reads need neither", async () => {
      const server = await startRedis((command) => ({ reply: command === "INFO" ? bulk("") : "$-1" }));
      const beforeSend = async (): Promise<void> => assert.fail("it asked");
      for (const run of Object.values(reads)) await run(usersAt(server.port, { permission: "nothing", beforeSend }));
    });

    it("a change whose connection is lost while it asks is not sent", async () => {
      const server = await startRedis(ok);
      const beforeSend = async (): Promise<void> => {
        server.cut();
        await seen();
      };
      const { delivery, message } = await errorOf(usersAt(server.port, { beforeSend }).add("app", password));
      assert.equal(delivery, "not sent");
      assert.match(message, /It was not added\./);
      assert.deepEqual(server.commands, [`AUTH ${canaries.admin}`]);
    });
  });

  describe("that fails", () => {
    it("is rejected by a server that repeats what it was sent, which is not shown", async () => {
      const server = await startRedis(replying(`-ERR odd ${canaries.admin} ${canaries.value} ${hash} ${other}`));
      for (const [what, run] of Object.entries({ ...reads, ...changes })) {
        const { delivery, message } = await errorOf(run(usersAt(server.port)));
        assert.equal(delivery, "rejected", what);
        assert.match(message, /Fix what the server reports/, what);
      }
    });

    it("is not sent without a connection", async () => {
      const { delivery, message } = await errorOf(usersAt(await freePort()).add("app", password));
      assert.equal(delivery, "not sent");
      assert.match(
        message,
        /^Could not add a password to user "app": the connection failed \(ECONNREFUSED\) \(ACL SETUSER redis:\/\/127\.0\.0\.1:\d+\)\. It was not added\. Check that the database is running and that its address is correct/,
      );
    });

    const withTls: Given = { tls: true, settings: { caFile } };
    const certificates: Readonly<Record<string, RegExp>> = {
      "TLSv1.3":
        /the server demands a client certificate.*Rekey does not support client certificates: .*tls-auth-clients/,
      "TLSv1.2": /the TLS connection failed \(.*HANDSHAKE_FAILURE\).*demands no client certificate/,
    };
    for (const [version, says] of Object.entries(certificates)) {
      it(`is not sent to a server that demands a client certificate, with ${version}`, async () => {
        const maxVersion = version as SecureVersion;
        const demanding = { ...certificate("good"), requestCert: true, maxVersion };
        const server = closes(await RedisGate.alone(ok, demanding));
        const { delivery, message } = await errorOf(usersAt(server.port, withTls).add("app", password));
        assert.equal(delivery, "not sent");
        assert.match(message, says);
        assert.deepEqual(server.commands, []);
      });
    }

    it("has the time of one connection, if that cannot be opened", async () => {
      const limits: number[] = [];
      mock.method(Connections.prototype, "open", async (_url: URL, { timeoutMs }: { readonly timeoutMs: number }) => {
        limits.push(timeoutMs);
        throw new ConnectionError({ code: "ETIMEDOUT" });
      });
      try {
        await errorOf(usersAt(1, { settings: { deadlineSeconds: "60" } }).read("app"));
      } finally {
        mock.restoreAll();
      }
      assert.deepEqual(limits, [10_000]);
    });

    const unreadable: readonly (readonly [command: string, reply: string])[] = [
      ["ACL GETUSER", "+OK"],
      ["ACL GETUSER", list()],
      ["ACL GETUSER", list(bulk("flags"), list(bulk("on")))],
      ["ACL GETUSER", list(bulk("flags"), bulk("on"), bulk("passwords"), list())],
      ["ACL GETUSER", userReply([canaries.value])],
      ["INFO", ":1"],
      ["ACL SETUSER", ":1"],
      ["ACL SAVE", ":1"],
    ];
    for (const [command, reply] of unreadable) {
      it(`is not understood: ${JSON.stringify(reply)} in reply to ${command}`, async () => {
        const server = await startRedis(replying(reply));
        const run = { ...reads, ...changes }[command] ?? assert.fail();
        const { delivery, message } = await errorOf(run(usersAt(server.port)));
        const isLost = ["ACL SETUSER", "ACL SAVE"].includes(command);
        assert.equal(delivery, isLost ? "maybe applied" : "responded");
        assert.match(message, /the server responded, but its reply cannot be read/);
      });
    }
  });

  it("know the made and the given secrets, whichever error is shown later", async () => {
    const value = `${canaries.value}-as-a-token`;
    const server = await startRedis(replying(bulk(value)));
    const client = clientOf("http://127.0.0.1:1").during({ permission: "resets" });
    const users = client.aclUsers({ host: "127.0.0.1", port: server.port, tls: false, password: canaries.admin });
    assert.deepEqual(await users.make("app"), { value, isToken: true });
    assert.equal(client.secrets.redact(`${canaries.admin} ${value}`), "… …");
  });

  it("may be at a replica, as later versions may call it", async () => {
    const server = await startRedis(replying(bulk("role:replica")));
    const found = await usersAt(server.port).readServer();
    assert.deepEqual(found, { isReplica: true, isCluster: false, isSentinel: false, replicas: 0 });
  });

  withRedis("of a real Redis", () => {
    it("are not made by a removal, and have an added password once, however often it is added", async () => {
      const redis = closes(await startRedisServer());
      const users = usersAt(redis.port, { password: "admin" });
      await users.remove("nobody", [hash]);
      assert.equal(await users.read("nobody"), undefined);
      await redis.acl("SETUSER", "app", "on", ">x", ">y", ">z");
      await users.remove("app", ["gone", "y", "z"].map(hashOf));
      const made = await users.make("app");
      assert.match(made.value, /^[\w-]{43}$/);
      for (let nth = 1; nth <= 2; nth++) await users.add("app", made);
      assert.deepEqual((await users.read("app"))?.hashes, [hashOf("x"), hashOf(made.value)]);
    });
  });
});
