import assert from "node:assert/strict";
import { type RedisServer, startRedisServer, withRedis } from "../support/redis";
import { firstPassword, UserOfServer, userRows, usersOf, type UserServer } from "./userOfServer";

describe("faults: users and their servers", () => {
  const { closes, testRow } = userRows();

  withRedis("of a real Redis", () => {
    let redis: RedisServer;
    let server: UserServer;
    before(async () => {
      redis = closes(await startRedisServer());
      server = await usersOf(redis);
    });
    const at = (): UserServer => server;

    /** What someone else makes of a user, and the command that repairs it. */
    const users: Readonly<Record<string, { rules?: readonly string[]; says: RegExp; repair: readonly string[] }>> = {
      "the user was deleted": {
        says: /does not exist\. Create it with its rules, for example `ACL SETUSER app\d+ on/,
        repair: ["reset", "on", `>${firstPassword}`],
      },
      "the user is off": { rules: ["off"], says: /is off.*`ACL SETUSER app\d+ on`/, repair: ["on"] },
      "the user has nopass": {
        rules: ["nopass"],
        says: /needs no password \(nopass\).*`ACL SETUSER app\d+ ><password>`/,
        repair: ["resetpass", `>${firstPassword}`],
      },
    };
    for (const [fault, { rules, says, repair }] of Object.entries(users)) {
      testRow([116, fault, "create, update, next up", "fails before anything is changed"], at, async (user) => {
        for (const inputs of [{ version: 1 }, { version: 2 }]) {
          const { saved } = user.rotation;
          if (rules) await server.acl("SETUSER", user.name, ...rules);
          else await server.acl("DELUSER", user.name);
          const failure = await user.rotate(inputs);
          assert.match(failure, says);
          assert.match(failure, /was not rotated, and nothing was changed: .*REKEY_REJECTED/s);
          assert.deepEqual([user.setUsers, user.gate.sent(/GENTOKEN|SAVE/), user.rotation.saved], [0, [], saved]);
          await server.acl("SETUSER", user.name, ...repair);
          assert.equal(await user.rotate(inputs), "");
          assert.equal((await user.valid()).at(-1), true);
        }
      });
    }

    testRow(
      [116, "the user is default, and the admin another one", "create, Retirement, next version", "as any other user"],
      async () => usersOf(closes(await startRedisServer())),
      async ({ adapter, server: own }) => {
        const user = await UserOfServer.start(adapter, own, "default");
        closes(user.gate);
        await own.acl("SETUSER", "default", `>${firstPassword}`);
        assert.equal(await user.rotate({ version: 1 }), "");
        const announced =
          /The passwords that were valid before stay valid until a Retirement.*The first retirement removes all passwords that/;
        assert.match(user.said.join("\n"), announced);
        assert.deepEqual(await user.valid(), [true, true]);
        assert.equal(await user.retire(), "");
        assert.deepEqual(await user.valid(), [false, true]);
        assert.equal(await user.rotate({ version: 2 }), "");
        assert.equal(await user.retire(), "");
        assert.deepEqual(await user.valid(), [false, false, true]);
      },
    );

    testRow(
      [116, "the name of the user has characters that a shell reads", "create, next up", "no command contains it"],
      at,
      async ({ adapter }) => {
        const name = `a$(id)\`id\`;\u001b[2J-${adapter}`;
        const user = await UserOfServer.start(adapter, server, name);
        closes(user.gate);
        assert.match(await user.rotate({ version: 1 }), /does not exist.*`ACL SETUSER <name> on /);
        await server.makeUser(name);
        assert.equal(await user.rotate({ version: 1 }), "");
        await server.acl("SETUSER", name, ">other");
        await user.refresh();
        assert.match(user.said.join("\n"), /`ACL GETUSER <name>` lists their hashes, and `ACL SETUSER <name> !<hash>`/);
      },
    );

    testRow([116, "the user was deleted", "Retirement", "fails, and again until it exists"], at, async (user) => {
      assert.equal(await user.rotate({ version: 1 }), "");
      await server.acl("DELUSER", user.name);
      const isUnknown = /was not retired: `ACL GETUSER` does not list the current one/;
      assert.match(await user.retire(), isUnknown);
      assert.deepEqual(user.gate.sent(/ACL SETUSER \S+ !/), [], "nothing is retired without a proof");
      assert.match(await user.retire(), isUnknown);
    });

    /** What an administrator may not do, by rules of it. */
    const permissions: Readonly<Record<string, { rule: string; fails?: RegExp; says?: RegExp; valid: boolean[] }>> = {
      "ACL GETUSER": {
        rule: "-acl|getuser",
        fails: /NOPERM.*Nothing was changed.*\(\+acl\|getuser\)/s,
        valid: [true],
      },
      "ACL SETUSER": {
        rule: "-acl|setuser",
        fails: /NOPERM.*It was not added.*\(\+acl\|setuser\)/s,
        valid: [true],
      },
      INFO: {
        rule: "-info",
        says: /cannot check whether the server has replicas.*the admin may not use INFO/,
        valid: [true, true],
      },
      "ACL SAVE": {
        rule: "-acl|save",
        says: /the admin may not use ACL SAVE.*allow it \(\+acl\|save\)/,
        valid: [true, true],
      },
    };
    for (const [command, { rule, fails = /^$/, says = /^/, valid }] of Object.entries(permissions)) {
      const result = says.test("") ? "fails, nothing was changed" : "passes with a warning";
      testRow([117, `the admin may not use ${command}`, "create, next up", result], at, async (user) => {
        const name = `ops-of-${user.name}`;
        await server.acl("SETUSER", name, "on", `>${server.admin.password}`, "+@all", rule);
        const { admin } = user;
        user.admin = { ...admin, username: name };
        assert.match(await user.rotate({ version: 1 }), fails);
        assert.match(user.said.join("\n"), says);
        assert.deepEqual([await user.valid(), await user.listed()], [valid, valid.length]);
        await server.acl("SETUSER", name, "+@all");
        assert.equal(await user.rotate({ version: 1 }), "");
        assert.equal(await user.retire(), "");
        assert.deepEqual(await user.valid(), [false, true]);
      });
    }

    const changed = "the password of the admin was changed";
    testRow(
      [117, changed, "refresh, next up", "says that the saved one was used; the next `up` passes"],
      at,
      async (user) => {
        const [username, password] = [`ops-of-${user.name}`, "canary-second-98cd"];
        await server.acl("SETUSER", username, "on", `>${server.admin.password}`, "+@all");
        user.admin = { ...user.admin, username };
        assert.equal(await user.rotate({ version: 1 }), "");
        await server.acl("SETUSER", username, "resetpass", `>${password}`);
        user.said.length = 0;
        await user.refresh();
        const says =
          /refused the admin.*A refresh uses the admin that the last `up` saved, .*run `up`, which uses that of/;
        assert.match(user.said.join("\n"), says);
        user.said.length = 0;
        assert.match(await user.rotate({ version: 1, overlap: "24h" }), /^$/);
        assert.doesNotMatch(user.said.join("\n"), /A refresh uses/);
        user.admin = { ...user.admin, password };
        assert.equal(await user.rotate({ version: 2 }), "");
        assert.deepEqual(await user.valid(), [true, true, true]);
      },
    );

    testRow([117, "the server has no TLS", "create, next up", "fails, names tls: false"], at, async (user) => {
      const { admin } = user;
      user.settings = { deadlineSeconds: 2 };
      user.admin = { ...admin, port: server.port, tls: true };
      const failure = await user.rotate({ version: 1 });
      assert.match(failure, /accepted the connection, but does not seem to speak TLS.*on this machine.*tls: false/);
      assert.deepEqual([await user.valid(), await user.listed()], [[true], 1]);
      user.settings = { deadlineSeconds: 30 };
      user.admin = admin;
      assert.equal(await user.rotate({ version: 1 }), "");
    });

    testRow(
      [118, "two runs rotate one user at once", "create, next up", "both new ones and the former one are valid"],
      at,
      async (one) => {
        const other = await UserOfServer.start(one.adapter, server, one.name);
        closes(other.gate);
        assert.deepEqual(await Promise.all([one.rotate({ version: 1 }), other.rotate({ version: 1 })]), ["", ""]);
        assert.deepEqual(
          [await one.valid(), await other.valid()],
          [
            [true, true],
            [true, true],
          ],
        );
        assert.equal(await one.listed(), 3);
        // Each retires the former one, and what it does not know of stays.
        assert.deepEqual([await one.retire(), await other.retire()], ["", ""]);
        assert.deepEqual(
          [await one.valid(), await other.valid()],
          [
            [false, true],
            [false, true],
          ],
        );
        await one.refresh();
        assert.match(one.said.join("\n"), /has 1 password that Rekey does not know.*ACL SETUSER \S+ !<hash>/);
      },
    );

    testRow(
      [
        119,
        "the server restarts without an ACL file, after the addition",
        "create, next up",
        "the user is lost: warned of, an error before anything is changed",
      ],
      async () => {
        const own = closes(await startRedisServer());
        return { ...(await usersOf(own)), restart: own.restart };
      },
      async (user) => {
        assert.equal(await user.rotate({ version: 1 }), "");
        assert.match(user.said.join("\n"), /has no ACL file, so a restart undoes this change/);
        await user.server.restart?.();
        await user.server.acl("SETUSER", "ops", "on", `>${user.server.admin.password}`, "+@all");
        assert.match(await user.rotate({ version: 2 }), /does not exist/);
        // As the server's configuration has it.
        await user.server.makeUser(user.name);
        await user.refresh();
        assert.match(
          user.said.join("\n"),
          /does not have the current password any more.*restarted without an ACL file.*Set a new version/,
        );
        assert.equal(user.setUsers, 0, "a refresh adds nothing");
        assert.equal(await user.rotate({ version: 2 }), "");
        assert.deepEqual(await user.valid(), [true, false, true]);
      },
    );
  });
});
