import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { mock } from "node:test";
import { type SecureVersion } from "node:tls";
import { type AclUser, hashOf } from "../../../provider/clients/aclReplies";
import { type AclUsers, type RedisAdmin } from "../../../provider/clients/aclUsers";
import { RequestError } from "../../../provider/domain/errors";
import { ConnectionError, Connections } from "../../../provider/platform/connections";
import { type Permission, type RequesterOptions } from "../../../provider/platform/http";
import { certificate, caFile } from "../../faults/certificates";
import { allThatShows, leaksOf } from "../../support/canaries";
import { FakeRedis, type RedisReply } from "../../support/fakeRedis";
import { Folder } from "../../support/folder";
import { freePort, session, startRedisServer, withRedis } from "../../support/redis";
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
  const all = { deadlineSeconds: "5", ...settings };
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
  "ACL SETUSER to remove": (users) => users.remove("app", hash),
  "ACL SAVE": (users) => users.save(),
};
const all = Object.entries({ ...reads, ...changes });

describe("clients: the users of a Redis", () => {
  const { closes, startProxy, startServer } = withRealSockets();

  /** A server that accepts the administrator, and replies to other commands. */
  const fake = async (reply: RedisReply, tls?: Parameters<typeof certificate>[0]) =>
    closes(
      await FakeRedis.start(
        (command, socket) => (command[0] === "AUTH" ? "+OK" : reply(command, socket)),
        tls && certificate(tls),
      ),
    );

  describe("on the wire", () => {
    const ok: RedisReply = () => "+OK";
    const rows: Readonly<
      Record<string, { run: (users: AclUsers) => Promise<unknown>; sends: string[]; reply?: string }>
    > = {
      "a read": { run: (users) => users.read("app"), sends: ["ACL", "GETUSER", "app"], reply: "$-1" },
      "a read of the server": { run: (users) => users.readServer(), sends: ["INFO"], reply: bulk("role:master") },
      "a password": { run: (users) => users.add("app", password), sends: ["ACL", "SETUSER", "app", `#${hash}`] },
      "a token": { run: (users) => users.add("app", token), sends: ["ACL", "SETUSER", "app", `>${canaries.value}`] },
      "a token to be made": {
        run: (users) => users.make("app"),
        sends: ["ACL", "GENTOKEN", "app"],
        reply: bulk("t".repeat(20)),
      },
      "a save": { run: (users) => users.save(), sends: ["ACL", "SAVE"] },
    };
    for (const [what, { run, sends, reply = "+OK" }] of Object.entries(rows)) {
      it(`there is AUTH and then ${what}, on a separate connection`, async () => {
        const server = await fake(() => reply);
        for (const [connections, username] of [undefined, "ops"].entries()) {
          server.commands.length = 0;
          await run(usersAt(server.port, { username }));
          const name = username === undefined ? [] : [username];
          assert.deepEqual(server.commands, [["AUTH", ...name, canaries.admin], sends]);
          assert.equal(server.connections, connections + 1);
        }
      });
    }

    it("a removal is in lower case, and followed by a read", async () => {
      const server = await fake(([, command]) => (command === "GETUSER" ? userReply([other]) : "+OK"));
      await usersAt(server.port).remove("app", hash.toUpperCase());
      const sent = server.commands.filter(([name]) => name !== "AUTH").map((words) => words.slice(1));
      assert.deepEqual(sent, [
        ["SETUSER", "app", `!${hash}`],
        ["GETUSER", "app"],
      ]);
      assert.equal(server.connections, 2);
    });

    it("everything goes through the proxy with TLS, and the proxy sees no secret", async () => {
      const server = await fake(ok, "good");
      const proxy = await startProxy();
      const settings = { caFile, proxy: `http://127.0.0.1:${proxy.port}` };
      const users = usersAt(server.port, { tls: true, settings });
      await users.add("app", token);
      assert.equal(proxy.heads.length, 1);
      assert.deepEqual(leaksOf(proxy.heads.join(), canaries), []);
    });

    it("not more commands run at a time than requests may", async () => {
      const waiting: Socket[] = [];
      const server = await fake((_, socket) => void waiting.push(socket));
      const users = usersAt(server.port, { settings: { maxConcurrency: "1" } });
      const both = [users.read("app"), users.read("app")];
      await until(() => waiting.length > 0);
      assert.equal(server.connections, 1);
      server.reply = (command) => (command[0] === "AUTH" ? "+OK" : "$-1");
      waiting[0]?.write("$-1\r\n");
      assert.deepEqual(await Promise.all(both), [undefined, undefined]);
      assert.equal(server.connections, 2);
    });
  });

  describe("of the permission and the engine", () => {
    for (const [what, run] of Object.entries(changes)) {
      it(`${what} needs the permission to reset`, async () => {
        const server = await fake(() => "+OK");
        for (const permission of ["nothing", "limits"] as const) {
          const { delivery, code } = await errorOf(run(usersAt(server.port, { permission })));
          assert.deepEqual([delivery, code], ["not sent", "REKEY_INTERNAL"]);
        }
        assert.equal(server.connections, 0);
      });

      it(`${what} asks for the engine when it is ready to be sent`, async () => {
        const server = await fake(() => "+OK");
        const asked: (readonly [string, number])[] = [];
        const beforeSend: Given["beforeSend"] = async (facts) => {
          asked.push([facts.method, server.commands.length]);
          throw new RequestError("not sent", facts, { happened: "the engine is gone", advice: "Run again." });
        };
        const { delivery, message } = await errorOf(run(usersAt(server.port, { beforeSend })));
        assert.equal(delivery, "not sent");
        assert.match(message, /the engine is gone/);
        assert.deepEqual(asked, [[what.replace(" to remove", ""), 1]]);
        assert.deepEqual(server.commands, [["AUTH", canaries.admin]]);
      });
    }

    it("reads need neither", async () => {
      const server = await fake(([name]) => (name === "INFO" ? bulk("") : "$-1"));
      const beforeSend = async (): Promise<void> => assert.fail("it asked");
      for (const run of Object.values(reads)) await run(usersAt(server.port, { permission: "nothing", beforeSend }));
    });

    it("a change whose connection is lost while it asks is not sent", async () => {
      const server = await fake(() => "+OK");
      const beforeSend = async (): Promise<void> => {
        server.cut();
        await seen();
      };
      const { delivery, message } = await errorOf(usersAt(server.port, { beforeSend }).add("app", password));
      assert.equal(delivery, "not sent");
      assert.match(message, /It was not added\./);
      assert.deepEqual(server.commands, [["AUTH", canaries.admin]]);
    });
  });

  describe("that fails", () => {
    const soon: Given = { settings: { deadlineSeconds: "1" } };
    interface Row {
      readonly reply: RedisReply;
      readonly says: RegExp;
    }
    const line =
      (text: string): RedisReply =>
      () =>
        text;
    /** What each error of the server repeats. */
    const echo = `${canaries.admin} ${canaries.value} ${hash} ${other}`;
    const rejections: Readonly<Record<string, RegExp>> = {
      NOPERM: /Permit the admin the command/,
      NOAUTH: /Check the admin's name and password/,
      READONLY: /use the address of its primary/,
      "MOVED 1 10.0.0.1:6379": /node of a cluster/,
      LOADING: /Wait until the server is ready/,
      "ERR odd": /Fix what the server reports/,
    };
    const permissionIsOptional = ["INFO", "ACL SAVE", "ACL GENTOKEN"];
    for (const [text, advice] of Object.entries(rejections)) {
      it(`is rejected by a server that replies -${text}`, async () => {
        const server = await fake(line(`-${text} ${echo}`));
        for (const [what, run] of all) {
          if (text === "NOPERM" && permissionIsOptional.includes(what)) continue;
          // What it lists then cannot be read either.
          const { delivery, code, message } = await errorOf(run(usersAt(server.port)));
          assert.deepEqual([delivery, code], ["rejected", "REKEY_REJECTED"], what);
          assert.match(message, advice, what);
          assert.match(message, /Nothing was changed|was not removed|It was not added|a restart .* undoes/, what);
        }
      });
    }

    const lost: Readonly<Record<string, Row>> = {
      "never replies": { reply: () => undefined, says: /did not respond in time/ },
      "stops in its reply": { reply: (_, socket) => void socket.write("$5\r\nab"), says: /did not respond in time/ },
      "closes the connection": { reply: (_, socket) => void socket.end(), says: /closed the connection/ },
      "resets the connection": { reply: (_, socket) => void socket.resetAndDestroy(), says: /was lost \(ECONNRESET\)/ },
      "replies in RESP3": { reply: line("%1\r\n+flags\r\n+on"), says: /is not that of a Redis/ },
      "replies without end": {
        reply: (_, socket) => void socket.write(`+${"o".repeat(2 ** 20)}`),
        says: /is not that of a Redis/,
      },
    };
    for (const [what, { reply, says }] of Object.entries(lost)) {
      it(`may have been applied by a server that ${what}, if it changes a user`, async () => {
        const server = await fake(reply);
        const fails = async ([name, run]: (typeof all)[number]): Promise<void> => {
          const { delivery, code, message } = await errorOf(run(usersAt(server.port, soon)));
          const isKnown = ["ACL GETUSER", "INFO", "ACL GENTOKEN"].includes(name);
          const expected = isKnown ? ["not sent", "REKEY_NOT_READ"] : ["maybe applied", "REKEY_UNCONFIRMED"];
          assert.deepEqual([delivery, code], expected, name);
          assert.match(message, says, name);
          const changed = isKnown ? /Nothing was changed/ : /It may have been (added|removed)|a restart .* may undo/;
          assert.match(message, changed, name);
        };
        await Promise.all(all.map(fails));
        const sent = server.commands.filter(([name]) => name !== "AUTH");
        assert.equal(sent.filter(([, name]) => name === "SETUSER").length, 2, "each change is sent once");
      });
    }

    const refusals: Readonly<Record<string, Row>> = {
      "refuses the administrator": {
        reply: line(`-WRONGPASS invalid ${echo}`),
        says: /the server refused the admin: .*Check the admin's name and password/,
      },
      "is loading": {
        reply: line(`-LOADING ${echo}`),
        says: /admin could not log in: the server responded to AUTH with an error/,
      },
      "never replies to AUTH": { reply: () => undefined, says: /did not respond in time/ },
      "closes after AUTH": { reply: (_, socket) => void socket.end(), says: /closed the connection/ },
      "is not a Redis": { reply: line("HTTP/1.1 400 Bad Request"), says: /AUTH is not that of a Redis/ },
    };
    for (const [what, { reply, says }] of Object.entries(refusals)) {
      it(`is not sent to a server that ${what}`, async () => {
        const server = closes(await FakeRedis.start(reply));
        const fails = async ([, run]: (typeof all)[number]): Promise<void> => {
          const { delivery, code, message } = await errorOf(run(usersAt(server.port, soon)));
          assert.deepEqual([delivery, code], ["not sent", "REKEY_NOT_SENT"]);
          assert.match(message, says);
        };
        await Promise.all(all.map(fails));
        assert.ok(server.commands.every(([name]) => name === "AUTH"));
      });
    }

    it("is not sent without a connection", async () => {
      const { delivery, message } = await errorOf(usersAt(await freePort()).add("app", password));
      assert.equal(delivery, "not sent");
      assert.match(
        message,
        /^Could not add a password to user "app": the connection failed \(ECONNREFUSED\) \(ACL SETUSER redis:\/\/127\.0\.0\.1:\d+\)\. It was not added\. Check that the database is running and that its address is correct/,
      );
    });

    const withTls: Given = { tls: true, settings: { caFile, deadlineSeconds: "1" } };
    const certificates: Readonly<Record<string, RegExp>> = {
      "TLSv1.3":
        /the server demands a client certificate.*Rekey does not support client certificates: .*tls-auth-clients/,
      "TLSv1.2": /the TLS connection failed \(.*HANDSHAKE_FAILURE\).*demands no client certificate/,
    };
    for (const [version, says] of Object.entries(certificates)) {
      it(`is not sent to a server that demands a client certificate, with ${version}`, async () => {
        const maxVersion = version as SecureVersion;
        const server = closes(
          await FakeRedis.start(() => "+OK", { ...certificate("good"), requestCert: true, maxVersion }),
        );
        const { delivery, message } = await errorOf(usersAt(server.port, withTls).add("app", password));
        assert.equal(delivery, "not sent");
        assert.match(message, says);
        assert.equal(server.received, "");
      });
    }

    it("is not sent to a server without TLS, which has the time of one connection", async () => {
      const server = await startServer({ accept: (socket) => void socket.resume() });
      const { delivery, message } = await errorOf(usersAt(server.port, withTls).add("app", password));
      assert.equal(delivery, "not sent");
      assert.match(message, /but does not seem to speak TLS.*It was not added.*on this machine.*set tls: false/);
      const limits: number[] = [];
      mock.method(Connections.prototype, "open", async (_url: URL, { timeoutMs }: { readonly timeoutMs: number }) => {
        limits.push(timeoutMs);
        throw new ConnectionError({ code: "ETIMEDOUT" });
      });
      try {
        await errorOf(usersAt(server.port, { settings: { deadlineSeconds: "60" } }).read("app"));
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
        const server = await fake(line(reply));
        const run = { ...reads, ...changes }[command] ?? assert.fail();
        const { delivery, message } = await errorOf(run(usersAt(server.port)));
        const isLost = ["ACL SETUSER", "ACL SAVE"].includes(command);
        assert.equal(delivery, isLost ? "maybe applied" : "responded");
        assert.match(message, /the server responded, but its reply cannot be read/);
      });
    }
  });

  describe("a removal is decided by what is listed afterwards", () => {
    const missing = "-ERR Error in ACL SETUSER modifier '!x': The password you are trying to remove does not exist";
    const lists = userReply([hash]);
    const listsAnother = userReply([other]);
    const inDoubt = /maybe applied: .*does not show that the password is gone.*It may have been removed/;
    const rows: Readonly<Record<string, { change: string; read: string; fails?: RegExp }>> = {
      "it succeeded": { change: "+OK", read: listsAnother },
      "it succeeded, and the user was deleted": { change: "+OK", read: "$-1" },
      "there was no such password": { change: missing, read: listsAnother },
      "there was no such password, and the user cannot be read": { change: missing, read: "-ERR no" },
      "its reply cannot be read": { change: ":1", read: listsAnother },
      "it succeeded, but the password is listed": {
        change: "+OK",
        read: userReply([hash.toUpperCase()]),
        fails: inDoubt,
      },
      "it succeeded, but the user cannot be read": { change: "+OK", read: "-ERR no", fails: inDoubt },
      "it was rejected, and the password is listed": {
        change: "-NOPERM no",
        read: lists,
        fails: /rejected: .*NOPERM.*It was not removed/,
      },
      "its reply cannot be read, and the password is listed": {
        change: ":1",
        read: lists,
        fails: /maybe applied: .*cannot be read.*It may have been removed/,
      },
    };
    for (const [what, { change, read, fails }] of Object.entries(rows)) {
      it(`where ${what}`, async () => {
        const server = await fake(([, command]) => (command === "GETUSER" ? read : change));
        const removal = usersAt(server.port).remove("app", hash);
        if (!fails) return removal;
        const { delivery, message } = await errorOf(removal);
        assert.match(`${delivery}: ${message}`, fails);
      });
    }

    it("where its reply was lost", async () => {
      const server = await fake(([, command], socket) =>
        command === "GETUSER" ? userReply([other]) : void socket.destroy(),
      );
      await usersAt(server.port).remove("app", hash);
    });
  });

  it("know the made and the given secrets, whichever error is shown later", async () => {
    const value = `${canaries.value}-as-a-token`;
    const server = await fake(() => bulk(value));
    const client = clientOf("http://127.0.0.1:1").during({ permission: "resets" });
    const users = client.aclUsers({ host: "127.0.0.1", port: server.port, tls: false, password: canaries.admin });
    assert.deepEqual(await users.make("app"), { value, isToken: true });
    assert.equal(client.secrets.redact(`${canaries.admin} ${value}`), "… …");
  });

  withRedis("of a real Redis", () => {
    const folder = new Folder();
    after(() => folder.remove());
    const start = async (options: Parameters<typeof startRedisServer>[0] = {}) =>
      closes(await startRedisServer(options));

    /** Runs commands of its administrator. */
    async function asAdmin({ url }: { readonly url: string }, ...commands: readonly (readonly string[])[]) {
      const client = await session(url);
      for (const [name = "", ...args] of commands) await client.call(name, ...args);
      client.disconnect();
    }

    it("has two passwords until one is removed", async () => {
      const redis = await start();
      await asAdmin(redis, ["acl", "setuser", "app", "on", ">first password", "~*", "+@all"]);
      const users = usersAt(redis.port, { password: "admin" });
      const first = hashOf("first password");
      const before: AclUser = { isOn: true, hasNoPassword: false, hashes: [first] };
      assert.deepEqual(await users.read("app"), before);

      const made = await users.make("app");
      assert.equal(made.isToken, false);
      assert.match(made.value, /^[\w-]{43}$/);
      await users.add("app", made);
      await users.add("app", made);
      assert.deepEqual(await users.read("app"), { ...before, hashes: [first, hashOf(made.value)] });
      const remaining = { ...before, hashes: [hashOf(made.value)] };
      for (const time of ["once", "again"]) {
        await users.remove("app", first);
        assert.deepEqual(await users.read("app"), remaining, time);
      }
      assert.equal(await users.save(), "no file");
    });

    it("has users that are off, that need no password, or that do not exist", async () => {
      const redis = await start();
      await asAdmin(redis, ["acl", "setuser", "idle", ">x"], ["acl", "setuser", "open", "on", "nopass"]);
      const users = usersAt(redis.port, { password: "admin" });
      assert.deepEqual(await users.read("idle"), { isOn: false, hasNoPassword: false, hashes: [hashOf("x")] });
      assert.deepEqual(await users.read("open"), { isOn: true, hasNoPassword: true, hashes: [] });
      assert.equal(await users.read("nobody"), undefined);
      await users.remove("nobody", hash);
      assert.equal(await users.read("nobody"), undefined, "a removal makes no user");
    });

    it("has an administrator without permissions", async () => {
      const redis = await start();
      await asAdmin(redis, ["acl", "setuser", "ops", "on", ">ops", "-@all", "+acl|getuser"]);
      const users = usersAt(redis.port, { username: "ops", password: "ops" });
      assert.equal(await users.read("app"), undefined);
      assert.equal(await users.readServer(), "not permitted");
      assert.equal(await users.save(), "not permitted");
      const { delivery, message } = await errorOf(users.add("app", password));
      assert.equal(delivery, "rejected");
      assert.match(message, /NOPERM .*Permit the admin the command \(\+acl\|setuser\)/);
      assert.equal(await usersAt(redis.port, { password: "admin" }).read("app"), undefined);
    });

    it("saves its users in its file", async () => {
      const redis = await start({ aclFile: folder.write("users.acl", "user default on >admin ~* &* +@all\n") });
      await asAdmin(redis, ["acl", "setuser", "app", "on", ">x"]);
      const users = usersAt(redis.port, { password: "admin" });
      await users.add("app", password);
      assert.equal(await users.save(), "saved");
      await asAdmin(redis, ["acl", "load"]);
      assert.deepEqual((await users.read("app"))?.hashes, [hashOf("x"), hash]);
    });

    it("is a primary, a replica or a node of a cluster", async () => {
      const facts = { isReplica: false, isCluster: false, isSentinel: false, replicas: 0 };
      const primary = await start();
      const users = usersAt(primary.port, { password: "admin" });
      assert.deepEqual(await users.readServer(), facts);
      const replica = await start({ replicaOf: primary });
      const ofReplica = await usersAt(replica.port, { password: "admin" }).readServer();
      assert.deepEqual(ofReplica, { ...facts, isReplica: true });
      // As later versions may call it.
      const renamed = await fake(() => bulk("role:replica"));
      assert.deepEqual(await usersAt(renamed.port).readServer(), { ...facts, isReplica: true });
      let found = await users.readServer();
      while (found !== "not permitted" && found.replicas === 0) found = await users.readServer();
      assert.deepEqual(found, { ...facts, replicas: 1 });
      const node = await start({ clusterFile: folder.path("nodes.conf") });
      assert.deepEqual(await usersAt(node.port, { password: "admin" }).readServer(), { ...facts, isCluster: true });
      const sentinel = await start({ sentinelFile: folder.write("sentinel.conf", "") });
      assert.deepEqual(await usersAt(sentinel.port, { password: "admin" }).readServer(), {
        ...facts,
        isSentinel: true,
      });
    });
  });
});
