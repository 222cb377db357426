import assert from "node:assert/strict";
import { aclUser } from "../../../../../provider/domain/secretKind";
import { readMemory } from "../../../../../provider/rotation/memory/memory";
import { readProgram } from "../../../../../provider/rotation/program/program";
import { openSession } from "../../../../../provider/rotation/sources/session";
import { RotatedUser } from "./redisUser";

describe("userSource: the passwords of a user", () => {
  let user: RotatedUser;
  beforeEach(() => void (user = new RotatedUser()));

  it("are kept if a login shows that the current one is valid: a list without it shows nothing of the others", async () => {
    await user.up();
    user.users.hashes = [];
    user.meets("prove: accepted");
    const isOver = () => user.up({ overlap: "none" });
    const calls = [() => user.up(), () => user.refresh(), isOver, isOver];
    for (const [nth, call] of calls.entries()) {
      const { said, failure = "" } = await call();
      assert.match(failure, nth === 3 ? /was not retired: `ACL GETUSER` does not list the current one/ : /^$/);
      assert.match(said, /compared: the server does not list it, so it is unknown which of the user's passwords are/);
      assert.equal(user.formers, "first");
    }
    // It ends while another one is added.
    let reads = 0;
    const read = () => (++reads === 1 ? user.list() : user.list("first", "made-1", "made-2"));
    user.users.instead = { ...user.users.instead, read };
    assert.equal((await user.up({ version: 2 })).failure, undefined);
    assert.equal(user.formers, "first made-1", "what was known stays known");
  });

  it("are not handed over if the current one is gone, whether or not its value is known, until a new version", async () => {
    const encryptFor = ["age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv"];
    const isGone = /does not have the current password any more.*Set a new version/;
    for (const form of [{}, { saveCredentials: false, encryptFor, overlap: "24h" }]) {
      user = new RotatedUser();
      await user.up(form);
      user.users.hashes = user.list("first").hashes;
      assert.match((await user.refresh()).said, isGone);
      assert.equal(user.outputs["mustRead"], true, "an alarm that reads the state only sees it");
      user.meets();
      assert.match((await user.up(form)).failure ?? "", isGone);
      assert.deepEqual(user.users.commands, ["read"], "a list that has others hides nothing");
      const { said, failure } = await user.up({ ...form, version: 2 });
      assert.deepEqual([failure, user.valid, user.formers], [undefined, "first made-2", "first"]);
      assert.doesNotMatch(said, /was retired/);
    }
  });

  it("are not former ones if all were removed: an empty list that hides nothing has none", async () => {
    await user.up();
    user.users.hashes = [];
    assert.equal((await user.up({ version: 2 })).failure, undefined);
    assert.deepEqual([user.valid, user.formers, user.outputs["formerValidSince"]], ["made-2", "", undefined]);
  });

  it("are known by the hash that was sent, although no list can be read after the proof", async () => {
    let reads = 0;
    user.meets("read: not sent");
    const { read } = user.users.instead;
    user.users.instead = { read: () => (++reads === 1 ? user.list("first") : read!()) };
    assert.doesNotMatch((await user.up()).said, /is not certain/);
    assert.equal(user.memory.kindFacts.hash, user.list("made-1").hashes[0]);
  });

  for (const makesTokens of [true, false]) {
    const what = makesTokens ? "twice, if a platform may learn late of a token" : "once, if a refusal is final";
    it(`are proven by a login: ${what}`, async () => {
      user.users.makesTokens = makesTokens;
      let count = 0;
      const refused = { kind: "refused", words: "WRONGPASS no" } as const;
      user.users.instead = { prove: () => (++count === 1 ? refused : { kind: "accepted" }) };
      assert.match((await user.up()).failure ?? "", makesTokens ? /^$/ : /is not proven: it is refused/);
      assert.equal(count, makesTokens ? 2 : 1);
    });
  }

  it("are tokens of the REST interface, too, at a server that makes them", async () => {
    user.users.makesTokens = true;
    await user.up();
    const { restToken, restUrl } = user.outputs;
    assert.deepEqual([restToken, restUrl], ["made-1", "https://redis.example.com"]);
    assert.ok(!user.users.commands.includes("readServer"), "the server replicates its users itself");
  });

  it("are counted by an adoption", async () => {
    const { said } = await user.up({ initialRotation: false, version: undefined });
    assert.match(said, /has 1 password that Rekey did not make\. The first retirement removes it/);
  });

  it("are none before the first rotation of a user without one", async () => {
    user.users.hashes = [];
    await user.up();
    assert.equal(user.formers, "");
    await user.up({ version: 2 });
    assert.equal(user.formers, "made-1");
  });

  describe("that another resource of the run hands out, by another name of the server", () => {
    const other = { admin: { host: "alias.example.com", port: 6379, password: "admin" } };
    const isBoth = /user "app" of alias.* is also user "app" of redis.*, or a copy of it: .*REKEY_DUPLICATE_SECRET/;
    const sameServer = () => Object.assign(new RotatedUser(), { users: user.users });

    it("are kept, if the run has compared that resource", async () => {
      await user.up();
      const run = user.start();
      user.preview({}, run);
      assert.match((await sameServer().up(other, run)).failure ?? "", isBoth);
      assert.equal(user.valid, "first made-1");
    });

    it("are kept by a later retirement, if the run compares it after the other one was added", async () => {
      await user.up();
      const [run, one] = [user.start(), sameServer()];
      assert.equal((await one.up(other, run)).failure, undefined);
      user.preview({}, run);
      const place = readProgram({ ...user.inputs, ...other }, aclUser);
      const { source } = openSession({ kind: aclUser, id: "app", server: "alias.example.com:6379" }, run, place);
      const { formers, salt, kindFacts } = readMemory(one.outputs["memory"]);
      await assert.rejects(source.retire?.(formers, { salt, currentHash: kindFacts.hash }) ?? assert.fail(), isBoth);
      assert.match(user.valid, /made-1/);
    });
  });
});
