import assert from "node:assert/strict";
import { FakeAclUsers } from "../sources/user/fakeAclUsers";
import { RotatedUser } from "../sources/user/redisUser";

describe("before: a user at another server than before", () => {
  let user: RotatedUser;
  /** The output `access` of the rotation of the administrator's password. */
  const access = (id: string, host: string, port = 6379): string => {
    const current = { name: "password", mark: "mark", value: "admin" };
    const record = { endpoint: host, port, tls: true };
    return JSON.stringify({ id, of: "PasswordRotation", count: 1, salt: "salt", record, current });
  };
  const home = access("db", "redis.example.com");
  beforeEach(async () => {
    user = new RotatedUser();
    user.users.hashes = [];
    assert.equal((await user.up({ admin: home })).failure, undefined);
  });

  const moved = {
    "another database": access("other", "redis.example.com"),
    "another address of the database": access("db", "moved.example.com", 1),
    "another port": { host: "redis.example.com", port: 6380, password: "admin" },
    "another host": RotatedUser.elsewhere.admin,
  };
  for (const [what, admin] of Object.entries(moved)) {
    it(`(${what}) is the same if its list has the current password, and is read first`, async () => {
      const { changes, replaces, said } = user.preview({ admin });
      assert.deepEqual([changes, replaces], [true, []]);
      assert.match(said, /is read first\./);
      assert.equal((await user.up({ admin })).failure, undefined);
      assert.equal(user.outputs["password"], "made-1");
      assert.equal(user.preview({ admin }).changes, false);
    });
  }

  it("does not have what was retired at the first one, although its list has the same password", async () => {
    user = new RotatedUser();
    await user.up({ admin: home, overlap: "none" });
    assert.equal(user.valid, "made-1");
    user.users.hashes = user.list("first").hashes;
    const { admin } = RotatedUser.elsewhere;
    assert.equal((await user.up({ admin, version: 2 })).failure, undefined);
    assert.deepEqual([user.valid, user.formers], ["first made-2", "first"]);
    assert.doesNotMatch((await user.up({ admin, version: 2 })).said, /valid again/);
  });

  it("is not replaced by one that is not proven: what was current stays, and is not lost", async () => {
    const encryptFor = ["age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv"];
    user = new RotatedUser();
    const hidden = { saveCredentials: false, encryptFor, overlap: "24h" };
    await user.up(hidden);
    const { encryptedCredentials } = user.outputs;
    user.users.hashes = user.list("other").hashes;
    user.meets("prove: refused");
    const next = { ...hidden, ...RotatedUser.elsewhere, version: 2 };
    const announced =
      /If the user there does not have the current password, this is its first rotation: the first retire/;
    assert.match(user.preview(next).said, announced);
    assert.doesNotMatch(user.preview(RotatedUser.elsewhere).said, announced);
    const { said, failure = "" } = await user.up(next);
    assert.match(failure, /not handed out\. It has retired none that clients may use\. .* is not proven/);
    assert.match(said, /another name or address than before.*has 1 password that Rekey did not make/s);
    assert.deepEqual([user.outputs["encryptedCredentials"], user.formers], [encryptedCredentials, "first"]);
    const saved = JSON.parse(String(user.outputs["access"])) as { admin: object };
    assert.deepEqual([saved.admin, user.memory.kindFacts.hash], [user.inputs.admin, user.list("made-1").hashes[0]]);
    user.meets();
    assert.equal((await user.up(next)).failure, undefined);
    assert.deepEqual([user.valid, user.formers], ["other made-3", "other"]);
    assert.equal(user.memory.kindFacts.server?.endpoint?.host, next.admin.host);
  });

  it("is another one after it was rotated at a copy of its database: it is not sent the password", async () => {
    const copy = new FakeAclUsers(["first", "made-1"]);
    await copy.make(); // Each server makes its own.
    const admin = { host: "redis.example.com", port: 6380, password: "admin" };
    assert.equal((await user.up({ admin, version: 2 }, user.start(copy.parts))).failure, undefined);
    const { password, connectionUrl } = user.outputs;
    user.meets();
    const { failure = "" } = await user.up({ admin: access("db", "third.example.com"), version: 2 });
    assert.match(failure, /another name or address than before.* resource name of its own.*REKEY_VERIFICATION_FAILED/);
    assert.deepEqual([user.outputs["password"], user.outputs["connectionUrl"]], [password, connectionUrl]);
    assert.deepEqual(user.users.commands, ["read"]);
  });
});
