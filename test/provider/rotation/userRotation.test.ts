import assert from "node:assert/strict";
import { unknownValue } from "../../../provider/pulumi/values";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type AclUsers, type RedisAdmin } from "../../../provider/clients/aclUsers";
import { ResourceHandler } from "../../../provider/engine/adapter";
import { resources } from "../../../provider/engine/resources";
import { plainResult } from "../../../provider/rotation/outputs/rotationOutputs";
import { isSame, stateIn } from "../../../provider/rotation/memory/state";
import { aclUser } from "../../../provider/domain/secretKind";
import { FakeAclUsers } from "./sources/fakeAclUsers";
import { RealResource } from "./sources/redisUser";

const password = "canary-admin-0c2f";
const values = { host: "redis.example.com", port: 6379, password };
/** The output `access` of a database's rotation. */
const access = (more: object = {}, id = "db"): string =>
  JSON.stringify({
    id,
    of: "PasswordRotation",
    count: 1,
    salt: "salt",
    record: { endpoint: "redis.example.com", port: 6379, tls: true },
    current: { name: "password", mark: "mark", value: password },
    ...more,
  });

describe("rotation: the inputs of a user", () => {
  const user = new RealResource("AclUserRotation");
  const check = (more: object): string => user.check({ userName: "app", admin: values, ...more });

  for (const admin of [
    values,
    { ...values, tls: null, username: "ops" },
    { ...values, host: "localhost", tls: false },
    { ...values, password: unknownValue },
    access(),
    access({ current: undefined }),
    access({ current: { name: "password", mark: "mark" } }),
    access({ current: null, connection: null }),
    unknownValue,
  ]) {
    it(`may have the admin ${JSON.stringify(admin).slice(0, 60)}`, () => assert.equal(check({ admin }), ""));
  }

  it("may have the name default, if the admin has another one, or it is not known yet", () => {
    for (const admin of [{ ...values, username: "ops" }, access({ current: undefined }), unknownValue]) {
      assert.equal(check({ userName: "default", admin }), "");
    }
  });

  it("may have any overlap", () => {
    for (const overlap of ["retirement", "none", "24h", unknownValue]) assert.equal(check({ overlap }), "");
  });

  it("may have a name that is not known yet, as that of its admin", () => {
    assert.equal(check({ userName: unknownValue, admin: { ...values, username: unknownValue } }), "");
  });

  it("may save no password if encryptFor is not known yet", () =>
    assert.equal(check({ saveCredentials: false, overlap: "none", encryptFor: unknownValue }), ""));

  const isWhat = /^admin must be the output `access` of a PasswordRotation, or an object with host, port and password/;
  const wrong: Readonly<Record<string, { inputs: object; says: RegExp }>> = {
    "an empty name": { inputs: { userName: "" }, says: /^userName must not be empty/ },
    "a name with a space": { inputs: { userName: "a b" }, says: /^userName must not contain white space or NUL/ },
    "a name that changes the direction of text": {
      inputs: { userName: "a\u202eb" },
      says: /^userName must not contain white space or NUL, .*or invisible characters/,
    },
    "an access with a number as its host": {
      inputs: { admin: access({ connection: { host: 5 } }) },
      says: /^admin\.host must be a string/,
    },
    "a name with NUL": { inputs: { userName: "a\0b" }, says: /^userName must not contain white space or NUL/ },
    "no admin": { inputs: { admin: undefined }, says: /^admin is required/ },
    "an admin that is a number": { inputs: { admin: 1 }, says: isWhat },
    "an admin that is a password": { inputs: { admin: password }, says: isWhat },
    "the access of a fleet": { inputs: { admin: `{"a":${access()}}` }, says: isWhat },
    "an access with a text as its password": { inputs: { admin: access({ current: password }) }, says: isWhat },
    "the access of an index": { inputs: { admin: access({ of: "VectorTokenRotation" }) }, says: isWhat },
    "an access with a REST token only": {
      inputs: { admin: access({ current: { name: "restToken", mark: "mark" } }) },
      says: /^admin must have a password, which AUTH needs/,
    },
    "an admin without a password": {
      inputs: { admin: { ...values, password: undefined } },
      says: /^admin\.password is required/,
    },
    "an empty password": {
      inputs: { admin: { ...values, password: "" } },
      says: /^admin\.password must not be empty/,
    },
    "an admin without a host": { inputs: { admin: { port: 1, password } }, says: /^admin\.host is required/ },
    "an admin with a URL as host": {
      inputs: { admin: { ...values, host: `redis://:${password}@x` } },
      says: /^admin\.host must be a host name/,
    },
    "an admin with another port": { inputs: { admin: { ...values, port: 0 } }, says: /^admin\.port must be/ },
    "an admin in plain text": {
      inputs: { admin: { ...values, tls: false } },
      says: /^admin\.tls must not be false/,
    },
    "an access in plain text": {
      inputs: { admin: access({ connection: { host: "redis.example.com", tls: false } }) },
      says: /^admin\.tls must not be false/,
    },
    "an admin that is the user": {
      inputs: { admin: { ...values, username: "app" } },
      says: /^admin must not be the user itself: its former password, with which it logs in, is retired/,
    },
    "an admin without a name for the user default": {
      inputs: { userName: "default" },
      says: /^admin must not be the user itself: .*retired\. To reset that user of a database, use PasswordRotation/,
    },
    "an access without a name for the user default": {
      inputs: { userName: "default", admin: access() },
      says: /^admin must not be the user itself/,
    },
    "an access whose password is that of the user": {
      inputs: { admin: access({ current: { name: "password", mark: "mark", username: "app" } }) },
      says: /^admin must not be the user itself/,
    },
    "an access of a database whose address is not known": {
      inputs: { admin: access({ record: null }) },
      says: /^admin\.host is unknown for database "db": the platform has not shown its record\. Set host/,
    },
    "an overlap of another form": {
      inputs: { overlap: "soon" },
      says: /^overlap must be "retirement", "none" or a duration: a number with h, d or w \(12h, 30d, 4w\), or ISO 8601/,
    },
    "an overlap as long as the schedule": {
      inputs: { overlap: "24h", rotateEvery: "1d" },
      says: /^overlap must be shorter than rotateEvery/,
    },
    "a password that is saved nowhere": {
      inputs: { saveCredentials: false, overlap: "none" },
      says: /^saveCredentials must not be false without encryptFor, because nothing shows the new password[^\n]*$/,
    },
    "a connection with a user name": {
      inputs: { connection: { username: "x" } },
      says: /^connection is invalid: its username is not an argument \(known: host, port, tls\)/,
    },
  };
  for (const [what, { inputs, says }] of Object.entries(wrong)) {
    it(`are refused for ${what}`, () => {
      const text = check(inputs);
      assert.match(text, says);
      assert.match(text, /REKEY_INPUT_INVALID/);
      assert.ok(!text.includes(password));
    });
  }

  it("are claimed by the server, however the program names it", () => {
    const { settings } = user.start().options;
    const claims = (inputs: object) =>
      (resources.AclUserRotation.claims?.({ userName: "app", admin: values, ...inputs }, settings) ?? []).map(
        ({ subject }) => subject,
      );
    assert.deepEqual(claims({}), ['user "app" of redis.example.com:6379']);
    assert.deepEqual(claims({ admin: access() }), [
      'user "app" of database "db"',
      'user "app" of redis.example.com:6379',
    ]);
    assert.deepEqual(claims({ admin: access({ record: undefined }) }), ['user "app" of database "db"']);
    assert.deepEqual(claims({ admin: unknownValue }), []);
    assert.deepEqual(claims({ admin: { ...values, host: unknownValue } }), []);
    assert.deepEqual(claims({ userName: unknownValue }), []);
  });
});

