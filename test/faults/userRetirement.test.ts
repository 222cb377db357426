import assert from "node:assert/strict";
import { Plugin } from "../support/plugin";
import { type RedisServer, startRedisServer, withRedis } from "../support/redis";
import { type CommandFault } from "../support/redisGate";
import { explicitProvider } from "../support/wire";
import { userRows, usersOf, type UserServer } from "./userOfServer";

interface Row {
  readonly fault: CommandFault;
  /** What the Retirement fails with. Default: it does not. */
  readonly fails?: RegExp;
  /** Whether the passwords before and after the rotation are valid then. */
  readonly valid: readonly [former: boolean, current: boolean];
}

const adminLogin = /^AUTH ops /;
const save = /^ACL SAVE/;
const removal = /^ACL SETUSER \S+ !/;
const passes = { valid: [false, true] } as const;
const notRetired = { fails: /Until that is done, the former password may be valid\./, valid: [true, true] } as const;
const retired = { ...notRetired, valid: [false, true] } as const;
const notSaved = {
  fails: /save the server's users: .*Until that is done/s,
  valid: [false, true],
} as const;

const rows: Readonly<Record<string, Row>> = {
  "AUTH of the admin before GETUSER is lost": { ...notRetired, fault: { command: adminLogin, does: "close" } },
  "GETUSER is lost": { ...notRetired, fault: { command: /^ACL GETUSER/, does: "close", at: "applied" } },
  "AUTH of the admin before SETUSER is lost": { ...notRetired, fault: { command: adminLogin, does: "close", nth: 2 } },
  "SETUSER is lost before it is applied": { ...notRetired, fault: { command: removal, does: "close" } },
  "SETUSER is lost after it was applied": { ...passes, fault: { command: removal, does: "close", at: "applied" } },
  "SETUSER is replied to in RESP3": { ...passes, fault: { command: removal, does: { reply: "_" }, at: "applied" } },
  "SETUSER is rejected with -READONLY": { ...notRetired, fault: { command: removal, does: { reply: "-READONLY no" } } },
  "SETUSER says that there is no such password": {
    ...passes,
    fault: { command: removal, does: { reply: "-ERR The password does not exist" }, at: "applied" },
  },
  "SETUSER is confirmed, and not applied": { ...notRetired, fault: { command: removal, does: { reply: "+OK" } } },
  "GETUSER after SETUSER is lost": { ...retired, fault: { command: /^ACL GETUSER/, does: "close", nth: 2 } },
  "AUTH of the admin before SAVE is lost": { ...passes, fault: { command: adminLogin, does: "close", nth: 4 } },
  "SAVE is lost before it is applied": { ...passes, fault: { command: save, does: "close" } },
  "SAVE is lost after it was applied": { ...passes, fault: { command: save, does: "close", at: "applied" } },
  "SAVE is lost each time": { ...notSaved, fault: { command: save, does: "close", times: 9 } },
  "every reply is in pieces": { ...passes, fault: { command: /./, does: "pieces", times: 99 } },
};

describe("faults: a retirement of a user's former password", () => {
  const { closes, testRow } = userRows();

  withRedis("at a real Redis", () => {
    let redis: RedisServer;
    let server: UserServer;
    before(async () => {
      redis = closes(await startRedisServer());
      server = await usersOf(redis);
    });

    for (const [name, { fault, fails = /^$/, valid }] of Object.entries(rows)) {
      const state = valid[0] ? "two are valid" : "the former one is not valid";
      const result = fails.test("") ? `passes, ${state}` : `fails, ${state}; the next \`up\` completes it`;
      testRow(
        [121, name, "Retirement, next up", result],
        () => server,
        async (user) => {
          assert.equal(await user.rotate({ version: 1 }), "");
          user.gate.fail(fault);
          assert.match(await user.retire(), fails);
          assert.deepEqual([await user.valid(), user.gate.sent(removal).length <= 1], [valid, true]);
          user.gate.meet = () => undefined;
          if (fails === notSaved.fails) {
            assert.equal(await user.rotate({ version: 1 }), "", "reads that it was removed");
            assert.deepEqual([await user.retire(), user.gate.sent(save).length], ["", 1]);
          }
          assert.equal(await user.retire(), "");
          assert.deepEqual([await user.valid(), await user.listed()], [[false, true], 1]);
          assert.deepEqual(user.retirement.replaced, []);
        },
      );
    }

    testRow(
      [
        121,
        "of two former passwords: someone else removes one, so that SETUSER is rejected",
        "Retirement, next up",
        "passes: it is sent again for the other one",
      ],
      () => server,
      async (user) => {
        await server.acl("SETUSER", user.name, ">second");
        assert.equal(await user.rotate({ version: 1 }), "");
        user.gate.meet = async (command, point) => {
          const isFirst = point === "arrived" && user.gate.sent(removal).length === 1;
          if (isFirst && removal.test(command)) await server.acl(...command.split(" ").slice(1, 4));
          return undefined;
        };
        user.gate.commands.length = 0;
        assert.equal(await user.retire(), "");
        assert.deepEqual([user.gate.sent(removal).length, user.gate.sent(save).length], [2, 1]);
        assert.deepEqual([await user.valid(), await user.listed()], [[false, true], 1]);
      },
    );

    testRow(
      [
        122,
        "SETUSER that retires is rejected, with overlap: none",
        "create, next up",
        "fails once the new one is saved",
      ],
      () => server,
      async (user) => {
        const inputs = { version: 1, overlap: "none" };
        user.gate.fail({ command: removal, does: { reply: "-READONLY no" } });
        const failure = await user.rotate(inputs);
        assert.match(failure, /this run has added a new one\. .*READONLY.*REKEY_INCOMPLETE/s);
        assert.deepEqual(await user.valid(), [true, true]);
        assert.equal(await user.rotate(inputs), "");
        assert.deepEqual([await user.valid(), user.setUsers], [[false, true], 1]);
      },
    );

    testRow(
      [122, "the run is cancelled once a password was added", "create, next up", "fails; the next `up` replaces it"],
      () => server,
      async (user) => {
        const plugin = new Plugin(user.said);
        plugin.configure(explicitProvider, {});
        user.rotation.calls = plugin.calls("AclUserRotation");
        user.gate.meet = (command, point) => {
          if (point === "applied" && command.startsWith("ACL SETUSER")) plugin.cancel();
          return undefined;
        };
        const inputs = { version: 1 };
        await assert.rejects(
          user.rotation.up({ userName: user.name, admin: user.admin, ...inputs }),
          /this run has added a new one, which was not handed out\. .*the run was cancelled.*REKEY_INCOMPLETE/s,
        );
        assert.deepEqual([await user.valid(), await user.listed()], [[true], 2]);
        user.gate.meet = () => undefined;
        assert.equal(await user.rotate(inputs), "");
        assert.deepEqual([await user.valid(), await user.listed()], [[true, true], 2]);
      },
      ["plugin"],
    );
  });
});
