import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { hashOf } from "../../../../provider/clients/aclReplies";
import { RotatedUser } from "../sources/user/redisUser";

const recipient = "age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv";
const notRetired = /was not retired: `ACL GETUSER` does not list the current one, so it is unknown which/;

describe("retire: former passwords that are due", () => {
  let user: RotatedUser;
  beforeEach(() => void (user = new RotatedUser()));
  const over = { overlap: "none" };

  const changed = {
    "are kept if the current one has gone since the read": { list: ["first"], left: "first", fails: notRetired },
    "are kept if the list is hidden since the read": { list: [], left: "first", fails: notRetired },
    "have gone since the read": { list: ["made-1"], left: "", fails: /^$/ },
  };
  for (const [title, { list, left, fails }] of Object.entries(changed)) {
    it(title, async () => {
      await user.up();
      await user.up(over);
      let reads = 0;
      user.users.instead = { read: () => user.list(...(++reads === 1 ? ["first", "made-1"] : list)) };
      assert.match((await user.up(over)).failure ?? "", fails);
      assert.deepEqual([user.formers, user.outputs["formerRetiredAt"]], [left, undefined]);
    });
  }

  it("are kept while nothing shows that the current one is valid: its hash and its value are not known", async () => {
    const { users } = user;
    users.makesTokens = true;
    users.instead = {
      add: () => void users.hashes.push(hashOf("x"), hashOf("y")),
      prove: () => ({ kind: "accepted" }),
    };
    const hidden = { saveCredentials: false, encryptFor: [recipient], overlap: "PT0.01S" };
    assert.equal((await user.up(hidden)).failure, undefined);
    user.meets();
    users.hashes = [hashOf("first")];
    await wait(20);
    assert.match((await user.up(hidden)).failure ?? "", notRetired);
    assert.deepEqual([user.valid, user.formers], ["first", "first"]);
  });

  it("are kept before a rotation for a date, too, which goes on: the list may show the new one", async () => {
    await user.up();
    user.meets("read: an empty list, prove: accepted");
    const { failure = "" } = await user.up({ rotatedSince: new Date(Date.now() + 1_000).toISOString() });
    assert.match(failure, /has added a new one, which was not handed out\. .* accepts it, but does not list it/);
    assert.deepEqual([user.valid, user.formers], ["first made-1 made-2", "first"]);
  });

  it("stay former ones, and the list is saved, if it is not known whether the server has removed them", async () => {
    await user.up();
    await user.up({ version: 2 });
    await user.up({ version: 2, ...over });
    user.meets("remove: lost");
    const { said, failure = "" } = await user.up({ version: 2, ...over });
    assert.match(failure, /^Could not do it/);
    assert.deepEqual([said, user.formers, user.users.commands.at(-1)], ["", "first made-1", "save"]);
    assert.deepEqual([user.memory.kindFacts.retired ?? [], user.outputs["formerRetiredAt"]], [[], undefined]);
    user.meets();
    const retired = /the former password was retired\. More than one had been valid since/;
    assert.match((await user.up({ version: 2, ...over })).said, retired);
    assert.deepEqual([user.valid, user.memory.kindFacts.retired], ["made-2", ["first", "made-1"].map(hashOf)]);
  });

  it("leave their time, until the next rotation", async () => {
    await user.up(over);
    const { formerRetiredAt } = user.outputs;
    assert.ok(formerRetiredAt);
    await user.up({ ...over, rotateEvery: "30d" });
    assert.equal(user.outputs["formerRetiredAt"], formerRetiredAt);
  });
});
