import assert from "node:assert/strict";
import { type RedisAdmin } from "../../../provider/clients/aclUsers";
import { aclUser } from "../../../provider/domain/secretKind";
import { ResourceHandler } from "../../../provider/engine/adapter";
import { resources } from "../../../provider/engine/resources";
import { unknownValue } from "../../../provider/pulumi/values";
import { isSame, stateIn } from "../../../provider/rotation/memory/state";
import { plainResult } from "../../../provider/rotation/outputs/rotationOutputs";
import { RealResource, RotatedUser } from "./sources/user/redisUser";

const password = "canary-admin-0c2f";
const values = { host: "redis.example.com", port: 6379, password };
/** The output `access` of a database's rotation. */
const access = (current: object | null = { name: "password", mark: "mark", value: password }): string => {
  const record = { endpoint: "redis.example.com", port: 6379, tls: true };
  return JSON.stringify({ id: "db", of: "PasswordRotation", count: 1, salt: "salt", record, current });
};

describe("userRotation: new users with one name", () => {
  /** What a run announces of one after the other. */
  const announced = (...admins: unknown[]): number[] => {
    const run = new RealResource("AclUserRotation").start();
    const handler = new ResourceHandler(resources.AclUserRotation, run);
    return admins.map((admin) => handler.plan(undefined, { userName: "app", admin, version: 1 }).notices.length);
  };

  it("are announced for each server, if their admins are not known yet, and once for the same server", () => {
    assert.deepEqual(announced(unknownValue, unknownValue, { ...values, host: unknownValue }), [1, 1, 1]);
    assert.deepEqual(announced(values, values), [1, 0]);
  });
});

describe("userRotation: a user of a server", () => {
  const admins: RedisAdmin[] = [];
  let user: RotatedUser;
  const up = (more: object = {}) => {
    const aclUsers = (admin: RedisAdmin) => (admins.push(admin), user.users as never);
    return user.up({ admin: access(), ...more }, user.start({ ...user.users.parts, aclUsers }));
  };
  const preview = (more: object = {}) => user.preview({ admin: access(), ...more });
  beforeEach(async () => {
    admins.length = 0;
    user = new RotatedUser();
    user.users.hashes = [];
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
    const app = new RotatedUser();
    assert.equal((await app.up({ userName: "app-{id}" })).failure, undefined);
    const { current } = JSON.parse(String(app.outputs["access"])) as { current: { username: string } };
    assert.equal(current.username, "app-{id}");
  });

  const ofPassword = { name: "password", mark: "mark", value: password };
  const same: Readonly<Record<string, unknown>> = {
    "another password": access({ ...ofPassword, mark: "other", value: "other" }),
    "another name": access({ ...ofPassword, username: "ops" }),
    "the address of the server": values,
    "a host in upper case": { ...values, host: "REDIS.example.com" },
  };
  for (const [what, admin] of Object.entries(same)) {
    const isMoved = what === "a host in upper case";
    it(`is the same with ${what}: only the access${isMoved ? " and the URL change" : " changes"}, without a request`, async () => {
      const { changes, replaces, changing, said } = preview({ admin });
      const expected = ["access", ...(isMoved ? ["connectionUrl"] : []), "memory"];
      const mayChange = [...expected, ...(isMoved ? ["restUrl"] : [])];
      assert.deepEqual([changes, replaces, changing, said], [true, [], mayChange, ""]);
      const before = user.outputs;
      admins.length = 0;
      assert.deepEqual(await up({ admin }), { said: "", failure: undefined });
      assert.deepEqual(admins, []);
      const names = Object.keys({ ...before, ...user.outputs });
      assert.deepEqual(names.filter((name) => !isSame(before[name], user.outputs[name])).sort(), expected);
      assert.equal(preview({ admin }).changes, false);
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

  it("is another one with another name", () => assert.deepEqual(preview({ userName: "job" }).replaces, ["userName"]));

  it("is that of the saved server while the admin is not known, and nothing else is announced", () => {
    for (const admin of [unknownValue, { ...values, host: unknownValue }]) {
      const { changes, replaces, changing, said } = preview({ admin });
      assert.deepEqual([changes, replaces, changing, said], [true, [], ["access", "memory"], ""]);
    }
    const admin = { ...values, host: "REDIS.example.com", password: unknownValue };
    assert.deepEqual(preview({ admin }).changing, ["access", "connectionUrl", "memory", "restUrl"]);
    const next = preview({ admin: unknownValue, version: 2 });
    assert.deepEqual(next.replaces, []);
    assert.match(next.said, /password of user "app" of database "db", because version or triggers have changed/);
  });

  it("is not changed while the admin's own reset is not confirmed", async () => {
    user.meets();
    const { failure = "" } = await up({ version: 2, admin: access(null) });
    // An adopted database may never show its password.
    const says =
      /password of user "app" of database "db" was not rotated.*its admin, database "db", is not known.* no read shows the password, set a new version of the PasswordRotation.*REKEY_UNCONFIRMED/;
    assert.match(failure, says);
    assert.deepEqual(user.users.commands, []);
  });

  it("has an admin whose password is read when it is needed", async () => {
    user.settings = { ...user.settings, databasePath: "none" };
    const admin = access({ name: "password", mark: "mark" });
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
