import assert from "node:assert/strict";
import { type CommandFault } from "../support/redisGate";
import { firstPassword, userRows, usersOfPlatform, type UserServer } from "./userOfServer";

describe("faults: tokens of a user of the local platform, as at the vendor", () => {
  const { closes, testRow } = userRows();
  let server: UserServer;
  before(async () => {
    const started = await usersOfPlatform();
    closes(started.platform);
    ({ server } = started);
  });
  const at = (): UserServer => server;
  const setToken = /^ACL SETUSER \S+ >/;

  testRow(
    [
      120,
      "the server makes tokens, and refuses other passwords",
      "create, Retirement, next version",
      "a token is added with SETUSER >",
    ],
    at,
    async (user) => {
      assert.match(
        await server.acl("SETUSER", user.name, `>${firstPassword}`).then(String),
        /-ERR .*only tokens|-ERR .*not a token/,
      );
      for (const version of [1, 2]) {
        assert.equal(await user.rotate({ version }), "");
        const added = user.gate.sent(setToken);
        assert.deepEqual(added, [`ACL SETUSER ${user.name} >${String(user.rotation.plain["password"])}`]);
        assert.equal(user.rotation.plain["restToken"], user.rotation.plain["password"]);
        assert.deepEqual((await user.valid()).slice(-2), [true, true]);
        assert.equal(await user.retire(), "");
        assert.deepEqual((await user.valid()).slice(-2), [false, true]);
        assert.equal(await user.listed(), 1);
      }
    },
  );

  testRow(
    [120, "the user is default, which ACL commands cannot change", "create", "fails, and names PasswordRotation"],
    at,
    async (user) => {
      const password = await server.makeUser("ops");
      const admin = { ...user.admin, username: "ops", password };
      const failure = await user.rotate({ userName: "default", admin, version: 1 });
      assert.match(failure, /user cannot be modified.*It was not added.*use PasswordRotation/s);
      assert.deepEqual([user.setUsers, user.rotation.saved], [1, undefined]);
    },
  );

  /** With the tokens before and after the rotation that are valid then. */
  const faults: Readonly<Record<string, { fault: CommandFault; fails?: RegExp; valid: readonly boolean[] }>> = {
    "GENTOKEN is lost after it was applied": {
      fault: { command: /^ACL GENTOKEN/, does: "close", at: "applied" },
      fails: /Could not make a token.*Nothing was changed/s,
      valid: [true],
    },
    "GENTOKEN has an error that a plain Redis does not have": {
      fault: { command: /^ACL GENTOKEN/, does: { reply: "-ERR too many tokens" } },
      fails: /too many tokens.*Nothing was changed/s,
      valid: [true],
    },
    "SETUSER with a token is lost before it is applied": {
      fault: { command: setToken, does: "close" },
      valid: [true, true],
    },
    "SETUSER with a token is lost after it was applied": {
      fault: { command: setToken, does: "close", at: "applied" },
      valid: [true, true],
    },
    "GETUSER after the addition is lost": {
      fault: { command: /^ACL GETUSER/, does: "close", nth: 2 },
      valid: [true, true],
    },
  };
  for (const [name, { fault, fails = /^$/, valid }] of Object.entries(faults)) {
    const result = valid.length > 1 ? "passes, two are valid" : "fails, nothing valid is removed";
    testRow([120, name, "update, next up", result], at, async (user) => {
      assert.equal(await user.rotate({ initialRotation: false, version: 1 }), "");
      user.gate.fail(fault);
      assert.match(await user.rotate({ version: 2 }), fails);
      assert.deepEqual([await user.valid(), await user.listed()], [valid, valid.length]);
      user.gate.meet = () => undefined;
      assert.equal(await user.rotate({ version: 2 }), "");
      assert.deepEqual(await user.valid(), [true, true]);
      assert.equal(await user.retire(), "");
      assert.deepEqual([await user.valid(), await user.listed()], [[false, true], 1]);
      assert.equal(await user.rotate({ version: 3 }), "");
      assert.equal(await user.retire(), "");
      assert.deepEqual([await user.valid(), await user.listed()], [[false, false, true], 1]);
    });
  }

  const notPermitted = [120, "GENTOKEN is not permitted", "update", "fails, a hash is refused"] as const;
  testRow(notPermitted, at, async (user) => {
    assert.equal(await user.rotate({ initialRotation: false, version: 1 }), "");
    const replies = { "ACL GENTOKEN": "-NOPERM no", INFO: "$11\r\nrole:master" };
    user.gate.meet = (sent, point) => {
      const found = Object.entries(replies).find(([command]) => sent.startsWith(command));
      return found && point === "arrived" ? { reply: found[1] } : undefined;
    };
    assert.match(await user.rotate({ version: 2 }), /only tokens of ACL GENTOKEN.*It was not added/s);
    assert.deepEqual([await user.valid(), await user.listed()], [[true], 1]);
  });

  testRow(
    [108, "an import", "AclUserRotation", "fails, nothing is sent; says how to adopt it"],
    at,
    async (user) => {
      await user.preview({ version: 1 });
      user.gate.commands.length = 0;
      await assert.rejects(user.rotation.import("app"), /Nothing was sent.*initialRotation: false/s);
      assert.deepEqual(user.gate.commands, []);
    },
    ["plugin"],
  );
});
