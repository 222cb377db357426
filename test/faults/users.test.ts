import assert from "node:assert/strict";
import { type RedisServer, startRedisServer, withRedis } from "../support/redis";
import { type CommandFault } from "../support/redisGate";
import { type Properties } from "../support/wire";
import { testByAdapter } from "./overlappingSecret";
import { firstPassword, UserOfServer, usersOf, type UserServer } from "./userOfServer";

/** The commands of a rotation in their order, and which login of the administrator is before each. */
const commands = {
  "ACL GETUSER": { command: /^ACL GETUSER/, login: 1 },
  "ACL GENTOKEN": { command: /^ACL GENTOKEN/, login: 2 },
  INFO: { command: /^INFO/, login: 3 },
  "ACL SETUSER": { command: /^ACL SETUSER/, login: 4 },
  "ACL SAVE": { command: /^ACL SAVE/, login: 5 },
} as const;
type Name = keyof typeof commands;
const names = Object.keys(commands) as Name[];
const adminLogin = /^AUTH ops /;
const userLogin = /^AUTH app/;

interface Row {
  readonly fault: CommandFault;
  /** What the `up` fails with. Default: it does not. */
  readonly fails?: RegExp;
  /** What it says. */
  readonly says?: RegExp;
  /** Whether the passwords before and after the rotation are valid then. Without a second one, none was saved. */
  readonly valid: readonly boolean[];
  /** How many SETUSER were sent. Default: one, if a second one is valid. */
  readonly setUsers?: number;
  /** A command that was sent once. */
  readonly sends?: RegExp;
  /** How many passwords the server lists. Default: those that are valid. */
  readonly listed?: number;
  /** Whether a time must end, so that only an update is tried. */
  readonly isSlow?: true;
  /** What the failure says to do. */
  readonly advice?: RegExp;
}

const nothing = /Nothing was changed|It was not added\./;
const notRead = { fails: /REKEY_NOT_READ|REKEY_NOT_SENT/, valid: [true] } as const;
const notChanged = { fails: nothing, valid: [true] } as const;
const notSaved = {
  fails:
    /this run has added a new one\. A restart of the server undoes that until ACL SAVE succeeds\. .*REKEY_INCOMPLETE/s,
  valid: [true, true],
} as const;
const passes = { valid: [true, true] } as const;

/** What an error of the server in reply to a command means. */
const failing: Readonly<Record<Name, Omit<Row, "fault">>> = {
  "ACL GETUSER": notRead,
  "ACL GENTOKEN": notChanged,
  INFO: notChanged,
  "ACL SETUSER": { ...notChanged, setUsers: 1 },
  "ACL SAVE": notSaved,
};

/** What a command without a reply means: those that change the user are settled, or sent once more. */
function lost(name: Name): Omit<Row, "fault"> {
  return name === "ACL SETUSER" || name === "ACL SAVE" ? passes : failing[name];
}

/** Rows of each command whose connection ends: of its login, too. */
function lostRows(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  for (const name of names) {
    const { command, login } = commands[name];
    for (const at of ["arrived", "applied"] as const) {
      const when = at === "arrived" ? "before it is applied" : "after it was applied";
      const ofLogin = { "ACL SETUSER": notChanged, "ACL SAVE": passes }[name as string] ?? failing[name];
      rows[`AUTH of the admin before ${name} is lost ${when}`] = {
        ...ofLogin,
        fault: { command: adminLogin, does: "close", at, nth: login },
      };
      rows[`${name} is lost ${when}`] = {
        ...lost(name),
        ...(name === "ACL SETUSER" && at === "arrived" && { setUsers: 2 }),
        fault: { command, does: "close", at },
      };
      rows[`AUTH with the new password is lost ${when}`] = {
        ...passes,
        fault: { command: userLogin, does: "close", at },
      };
    }
  }
  return rows;
}

const unconfirmed = /this run may have added a new one.*REKEY_UNCONFIRMED/s;
const unproven = /has added a new one, which was not handed out\..* is not proven: it could not be tried/s;