describe("rotation: new users with one name", () => {
  /** What a run announces of one after the other. */
  const announced = (...admins: unknown[]): number[] => {
    const run = new RealResource("AclUserRotation").start();
    const handler = new ResourceHandler(resources.AclUserRotation, run);
    return admins.map((admin) => handler.plan(undefined, { userName: "app", admin, version: 1 }).notices.length);
  };

  it("are announced for each server, if their admins are not known yet", () =>
    assert.deepEqual(announced(unknownValue, unknownValue, { ...values, host: unknownValue }), [1, 1, 1]));

  it("are announced once for the same server", () => assert.deepEqual(announced(values, values), [1, 0]));
});

describe("rotation: a user of a server", () => {
  const admins: RedisAdmin[] = [];
  let users: FakeAclUsers;
  let user: RealResource;
  const platform = () => ({
    ...users.parts,
    aclUsers: (admin: RedisAdmin) => (admins.push(admin), users as unknown as AclUsers),
  });
  const up = (more: object = {}) => {
    const inputs = { userName: "app", admin: access(), version: 1, ...more };
    return user.up(inputs, user.start(platform()));
  };
  const preview = (more: object = {}) => user.preview({ userName: "app", admin: access(), version: 1, ...more });
  beforeEach(async () => {
    admins.length = 0;
    users = new FakeAclUsers([]);
    user = new RealResource("AclUserRotation", { deadlineSeconds: "0.1" });
    assert.equal((await up()).failure, undefined);
  });

  it("logs in as the admin, and keeps it in the access in the form in which it came", async () => {
    assert.deepEqual(admins, [{ host: "redis.example.com", port: 6379, tls: true, username: undefined, password }]);
    const saved = JSON.parse(String(user.outputs["access"])) as Readonly<Record<string, unknown>>;
    assert.equal(saved["admin"], access());
    await up({ admin: values });
    assert.deepEqual((JSON.parse(String(user.outputs["access"])) as { admin: unknown }).admin, values);
    for (const [name, value] of Object.entries(user.outputs)) {
      if (name !== "access") assert.ok(!JSON.stringify(value).includes(password), name);
    }
  });

  it("is verified by its own name, in which {id} means nothing", async () => {
    const app = new RealResource("AclUserRotation");
    const run = app.start(platform());
    assert.equal((await app.up({ userName: "app-{id}", admin: access(), version: 1 }, run)).failure, undefined);
    const { current } = JSON.parse(String(app.outputs["access"])) as { current: { username: string } };
    assert.equal(current.username, "app-{id}");
  });

  const same: Readonly<Record<string, { admin: unknown; isMoved?: true }>> = {
    "another password": { admin: access({ current: { name: "password", mark: "other", value: "other" } }) },
    "another name": {
      admin: access({ current: { name: "password", mark: "mark", value: password, username: "ops" } }),
    },
    "the address of the server": { admin: values },
    "a host in upper case": { admin: { ...values, host: "REDIS.example.com" }, isMoved: true },
  };
  for (const [what, { admin, isMoved }] of Object.entries(same)) {
    it(`is the same with ${what}: only the access${isMoved ? " and the URL change" : " changes"}, without a request`, async () => {
      const { changes, replaces, changing, said } = preview({ admin });
      const expected = ["access", ...(isMoved ? ["connectionUrl"] : []), "memory"];
      const mayChange = [...expected, ...(isMoved ? ["restUrl"] : [])];
      assert.deepEqual([changes, replaces, changing, said], [true, [], mayChange, ""]);
      const before = user.outputs;
      admins.length = 0;
      assert.deepEqual(await up({ admin }), { said: "", failure: undefined });
      assert.deepEqual(admins, []);
      const changed = Object.keys({ ...before, ...user.outputs }).filter(
        (name) => !isSame(before[name], user.outputs[name]),
      );
      assert.deepEqual(changed.sort(), expected);
      assert.equal(preview({ admin }).changes, false);
    });
  }

  const moved: Readonly<Record<string, unknown>> = {
    "another database": access({}, "other"),
    "another address of the database": access({ record: { endpoint: "moved.example.com", port: 1, tls: true } }),
    "another port": { ...values, port: 6380 },
    "another host": { ...values, host: "other.example.com" },
  };
  for (const [what, admin] of Object.entries(moved)) {
    it(`that has moved is the same with ${what} if its list has the current password: it is read first`, async () => {
      const { changes, replaces, said } = preview({ admin });
      assert.deepEqual([changes, replaces], [true, []]);
      assert.match(said, /is read first\./);
      const { password: before } = user.outputs;
      assert.deepEqual(await up({ admin }), { said: "", failure: undefined });
      assert.equal(user.outputs["password"], before);
      assert.equal(preview({ admin }).changes, false);
    });
  }

  it("that has moved is refused if its list does not have the current password, unless a version rotates it there", async () => {
    const [admin, before] = [{ ...values, port: 6380 }, user.saved];
    users = new FakeAclUsers(["of another user"]);
    const { failure = "" } = await up({ admin });
    assert.match(failure, /another name or address than before.* resource name of its own.*REKEY_VERIFICATION_FAILED/);
    assert.deepEqual(user.saved, before);
    const scheduled = await up({ admin, rotateEvery: "1h" });
    assert.match(scheduled.failure ?? "", /REKEY_VERIFICATION_FAILED/);
    assert.equal((await up({ admin, version: 2 })).failure, undefined);
    assert.deepEqual(users.hashes, ["of another user", String(user.outputs["password"])].map(hashOf));
    users = new FakeAclUsers([]);
    assert.match(
      (await up({ version: 2 })).failure ?? "",
      /another name or address than before/,
      "the first server is another",
    );
  });

  /** How the program names the server of before, after its user was rotated at a copy of it. */
  const back: Readonly<Record<string, string>> = {
    "at its address": access(),
    "at a third address": access({ record: { endpoint: "third.example.com", port: 6379, tls: true } }),
  };
  for (const [where, admin] of Object.entries(back)) {
    it(`that was rotated at a copy of its database is another one in that database ${where}`, async () => {
      const home = users;
      users = new FakeAclUsers([]);
      users.hashes = [...home.hashes];
      await users.make(); // Each server makes its own.
      assert.equal((await up({ admin: { ...values, port: 6380 }, version: 2 })).failure, undefined);
      const { password: current, connectionUrl } = user.outputs;
      [users, home.commands.length] = [home, 0];
      const { failure = "" } = await up({ admin, version: 2 });
      assert.match(failure, /another name or address than before.*REKEY_VERIFICATION_FAILED/);
      assert.deepEqual([user.outputs["password"], user.outputs["connectionUrl"]], [current, connectionUrl]);
      assert.deepEqual(home.commands, ["read"], "it is not sent the password");
    });
  }

  it("may have clients that connect without TLS, which is said", async () => {
    const connection = { host: "redis.internal", port: 6379, tls: false };
    assert.match(preview({ connection }).said, /clients send the password in plain text \(connection\.tls: false\)/);
    await up({ connection });
    assert.match(String(user.outputs["connectionUrl"]), /^redis:\/\/app:[^@]+@redis\.internal:6379$/);
    assert.doesNotMatch(preview({ connection }).said, /plain text/, "once");
    assert.doesNotMatch(preview({ connection: { ...connection, host: "localhost" } }).said, /plain text/);
  });

  it("is previewed with another address while the password of its admin is not known", () => {
    const admin = { ...values, host: "REDIS.example.com", password: unknownValue };
    assert.deepEqual(preview({ admin }).changing, ["access", "connectionUrl", "memory", "restUrl"]);
  });

  it("is another one with another name", () => assert.deepEqual(preview({ userName: "job" }).replaces, ["userName"]));

  it("is that of the saved server while the admin is not known, and nothing else is announced", () => {
    for (const admin of [unknownValue, { ...values, host: unknownValue }]) {
      const { changes, replaces, changing, said } = preview({ admin });
      assert.deepEqual([changes, replaces, changing, said], [true, [], ["access", "memory"], ""]);
    }
    const next = preview({ admin: unknownValue, version: 2 });
    assert.deepEqual(next.replaces, []);
    assert.match(next.said, /password of user "app" of database "db", because version or triggers have changed/);
  });

  it("is not changed while the admin's own reset is not confirmed", async () => {
    users.commands.length = 0;
    const { failure = "" } = await up({ version: 2, admin: access({ current: undefined }) });
    assert.match(
      failure,
      /password of user "app" of database "db" was not rotated.*its admin, database "db", is not known/,
    );
    // An adopted database may never show its password.
    assert.match(failure, /no read shows the password, set a new version of the PasswordRotation.*REKEY_UNCONFIRMED/);
    assert.deepEqual(users.commands, []);
  });

  it("has an admin whose password is read when it is needed", async () => {
    user.settings = { ...user.settings, databasePath: "none" };
    const admin = access({ current: { name: "password", mark: "mark" } });
    const { failure = "" } = await up({ version: 2, admin });
    assert.match(failure, /is not saved, and this platform cannot be read.*REKEY_NOT_READ/);
  });

  it("is saved without its admin in plain text, even if its outputs cannot be made", () => {
    const state = { ...stateIn(user.outputs), admin: { given: values, server: {} } };
    const { outputs } = plainResult({ kind: aclUser, id: "app" }, state, new Error("bug"));
    const { access: saved, ...plain } = outputs;
    assert.deepEqual(JSON.parse(String(saved)), { admin: values });
    assert.ok(!JSON.stringify(plain).includes(password));
  });
});
