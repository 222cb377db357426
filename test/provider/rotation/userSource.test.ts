import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type AclUsers } from "../../../provider/clients/aclUsers";
import { RequestError } from "../../../provider/domain/errors";
import { readMemory } from "../../../provider/rotation/memory";
import { FakeAclUsers } from "../../support/fakeAclUsers";
import { RealResource } from "../../support/redisUser";

const facts = {
  purpose: "do it",
  method: "ACL SETUSER",
  url: "redis://x:1",
  consequences: { unchanged: "It was not added.", unknown: "It may have been added." },
};
const fails = (delivery: "not sent" | "rejected" | "maybe applied") => (): never => {
  throw new RequestError(delivery, facts, { happened: "it broke", advice: "Fix it." });
};
const lost = fails("maybe applied");

describe("rotation: the passwords of a user", () => {
  let users: FakeAclUsers;
  let user: RealResource;
  beforeEach(() => {
    users = new FakeAclUsers(["first"]);
    user = new RealResource("AclUserRotation", { deadlineSeconds: "0.1" });
  });
  const start = () => user.start({ aclUsers: () => users as unknown as AclUsers });
  const inputs = {
    userName: "app",
    admin: { host: "redis.example.com", port: 6379, password: "admin" },
    version: 1,
  };
  const up = (more: object = {}, run = start()) => user.up({ ...inputs, ...more }, run);
  const memory = () => readMemory(user.outputs["memory"]);
  /** The hashes of the former ones that are valid. */
  const formers = () => memory().formers.flatMap(({ by = [] }) => by);
  const first = hashOf("first");
  const current = (): string => String(user.outputs["password"]);

  it("are not handed out if the new one is refused, and the next run removes it first", async () => {
    users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
    const { failure = "" } = await up();
    assert.match(
      failure,
      /made valid, but not proven: it is refused: WRONGPASS no.*Check admin.*REKEY_VERIFICATION_FAILED/,
    );
    assert.equal(user.outputs["password"], undefined);
    assert.equal(memory().attempt?.expects, hashOf("made-1"));
    users.instead = {};
    await up();
    assert.deepEqual(users.hashes, ["first", "made-2"].map(hashOf));
    assert.equal(memory().attempt, undefined);
  });

  const lostWhile: Readonly<Record<string, keyof AclUsers>> = {
    "its removal is lost": "remove",
    "GENTOKEN is lost": "make",
    "INFO is lost": "readServer",
  };
  for (const [what, command] of Object.entries(lostWhile)) {
    it(`are removed by a later run if they were not proven, and ${what}`, async () => {
      users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
      await up();
      users.instead = { [command]: lost };
      assert.match((await up()).failure ?? "", /it broke/);
      users.instead = {};
      assert.equal((await up()).failure, undefined);
      assert.deepEqual(users.hashes, [first, hashOf(current())]);
    });
  }

  describe("in a call that the engine repeats, as an error hook does", () => {
    const failures: Readonly<Record<string, Pick<FakeAclUsers, "instead"> & { readonly more?: object }>> = {
      "SAVE is not sent": { instead: { save: fails("not sent") } },
      "SAVE is rejected": { instead: { save: fails("rejected") } },
      "the proof is not possible": { instead: { prove: fails("not sent") } },
      "the former one is not removed": { instead: { remove: fails("rejected") }, more: { overlap: "none" } },
    };
    for (const [what, { instead, more = {} }] of Object.entries(failures)) {
      it(`are added once, although ${what}`, async () => {
        users.instead = instead;
        const run = start();
        await up(more, run);
        user.saved = undefined;
        await up(more, run);
        assert.equal(users.commands.filter((command) => command === "add").length, 1);
        assert.deepEqual(users.hashes, [first, hashOf("made-1")]);
      });
    }
  });

  describe("at a server that makes tokens", () => {
    beforeEach(() => (users.makesTokens = true));

    it("are tokens of the REST interface, too", async () => {
      await up();
      const { restToken, restUrl } = user.outputs;
      assert.deepEqual([restToken, restUrl], ["made-1", "https://redis.example.com"]);
      assert.ok(!users.commands.includes("readServer"), "the server replicates its users itself");
    });

    it("are known by another hash, if it is the only one that is new", async () => {
      users.hashOfToken = (token) => hashOf(`other ${token}`);
      await up();
      assert.equal(memory().ofSource.hash, hashOf("other made-1"));
    });

    it("are known although the first reply to GETUSER after the addition is lost", async () => {
      users.hashOfToken = (token) => hashOf(`other ${token}`);
      const loseOnce = () => {
        users.after = {};
        lost();
      };
      users.after = { add: () => void (users.after = { read: loseOnce as never }) };
      await up();
      assert.equal(memory().ofSource.hash, hashOf("other made-1"));
    });

    it("are not known if two hashes are new, and none is retired for it", async () => {
      users.hashOfToken = (token) => hashOf(`other ${token}`);
      users.after = { add: () => void users.hashes.push(hashOf("someone else's")) };
      const { said } = await up();
      assert.match(
        said,
        /is not certain which of the user's hashes is that of the current password.*remove it with `ACL SETUSER app !<hash>`/,
      );
      assert.equal(memory().ofSource.hash, undefined);
      users.after = {};
      const { said: next } = await up({ version: 2 });
      assert.match(next, /is not certain which of the user's hashes is that of the current password/);
      assert.doesNotMatch(next, /that Rekey does not know/);
      assert.ok(["other made-1", "someone else's"].every((one) => users.hashes.includes(hashOf(one))));
    });
  });

  it("are none before the first rotation of a user without one", async () => {
    users.hashes = [];
    await up();
    assert.deepEqual(formers(), []);
    await up({ version: 2 });
    assert.deepEqual(formers(), [hashOf("made-1")]);
  });

  it("of others are never retired", async () => {
    await up();
    users.hashes.push(hashOf("someone else's"));
    await up({ version: 2 });
    await up({ version: 3, overlap: "none" });
    assert.deepEqual(users.hashes, [hashOf("someone else's"), hashOf(current())]);
  });

  /** Fails the first time. */
  const once = (failure: () => never) => {
    let count = 0;
    return (): never | undefined => (count++ === 0 ? failure() : undefined);
  };

  it("are added again if a read shows that they were not", async () => {
    const failing = once(lost);
    users.instead = { add: () => (failing(), void users.hashes.push(hashOf("made-1"))) };
    assert.equal((await up()).failure, undefined);
    assert.equal(users.commands.filter((one) => one === "add").length, 2);
    assert.deepEqual([users.hashes, current()], [["first", "made-1"].map(hashOf), "made-1"]);
  });

  it("may have been added if the second attempt is not sent", async () => {
    const failing = once(lost);
    users.instead = { add: () => (failing(), fails("not sent")()) };
    assert.match((await up()).failure ?? "", /may have been added.*REKEY_UNCONFIRMED/);
    assert.equal(memory().attempt?.expects, hashOf("made-1"));
  });

  for (const delivery of ["not sent", "maybe applied"] as const) {
    it(`are saved once more if that was ${delivery}`, async () => {
      users.after = { save: once(fails(delivery)) as () => never };
      assert.equal((await up()).failure, undefined);
      assert.equal(users.commands.filter((one) => one === "save").length, 2);
    });
  }

  it("are not saved once more if the server has rejected it", async () => {
    users.after = { save: fails("rejected") };
    assert.match((await up()).failure ?? "", /it broke/);
    assert.equal(users.commands.filter((one) => one === "save").length, 1);
  });

  describe("that the server has failed to save", () => {
    for (const given of [{}, { overlap: "none" }]) {
      it(`are saved by the next up, which changes nothing else: ${JSON.stringify(given)}`, async () => {
        users.instead = { save: fails("rejected") };
        assert.match((await up(given)).failure ?? "", /it broke/);
        const { hashes } = users;
        const { password } = user.outputs;
        const { said, changing } = user.preview({ ...inputs, ...given });
        assert.match(said, /has not saved the last change of its users: `up` sends ACL SAVE/);
        assert.deepEqual(changing, ["memory"]);
        users.commands.length = 0;
        assert.match((await up(given)).failure ?? "", /it broke/);
        users.instead = {};
        users.commands.length = 0;
        assert.equal((await up(given)).failure, undefined);
        assert.deepEqual(users.commands, ["read", "save"]);
        assert.deepEqual([users.hashes, user.outputs["password"]], [hashes, password]);
        users.commands.length = 0;
        await up(given);
        assert.deepEqual(users.commands, formers().length > 0 ? ["read"] : [], "a former one is valid");
      });
    }

    it("are saved by a new version, too", async () => {
      users.instead = { save: fails("rejected") };
      await up();
      users.instead = {};
      await up({ version: 2 });
      assert.equal(memory().ofSource.isUnsaved, undefined);
    });
  });

  describe("of which the current one is gone", () => {
    const gone = async (more: object = {}): Promise<void> => {
      assert.equal((await up(more)).failure, undefined);
      users.hashes = [first];
      users.commands.length = 0;
    };

    it("are not handed over: the run fails, until a new version, which retires none of them", async () => {
      await gone();
      const { failure = "" } = await up();
      assert.match(
        failure,
        /does not have the current password any more.*Set a new version.*REKEY_VERIFICATION_FAILED/,
      );
      assert.equal(users.commands.includes("prove"), true, "the run logs in with it");
      const { said, failure: none } = await up({ version: 2 });
      assert.deepEqual([none, users.hashes], [undefined, [first, hashOf("made-2")]]);
      assert.doesNotMatch(said, /was retired/);
      assert.deepEqual(formers(), [first]);
    });

    it("are kept although a date asks for their retirement, as old as they are", async () => {
      await gone();
      const rotatedSince = new Date().toISOString();
      await up({ rotatedSince });
      assert.ok(users.hashes.includes(first));
    });

    it("are read by the next up after a refresh has found it", async () => {
      users.hashes = [];
      await up();
      users.hashes = [];
      await user.refresh(start());
      assert.match(user.preview(inputs).said, /is read first/);
      assert.match((await up()).failure ?? "", /REKEY_VERIFICATION_FAILED/);
    });

    it("are valid if a login shows it, although the list does not have it", async () => {
      await up();
      users.hashes = [first];
      users.instead = { prove: () => ({ kind: "accepted" }) };
      assert.equal((await up()).failure, undefined);
    });

    it("are proven to be by the list alone if its value is not known, and another one that is known is in it", async () => {
      const encryptFor = ["age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv"];
      const hidden = { saveCredentials: false, encryptFor, overlap: "24h" };
      await up(hidden);
      users.hashes = [hashOf("other")];
      assert.equal((await up(hidden)).failure, undefined, "which hash is the current one is not certain");
    });
  });

  it("of an earlier version stay valid for a new one, and a verification is told of all", async () => {
    await up();
    await up({ version: 2 });
    const all = ["first", "made-1", "made-2"].map(hashOf);
    assert.deepEqual([users.hashes, formers()], [all, all.slice(0, 2)]);
    const { retire } = JSON.parse(String(user.outputs["access"])) as { retire: { formers: { by: string }[] } };
    assert.deepEqual(
      retire.formers.map(({ by }) => by),
      all.slice(0, 2),
    );
  });

  it("that were retired and are back are retired again by the rotation that did it", async () => {
    await up({ overlap: "none" });
    users.hashes.push(first);
    const { said } = await up({ overlap: "none", rotateEvery: "30d" });
    assert.doesNotMatch(said, /back/, "nothing is read while no former one is valid");
    const { said: next } = await up({ overlap: "none", version: 2 });
    assert.match(next, /was retired is valid again.*It is retired again/);
    assert.deepEqual(users.hashes, [hashOf(current())]);
  });

  it("are unproven at a server that hides its hashes, and nothing is retired", async () => {
    users.instead = { read: () => ({ isOn: true, hasNoPassword: false, hashes: [first] }) };
    const { failure = "" } = await up();
    assert.match(failure, /accepts it, but does not list it.*REKEY_VERIFICATION_FAILED/);
    assert.deepEqual([user.outputs["password"], user.outputs["outcome"]], [undefined, "unproven"]);
  });

  it("that were retired by someone else are not retired again", async () => {
    await up();
    users.hashes = users.hashes.filter((hash) => hash !== first);
    users.commands.length = 0;
    await up({ version: 2 });
    assert.ok(!users.commands.includes("remove"));
  });

  it("show when the rotation has retired the former one, until the next rotation", async () => {
    await up({ overlap: "none" });
    const { formerRetiredAt } = user.outputs;
    assert.ok(formerRetiredAt);
    await up({ overlap: "none", rotateEvery: "30d" });
    assert.equal(user.outputs["formerRetiredAt"], formerRetiredAt);
  });

  const failing = {
    "the first one, and nothing is said of it": { nth: 1, said: /^$/, left: 2 },
    "the second one, and it says so": { nth: 2, said: /only some of the former passwords were retired/, left: 1 },
  };
  for (const [which, { nth, said, left }] of Object.entries(failing)) {
    it(`are saved, although it is not known whether the server has removed ${which}`, async () => {
      await up();
      await up({ version: 2 });
      const over = { version: 2, overlap: "none" };
      await up(over);
      let call = 0;
      users.after = { remove: () => (++call === nth ? lost() : undefined) };
      users.commands.length = 0;
      const came = await up(over);
      assert.match(came.said, said);
      assert.match(came.failure ?? "", /it broke/);
      assert.deepEqual([formers().length, users.commands.includes("save")], [left, true]);
    });
  }

  it("of others are kept, also if they were added while an addition was lost", async () => {
    users.makesTokens = true;
    const lost = () => {
      users.hashes.push(hashOf("someone else's"));
      throw new RequestError("maybe applied", facts, { happened: "it was lost", advice: "Fix it." });
    };
    users.instead = { add: lost };
    assert.match((await up()).failure ?? "", /it was lost/);
    users.instead = {};
    await up();
    assert.ok(users.hashes.includes(hashOf("someone else's")));
  });
});
