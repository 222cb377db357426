import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { hashOf } from "../../../../provider/clients/aclReplies";
import { type AclUsers } from "../../../../provider/clients/aclUsers";
import { RequestError } from "../../../../provider/domain/errors";
import { aclUser } from "../../../../provider/domain/secretKind";
import { readMemory } from "../../../../provider/rotation/memory/memory";
import { readProgram } from "../../../../provider/rotation/program/program";
import { openSession } from "../../../../provider/rotation/sources/session";
import { FakeAclUsers } from "./fakeAclUsers";
import { RealResource } from "./redisUser";
import { RotatedSecret } from "../../../support/rotatedSecret";

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
const recipient = "age1xmp5wfwz62pu6l8jz6ws5p3vcp8a0fd9srve2d2x76y4revu8c3qexh4vv";

describe("rotation: the passwords of a user", () => {
  let users: FakeAclUsers;
  let user: RealResource;
  beforeEach(() => {
    users = new FakeAclUsers(["first"]);
    user = new RealResource("AclUserRotation", { deadlineSeconds: "0.1" });
  });
  const start = () => user.start(users.parts);
  const inputs = {
    userName: "app",
    admin: { host: "redis.example.com", port: 6379, password: "admin" },
    version: 1,
  };
  const up = (more: object = {}, run = start()) => user.up({ ...inputs, ...more }, run);
  const memory = () => readMemory(user.outputs["memory"]);
  /** The hashes of the former ones that are valid. */
  const formers = () => memory().formers.flatMap(({ retireHash = [] }) => retireHash);
  const first = hashOf("first");
  /** A date for which all that was made before is too old. */
  const inASecond = () => new Date(Date.now() + 1_000).toISOString();
  const current = (): string => String(user.outputs["password"]);

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

  it("are replaced by the first rotation, although one that was not proven, and was removed, is back", async () => {
    users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
    await up();
    await up();
    users.hashes = [first, hashOf("made-1")];
    users.instead = {};
    assert.equal((await up()).failure, undefined);
    assert.deepEqual([user.outputs["waits"], current(), formers()], [undefined, "made-3", [first, hashOf("made-1")]]);
  });

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
        const { failure = "" } = await up(more, run);
        assert.match(failure, /is not complete: this run has added a new one\b.*it broke/);
        user.saved = undefined;
        await up(more, run);
        assert.equal(users.commands.filter((command) => command === "add").length, 1);
        assert.deepEqual(users.hashes, [first, hashOf("made-1")]);
      });
    }
  });

  describe("in a second call of one run, after which the engine has saved the first", () => {
    const left: Readonly<Record<string, Pick<FakeAclUsers, "instead"> & { more?: object; sends: string[] }>> = {
      "are saved": { instead: { save: fails("rejected") }, sends: ["read", "save"] },
      "are retired": {
        ...{ instead: { remove: fails("rejected") }, more: { overlap: "none" } },
        sends: ["read", "read", "remove", "save"],
      },
      "are read": { instead: {}, sends: ["read"] },
    };
    for (const [what, { instead, more = {}, sends }] of Object.entries(left)) {
      it(what, async () => {
        const run = start();
        users.instead = instead;
        await up(more, run);
        users.instead = {};
        users.commands.length = 0;
        assert.equal((await up(more, run)).failure, undefined);
        assert.deepEqual(users.commands, sends);
      });
    }
  });

  const unproven: Readonly<Record<string, Pick<FakeAclUsers, "instead"> & { says: RegExp }>> = {
    "the addition is lost, too": {
      instead: { add: lost, prove: fails("not sent") },
      says: /this run may have added a new one, which was not handed out\..* does it: Could not do it: /,
    },
    "that is a bug": {
      instead: {
        prove: () => {
          throw new TypeError("made-2");
        },
      },
      says: /pulumi-rekey failed unexpectedly \(TypeError.*may have been changed/,
    },
  };
  for (const [what, { instead, says }] of Object.entries(unproven)) {
    it(`are not handed out if their proof fails, and ${what}`, async () => {
      await up();
      users.instead = instead;
      assert.match((await up({ version: 2 })).failure ?? "", says);
      assert.deepEqual([current(), user.outputs["outcome"]], ["made-1", "unproven"]);
      users.instead = {};
      assert.equal((await up({ version: 2 })).failure, undefined);
      assert.deepEqual(users.hashes, ["first", "made-1", "made-3"].map(hashOf));
    });
  }

  type Failing = Pick<FakeAclUsers, "instead"> & { says: RegExp; valid: string[]; former?: string[] };
  const dated: Readonly<Record<string, Failing>> = {
    "the older one is not removed: none is added": {
      instead: { remove: fails("rejected") },
      says: /^Could not do it/,
      valid: ["first", "made-1"],
      former: ["first"],
    },
    "none is added: the older one is retired": {
      instead: { add: fails("rejected") },
      says: /is not complete: this run has retired the older one\. What it could not finish is saved/,
      valid: ["made-1"],
    },
    "the server has become a replica: the older one is retired": {
      instead: { readServer: () => ({ isReplica: true, isCluster: false, isSentinel: false, replicas: 0 }) },
      says: /retired the older one\. What it could not finish is saved, and the next `up` does it: the server is a replica.*primary\. \[REKEY_INCOMPLETE/,
      valid: ["made-1"],
    },
  };
  for (const [what, { instead, says, valid, former = [] }] of Object.entries(dated)) {
    it(`that are older than a date: ${what}, and it does not count for the limit`, async () => {
      await up();
      user.settings = { ...user.settings, maxResetsPerRun: "1" };
      const [run, more] = [start(), { rotatedSince: inASecond() }];
      users.instead = instead;
      assert.match((await up(more, run)).failure ?? "", says);
      assert.deepEqual([users.hashes, formers()], [valid.map(hashOf), former.map(hashOf)]);
      users.instead = {};
      assert.equal((await up(more, run)).failure, undefined);
      assert.deepEqual(formers(), [hashOf("made-1")]);
    });
  }

  it("that are older than a date are retired, and a new one that is not proven is not said to be incomplete", async () => {
    await up();
    users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
    const { failure = "" } = await up({ rotatedSince: inASecond() });
    assert.match(
      failure,
      / not handed out, and has retired the older one\. .* does it: The new password .* is not proven/,
    );
    assert.deepEqual([users.hashes, formers()], [["made-1", "made-2"].map(hashOf), []]);
  });

  it("that are not older than a date stay valid", async () => {
    const rotatedSince = new Date().toISOString();
    await up();
    await up({ version: 2 });
    await up({ version: 2, rotatedSince });
    assert.deepEqual([users.hashes, formers()], [["made-1", "made-2"].map(hashOf), [hashOf("made-1")]]);
  });

  const unsaved = {
    1: /^$/,
    2: /has added a new one, and has retired the former one\. A restart of the server undoes that .*it broke.*\[REKEY_INCOMPLETE\]$/,
  };
  for (const [nth, says] of Object.entries(unsaved)) {
    it(`are replaced, although the server fails to save step ${nth}: only the last one counts`, async () => {
      let saves = 0;
      users.instead = { save: () => (++saves === Number(nth) ? fails("rejected")() : "saved") };
      assert.match((await up({ overlap: "none" })).failure ?? "", says);
    });
  }

  it("that someone else has retired are known to be, although the next one is not added", async () => {
    await up();
    await up({ version: 2 });
    users.hashes.splice(0, 2);
    users.instead = { add: fails("rejected") };
    assert.match((await up({ version: 3 })).failure ?? "", /it broke/);
    assert.deepEqual(
      memory().formers.map(({ retireHash }) => retireHash),
      [undefined],
      "a verification tries the last one",
    );
  });

  const notRetired = /was not retired: `ACL GETUSER` does not list the current one, so it is unknown which/;
  const changed: Readonly<Record<string, { list: () => string[]; left: string[]; fails?: RegExp }>> = {
    "are kept if the current one has gone since": { list: () => [first], left: [first], fails: notRetired },
    "are kept if the list is hidden since": { list: () => [], left: [first], fails: notRetired },
    "have gone since": { list: () => [hashOf(current())], left: [] },
  };
  for (const [what, { list, left, fails = /^$/ }] of Object.entries(changed)) {
    it(`that are due, and were read, ${what}`, async () => {
      await up();
      await up({ overlap: "none" });
      let reads = 0;
      const [before, after] = [users.hashes, list()];
      const hashesAt = () => (++reads === 1 ? before : after);
      users.instead = { read: () => ({ isOn: true, hasNoPassword: false, hashes: hashesAt() }) };
      assert.match((await up({ overlap: "none" })).failure ?? "", fails);
      assert.deepEqual([formers(), user.outputs["formerRetiredAt"]], [left, undefined]);
    });
  }

  it("are tokens of the REST interface at a server that makes them", async () => {
    users.makesTokens = true;
    await up();
    const { restToken, restUrl } = user.outputs;
    assert.deepEqual([restToken, restUrl], ["made-1", "https://redis.example.com"]);
    assert.ok(!users.commands.includes("readServer"), "the server replicates its users itself");
  });

  it("are not shown before the first rotation of a user that is adopted", async () => {
    const { said } = await up({ initialRotation: false, version: undefined });
    assert.match(said, /was adopted without credentials, because a Redis shows only hashes of passwords/);
  });

  it("are none before the first rotation of a user without one", async () => {
    users.hashes = [];
    await up();
    assert.deepEqual(formers(), []);
    await up({ version: 2 });
    assert.deepEqual(formers(), [hashOf("made-1")]);
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
      assert.equal(memory().kindFacts.isUnsaved, undefined);
    });
  });

  describe("of which the current one is gone", () => {
    it("are not handed over: the run fails, until a new version, which retires none of them", async () => {
      await up();
      users.hashes = [first];
      const { failure = "" } = await up();
      assert.match(
        failure,
        /does not have the current password any more.*Set a new version.*REKEY_VERIFICATION_FAILED/,
      );
      assert.equal(user.outputs["mustRead"], true, "an alarm that reads the state only sees it");
      const { said, failure: none } = await up({ version: 2 });
      assert.deepEqual([none, users.hashes], [undefined, [first, hashOf("made-2")]]);
      assert.doesNotMatch(said, /was retired/);
      assert.deepEqual(formers(), [first]);
    });

    it("are replaced by a new version at another server, although that has what the first one has retired", async () => {
      await up({ overlap: "none" });
      users.hashes = [first];
      const admin = { host: "other.example.com", port: 6379, password: "admin" };
      const moved = await up({ admin });
      assert.match(moved.failure ?? "", /another name or address than before.*REKEY_VERIFICATION_FAILED/);
      users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
      assert.match((await up({ admin, version: 2 })).failure ?? "", /not proven/);
      users.instead = {};
      assert.equal((await up({ admin, version: 2 })).failure, undefined);
      assert.deepEqual([users.hashes, formers()], [[first, hashOf(current())], [first]]);
      assert.doesNotMatch((await up({ admin, version: 2 })).said, /valid again/);
    });

    it("are not replaced by one at another server that is not proven: what was current stays, and is not lost", async () => {
      const encryptFor = [recipient];
      await up({ saveCredentials: false, encryptFor, overlap: "24h" });
      const { encryptedCredentials } = user.outputs;
      users.hashes = [hashOf("other")];
      users.instead = { prove: () => ({ kind: "refused", words: "WRONGPASS no" }) };
      const admin = { host: "other.example.com", port: 6379, password: "admin" };
      const moved = { saveCredentials: false, encryptFor, overlap: "24h", admin, version: 2 };
      const { said, failure = "" } = await up(moved);
      assert.match(failure, /not handed out\. It has retired none that clients may use\. .* is not proven/);
      assert.match(said, /another name or address than before.*has 1 password that Rekey did not make/s);
      assert.doesNotMatch(said, /never retires/);
      assert.deepEqual([user.outputs["encryptedCredentials"], formers()], [encryptedCredentials, [first]]);
      const access = JSON.parse(String(user.outputs["access"])) as { admin: object };
      assert.deepEqual([access.admin, memory().kindFacts.hash], [inputs.admin, hashOf("made-1")]);
      users.instead = {};
      assert.equal((await up(moved)).failure, undefined);
      assert.deepEqual(users.hashes, ["other", "made-3"].map(hashOf));
      assert.deepEqual([formers(), memory().kindFacts.server?.endpoint?.host], [[hashOf("other")], admin.host]);
    });

    it("are named by a refresh", async () => {
      await up();
      users.hashes = [first];
      assert.match((await user.refresh(start())).said, /does not have the current password any more/);
    });

    it("are kept if a login shows that it is valid: a list without it shows nothing of the others, either", async () => {
      await up();
      users.hashes = [];
      users.instead = { prove: () => ({ kind: "accepted" }) };
      const isOver = () => up({ overlap: "none" });
      const calls = [up, () => user.refresh(start()), isOver, isOver];
      for (const [nth, call] of calls.entries()) {
        const { said, failure = "" } = await call();
        assert.match(failure, nth === 3 ? notRetired : /^$/);
        assert.match(said, /compared: the server does not list it, so it is unknown which of the user's passwords are/);
        assert.deepEqual(formers(), [first]);
      }
      // It ends while another one is added.
      let reads = 0;
      const hashes = [first, ...["made-1", "made-2"].map(hashOf)];
      const list = () => ({ isOn: true, hasNoPassword: false, hashes: ++reads === 1 ? [] : hashes });
      users.instead = { ...users.instead, read: list };
      assert.equal((await up({ version: 2 })).failure, undefined);
      assert.deepEqual(formers(), [first, hashOf("made-1")], "what was known stays known");
    });

    it("are proven to be by a list that shows others, also if the value of the current one is not known", async () => {
      const hidden = { saveCredentials: false, encryptFor: [recipient], overlap: "24h" };
      await up(hidden);
      users.hashes = [hashOf("other")];
      assert.match((await up(hidden)).failure ?? "", /does not have the current password any more/);
      assert.doesNotMatch(users.commands.slice(-2).join(), /prove/);
    });
  });

  it("are retired by the hash that was sent, although no list can be read after the proof", async () => {
    let reads = 0;
    const list = { isOn: true, hasNoPassword: false, hashes: [first] };
    users.instead = { read: () => (++reads === 1 ? list : fails("not sent")()) };
    assert.doesNotMatch((await up()).said, /is not certain/);
    assert.equal(memory().kindFacts.hash, hashOf("made-1"));
  });

  it("are kept while nothing shows that the current one is valid: its hash is not certain, and its value not known", async () => {
    users.makesTokens = true;
    users.instead = {
      add: () => void users.hashes.push(hashOf("x"), hashOf("y")),
      prove: () => ({ kind: "accepted" }),
    };
    const hidden = { saveCredentials: false, encryptFor: [recipient], overlap: "PT0.01S" };
    assert.equal((await up(hidden)).failure, undefined);
    users.instead = {};
    users.hashes = [first];
    await wait(20);
    assert.match((await up(hidden)).failure ?? "", notRetired);
    assert.deepEqual([users.hashes, formers()], [[first], [first]]);
  });

  for (const [what, makesTokens, tries] of [
    ["a token, which a platform may learn late, is tried again", true, 2],
    ["any other one is not: a refusal is final", false, 1],
  ] as const) {
    it(`are proven by a login: ${what}`, async () => {
      users.makesTokens = makesTokens;
      let count = 0;
      const refused = { kind: "refused", words: "WRONGPASS no" } as const;
      users.instead = { prove: () => (++count === 1 ? refused : { kind: "accepted" }) };
      assert.match((await up()).failure ?? "", makesTokens ? /^$/ : /is not proven: it is refused/);
      assert.equal(count, tries);
    });
  }

  describe("that another resource of the run hands out, by another name of the server", () => {
    const other = { admin: { ...inputs.admin, host: "alias.example.com" } };
    const isBoth = /user "app" of alias.* is also user "app" of redis.*, or a copy of it: .*REKEY_DUPLICATE_SECRET/;
    it("are kept, if the run has compared that resource", async () => {
      await up();
      const run = start();
      user.preview(inputs, run);
      const one = new RealResource("AclUserRotation", user.settings);
      assert.match((await one.up({ ...inputs, ...other }, run)).failure ?? "", isBoth);
      assert.deepEqual(users.hashes, [first, hashOf("made-1")]);
    });
    it("are kept by a later retirement, if the run compares it after the other one was added", async () => {
      await up();
      const run = start();
      const one = new RealResource("AclUserRotation", user.settings);
      assert.equal((await one.up({ ...inputs, ...other }, run)).failure, undefined);
      user.preview(inputs, run);
      const { memory: saved } = one.outputs;
      const place = readProgram({ ...inputs, ...other }, aclUser);
      const { source } = openSession({ kind: aclUser, id: "app", server: "alias.example.com:6379" }, run, place);
      const { formers: valid, salt, kindFacts } = readMemory(saved);
      await assert.rejects(source.retire?.(valid, { salt, currentHash: kindFacts.hash }) ?? assert.fail(), isBoth);
      assert.ok(users.hashes.includes(hashOf("made-1")));
    });
  });

  it("are ten at most: a preview says that the next version may wait", async () => {
    // The first one of the user was not Rekey's.
    for (let version = 1; version <= 10; version++) await up({ version });
    const { said } = user.preview({ ...inputs, version: 11 });
    assert.match(said, /If all of the older passwords are still valid, the rotation waits\. The former password stays/);
    assert.match((await up({ version: 11 })).said, /is not made yet, because the former password has been valid/);
    assert.equal(users.hashes.length, 11);
  });

  it("that are over are retired although the schedule waits for another one, as a preview says", async () => {
    const app = new RotatedSecret(aclUser, undefined, "app");
    const { admin } = inputs;
    const upAt = (hours: number, version: number) => {
      app.hours = hours;
      return app.up({ admin, version, overlap: "PT7H30M", rotateEvery: "8h" }, users);
    };
    await upAt(0, 1);
    await upAt(5, 2);
    app.hours = 12.3;
    const said = app.preview({ admin, version: 2, overlap: "PT7H30M", rotateEvery: "8h" });
    assert.match(said, /those whose time is over are retired first\. If two .* still valid, the rotation waits/);
    assert.match((await upAt(12.3, 2)).said, /is not made yet/);
    assert.deepEqual(users.hashes, ["made-1", "made-2"].map(hashOf));
  });

  it("show when the rotation has retired the former one, until the next rotation", async () => {
    await up({ overlap: "none" });
    const { formerRetiredAt } = user.outputs;
    assert.ok(formerRetiredAt);
    await up({ overlap: "none", rotateEvery: "30d" });
    assert.equal(user.outputs["formerRetiredAt"], formerRetiredAt);
  });

  it("are saved, although it is not known whether the server has removed the former ones", async () => {
    await up();
    await up({ version: 2 });
    const over = { version: 2, overlap: "none" };
    assert.match(
      user.preview({ ...inputs, version: 3 }).said,
      /Any older password that is still valid also stays valid\./,
    );
    await up(over);
    assert.match(user.preview({ ...inputs, ...over }).said, /More than one has been valid since/);
    users.instead = { remove: lost };
    users.commands.length = 0;
    const { said, failure = "" } = await up(over);
    assert.deepEqual([said, formers().length, users.commands.includes("save")], ["", 2, true]);
    assert.match(failure, /^Could not do it/);
    assert.deepEqual([memory().kindFacts.retired ?? [], user.outputs["formerRetiredAt"]], [[], undefined]);
    users.instead = {};
    assert.match((await up(over)).said, /the former password was retired\. More than one had been valid since/);
  });

  it("of a thousand others are retired with one command", async () => {
    users.hashes = Array.from({ length: 1000 }, (_, nth) => hashOf(`other ${nth}`));
    await up();
    await up({ version: 2 });
    assert.equal(user.outputs["waits"], undefined, "those of others do not count as Rekey's ten");
    await up({ version: 3, overlap: "none" });
    await up({ version: 3, overlap: "none" });
    assert.deepEqual(users.hashes, [hashOf(current())]);
    assert.equal(users.commands.filter((command) => command === "remove").length, 1);
  });

  it("of others are kept, also if they were added while an addition was lost", async () => {
    users.makesTokens = true;
    users.instead = { add: () => (users.hashes.push(hashOf("someone else's")), lost()) };
    assert.match((await up()).failure ?? "", /it broke/);
    users.instead = {};
    await up();
    assert.ok(users.hashes.includes(hashOf("someone else's")));
  });
});