/** What the server does not reply to, so that a time must end. */
const silentRows: Record<string, Row> = {
  "ACL SETUSER is lost each time, before it is applied": {
    fault: { command: commands["ACL SETUSER"].command, does: "close", times: 9 },
    fails: unconfirmed,
    valid: [true],
    setUsers: 2,
    isSlow: true,
  },
  "ACL SAVE is lost each time": {
    ...notSaved,
    fault: { command: commands["ACL SAVE"].command, does: "close", times: 9 },
    isSlow: true,
  },
  "AUTH of the admin has no reply": {
    ...notRead,
    fault: { command: adminLogin, does: "silence", times: 99 },
    isSlow: true,
  },
  "AUTH with the new password has no reply": {
    fault: { command: userLogin, does: "silence", times: 99 },
    fails: unproven,
    valid: [true],
    setUsers: 1,
    listed: 2,
    isSlow: true,
  },
  ...Object.fromEntries(
    names.map((name) => {
      const fault = { command: commands[name].command, does: "silence", at: "applied" } as const;
      return [`${name} has no reply`, { ...lost(name), fault, isSlow: true }];
    }),
  ),
};

/** By how an error begins: what to do about it. */
const errors: Readonly<Record<string, RegExp>> = {
  LOADING: /Wait until the server is ready/,
  NOAUTH: /Check the admin's name and password/,
  NOPERM: /Permit the admin the command \(\+/,
  READONLY: /use the address of its primary/,
  "MOVED 1 192.0.2.1:6379": /use a server without a cluster/,
};

/** With a password that the server has not made. */
const makesPassword = { ...passes, sends: /^ACL SETUSER \S+ #[\da-f]{64}$/ } as const;
const withoutPermission: Partial<Record<Name, Omit<Row, "fault">>> = {
  // Redis 6.2 responds so to each subcommand that it does not know.
  "ACL GENTOKEN": makesPassword,
  INFO: { ...passes, says: /the admin may not use INFO/ },
  "ACL SAVE": { ...passes, says: /the admin may not use ACL SAVE/ },
};

function errorRows(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  for (const [error, advice] of Object.entries(errors)) {
    const does = { reply: `-${error} as ${firstPassword} says` };
    rows[`AUTH of the admin has the reply -${error}`] = { ...notRead, fault: { command: adminLogin, does } };
    rows[`AUTH with the new password has the reply -${error}`] = { ...passes, fault: { command: userLogin, does } };
    for (const name of names) {
      const permitted = error === "NOPERM" ? withoutPermission[name] : undefined;
      const row = permitted ?? { ...failing[name], advice };
      rows[`${name} has the reply -${error}`] = { ...row, fault: { command: commands[name].command, does } };
    }
  }
  return rows;
}

const map = { reply: "%2\r\n+flags\r\n~1\r\n+on\r\n+passwords\r\n~0" };
const null3 = { reply: "_" };

/** What is not a token: that is a string of 20 to 1,024 visible ASCII characters. */
const noTokens: Readonly<Record<string, string>> = {
  "+OK": "+OK",
  "a long status": `+${"t".repeat(40)}`,
  "a short string": `$19\r\n${"t".repeat(19)}`,
  "a long string": `$1025\r\n${"t".repeat(1025)}`,
  "a string with a space": `$21\r\n${"t".repeat(10)} ${"t".repeat(10)}`,
  "a nil": "$-1",
  "an integer": ":1234567890123456789",
  "a list": `*1\r\n$40\r\n${"t".repeat(40)}`,
};

function tokenRows(): Record<string, Row> {
  const rows = Object.entries(noTokens).map(([what, reply]): [string, Row] => {
    const fault = { command: commands["ACL GENTOKEN"].command, does: { reply } };
    return [`ACL GENTOKEN has the reply ${what}, which is not a token`, { ...makesPassword, fault }];
  });
  return Object.fromEntries(rows);
}

/** A server that replies as in version 3 of the protocol, or in pieces. */
function formRows(): Record<string, Row> {
  const rows: Record<string, Row> = {
    "every reply is in pieces": { ...passes, fault: { command: /./, does: "pieces", times: 99 } },
    "AUTH of the admin is replied to in RESP3": { ...notRead, fault: { command: adminLogin, does: map } },
    "AUTH with the new password is replied to in RESP3": { ...passes, fault: { command: userLogin, does: map } },
  };
  for (const name of names) {
    for (const [form, does] of Object.entries({ "a map": map, "a null": null3 })) {
      rows[`${name} is replied to with ${form} of RESP3`] = {
        ...lost(name),
        fault: { command: commands[name].command, does, at: "applied" },
      };
    }
  }
  return rows;
}

describe("faults: two valid passwords of a user", () => {
  withRedis("of a real Redis", () => {
    let redis: RedisServer;
    let server: UserServer;
    before(async () => {
      redis = await startRedisServer();
      server = await usersOf(redis);
    });
    after(() => redis.close());

    for (const [fault, row] of Object.entries(lostRows())) testAddition(112, fault, row, () => server);
    for (const [fault, row] of Object.entries(silentRows)) testAddition(113, fault, row, () => server);
    for (const [fault, row] of Object.entries(errorRows())) testAddition(114, fault, row, () => server);
    for (const [fault, row] of Object.entries(formRows())) testAddition(115, fault, row, () => server);
    for (const [fault, row] of Object.entries(tokenRows())) testAddition(115, fault, row, () => server);
  });
});

/** A fault of an `up` that adds a password, and what the next `up` and the verification do. */
function testAddition(row: number, fault: string, { fault: given, ...expected }: Row, server: () => UserServer): void {
  const { fails, valid, isSlow } = expected;
  const [, isSaved] = valid;
  const result = !fails
    ? "passes, two are valid"
    : isSaved
      ? "fails once it is saved; two are valid"
      : "fails, nothing valid is removed; the next `up` completes it";
  testByAdapter([row, fault, isSlow ? "update, next up" : "create, update, next up", result], async (adapter) => {
    for (const isNew of isSlow ? [false] : [true, false]) {
      const user = await UserOfServer.start(adapter, server());
      try {
        const inputs: Properties = { version: 1, ...(isNew ? {} : { initialRotation: false }) };
        if (!isNew) assert.equal(await user.rotate(inputs), "");
        const next = isNew ? inputs : { ...inputs, version: 2 };
        if (isSlow) user.settings = { deadlineSeconds: 2 };
        user.gate.fail(given);
        await assertFault(user, await user.rotate(next), expected);
        user.settings = { deadlineSeconds: 30 };
        user.gate.meet = () => undefined;
        await assertNextUps(user, next);
      } finally {
        await user.gate.close();
      }
    }
  });
}

async function assertFault(user: UserOfServer, failure: string, row: Omit<Row, "fault">): Promise<void> {
  const { valid, fails, advice = /^/, says, sends, setUsers = valid.length - 1, listed = valid.length } = row;
  assert.match(failure, fails ?? /^$/);
  assert.match(failure, advice);
  if (fails) assertWhole(failure);
  if (says) assert.match(user.said.join("\n"), says);
  if (sends) assert.equal(user.gate.sent(sends).length, 1);
  const found = { valid: await user.valid(), setUsers: user.setUsers, listed: await user.listed() };
  assert.deepEqual(found, { valid, setUsers, listed }, failure);
}

const whatChanged = [
  "Nothing was changed",
  "No reset was sent, and the password was not changed",
  "It was not added",
  "this run may have added a new one, which was not handed out",
  "this run has added a new one",
];
const whatToDo = /\. (Check|Fix|Make|Permit|Run|Switch|The server is|Wait) [^.]+\.? \[REKEY_[A-Z_]+\]$/;

/** It says what happened, whether something was changed, and what to do. */
function assertWhole(failure: string): void {
  assert.ok(
    whatChanged.some((words) => failure.includes(words)),
    failure,
  );
  assert.match(failure, whatToDo);
}

async function assertNextUps(user: UserOfServer, next: Properties): Promise<void> {
  assert.equal(await user.rotate(next), "");
  assert.deepEqual([await user.valid(), await user.listed()], [[true, true], 2]);
  assert.equal(user.rotation.plain["rotationCount"], 1);
  assert.equal(await user.retire(), "");
  assert.deepEqual([await user.valid(), await user.listed()], [[false, true], 1]);
}
