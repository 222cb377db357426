import assert from "node:assert/strict";
import { queueToken, signingKeys } from "../../../../provider/domain/secretKind";
import { outcomeOf } from "../../../../provider/rotation/memory/state";
import { rejected } from "../../../support/fakeRun";
import { isLost, resetSecret, RotatedSecret, timeAt } from "../../../support/rotatedSecret";
import { OverlappingToken } from "../sources/overlappingToken";
import { RotatedUser } from "../sources/user/redisUser";
import { credentialsOf, fieldsIn, tableOf } from "../tables";

const at = (hours: number) => timeAt(hours).toISOString();
/** A date for which all that was made before is too old. */
const inASecond = () => new Date(Date.now() + 1_000).toISOString();

describe("lifecycle: a reset", () => {
  const all = (n: number) => credentialsOf(`p${n} r${n}`);
  const secretOf = () => resetSecret({ version: 1 }, all(1));

  it("saves what someone else has changed before it, although it is lost, and a later read settles it", async () => {
    const secret = await secretOf();
    const { said } = await secret.up({ version: 2 }, { shows: all(7), responds: isLost });
    assert.match(said, /was changed outside of Rekey \(password, restToken\)/);
    assert.deepEqual(secret.saved, all(7));
    assert.match((await secret.refresh({ shows: all(8) })).said, /a read now shows new credentials/);
  });

  it("saves what someone else has changed before it, if it is rejected, and may be sent again in the run", async () => {
    const secret = await secretOf();
    const { code, sent } = await secret.up({ version: 2 }, { shows: all(7), responds: rejected, calls: 2 });
    assert.deepEqual([code, sent, secret.saved], ["REKEY_REJECTED", 2, all(7)]);
  });

  it("for a date that is rejected does not undo the adoption before it", async () => {
    const secret = new RotatedSecret();
    const { code } = await secret.up({ initialRotation: false, rotatedSince: "2025-01-01" }, { responds: rejected });
    assert.deepEqual([code, outcomeOf(secret.state)], ["REKEY_REJECTED", "adopted"]);
  });

  it("for a date, because the age is not known, does not say that the secret was adopted", async () => {
    const desired = { initialRotation: false, rotatedSince: "2025-01-01" };
    const does = { shows: {}, showsAfter: all(2), responds: all(2), calls: 2 };
    const { said, sent } = await new RotatedSecret().up(desired, does);
    assert.deepEqual([said, sent], ["", 1]);
  });

  it("is made although the same run has imported the secret, which sends nothing", async () => {
    const secret = new RotatedSecret();
    assert.equal((await secret.import({ shows: all(1) })).sent, 0);
    secret.outputs = undefined;
    assert.equal((await secret.up({}, { shows: all(1), showsAfter: all(2), responds: all(2) })).sent, 1);
  });

  it("is made by a version although a read has ended what refused it, and by a schedule that is due then", async () => {
    const secret = await secretOf();
    const desired = { version: 2, rotateEvery: "1d" };
    for (let nth = 1; nth <= 3; nth++) await secret.up(desired, { shows: all(1), responds: isLost });
    secret.hours = 96;
    const says =
      /is read first, and may then be reset\. If .* it is not reset: the platform has not confirmed its last/;
    assert.match(secret.preview(desired), says);
    await secret.up(desired, { shows: all(2), showsAfter: all(3), responds: all(3) });
    assert.deepEqual(secret.saved, all(3));
  });

  it("of which an earlier one may have been applied says that it may be older than a date", async () => {
    const secret = await secretOf();
    await secret.up({ version: 2 }, { responds: isLost });
    secret.hours = 5;
    const dated = { version: 2, rotatedSince: at(3) };
    const { said } = await secret.up(dated, { shows: all(1), showsAfter: all(2), responds: isLost });
    assert.match(said, /may still be older than rotatedSince\. The next `up` resets it once more/);
  });

  it("of keys for a date says when the second one may be made", async () => {
    const pair = (n: number) => credentialsOf(`k${n} n${n + 1}`);
    const secret = await resetSecret({ version: 1 }, pair(1), { kind: signingKeys });
    secret.hours = 48;
    const dated = { version: 1, rotatedSince: "2026-01-02" };
    const { said } = await secret.up(dated, { shows: pair(1), showsAfter: pair(2), responds: pair(2) });
    assert.match(said, /still older than rotatedSince.* after 2026-01-03T01:00:00.000Z to roll a second time/);
    secret.hours = 49;
    const short = { ...dated, minInterval: "PT30M" };
    const second = await secret.up(short, { shows: pair(2), showsAfter: pair(3), responds: pair(3) });
    assert.deepEqual([second.sent, second.said], [1, ""]);
  });

  it("loses nothing to a bug after its response", async () => {
    const secret = await resetSecret({ version: 1, overlap: "none" }, { token: "t1" }, { kind: queueToken, id: "u" });
    const broken = { responds: { token: "t2" }, parts: { useQueueToken: () => assert.fail("broken") } };
    const { code, message = "" } = await secret.up({ version: 2, overlap: "none" }, broken);
    assert.match(message, /^Could not rotate the token of queue user "u".*The token may have been changed/);
    const found = [code, secret.saved, outcomeOf(secret.state)];
    assert.deepEqual(found, ["REKEY_INTERNAL", { token: "t2" }, "unknown"]);
  });
});

describe("lifecycle: a token that is added", () => {
  let token: OverlappingToken;
  beforeEach(() => void (token = new OverlappingToken()));

  it("of unknown age is replaced for a date, and the former one is retired first, although it is not older", async () => {
    await token.up(0, { version: 1 });
    token.roll();
    Object.assign(token, { next: "t7", otherFields: '{"has_next_token":true}' });
    await token.up(1, { version: 2 });
    await token.up(2, { version: 2, rotatedSince: at(-1) });
    assert.deepEqual([token.sent, token.secret.saved], [["roll", "next"], { token: "t2" }]);
    assert.equal(token.secret.outputs?.["generatedAt"], at(2), "the next one that was shown before is gone");
  });

  const failures = tableOf(
    ["title", "inputs", "next", "code", "says"],
    `
    is not proven                                  | version: 2           | is refused  | REKEY_VERIFICATION_FAILED | has added a new one, which was not handed out. It has retired none that clients may use.
    is not proven, after the older one was retired | rotatedSince: hour 1 | is refused  | REKEY_VERIFICATION_FAILED | has added a new one, which was not handed out, and has retired the older one.
    may have been added, after that                | rotatedSince: hour 1 | is lost     | REKEY_INCOMPLETE          | may have added a new one, which was not handed out, and has retired the older one.
    is not added, after that                       | rotatedSince: hour 1 | is rejected | REKEY_INCOMPLETE          | has retired the older one. What it could not finish is saved, and the next
    `,
  );
  for (const { title, inputs, next, code: expected, says } of failures) {
    it(`and ${title}, fails with what the run has done, and nothing else`, async () => {
      await token.up(0, { version: 1 });
      if (inputs === "version: 2") token.roll();
      const fails = { "is refused": () => void (token.isAway = true), "is lost": isLost, "is rejected": rejected };
      const otherFields = '{"has_next_token":true}';
      Object.assign(token, { fails: { next: fails[next as keyof typeof fails] }, otherFields });
      const { code, message = "" } = await token.up(2, { version: 1, ...fieldsIn(inputs) });
      assert.equal(code, expected);
      assert.ok(message.includes(`is not complete: this run ${says}`), message);
      assert.doesNotMatch(message, /stays? valid|othing was changed/);
    });
  }

  const refused = {
    "the address at which it would be proven is not set": {
      settings: { queueUrl: undefined },
      ...{
        expected: "REKEY_SETTING_MISSING",
        says: / not rotated, and nothing was changed: rekey:queueUrl is not set\. /,
      },
    },
    "the limit of resets is used up": {
      settings: { maxResetsPerRun: "0" },
      ...{ expected: "REKEY_RESET_LIMIT", says: /rekey:maxResetsPerRun/ },
    },
  };
  for (const [title, { settings, expected, says }] of Object.entries(refused)) {
    it(`is not, and none is retired first, if ${title}`, async () => {
      await token.up(0, { version: 1 });
      token.secret.fake.settings = { ...token.secret.fake.settings, ...settings };
      const { code, message = "" } = await token.up(2, { version: 1, rotatedSince: at(1) });
      assert.deepEqual([code, token.sent], [expected, []]);
      assert.match(message, says);
    });
  }
});

describe("lifecycle: a password that is added", () => {
  let user: RotatedUser;
  beforeEach(() => void (user = new RotatedUser()));

  const repeated = tableOf(
    ["title", "meets", "inputs"],
    `
    SAVE is not sent              | save: not sent
    SAVE is rejected              | save: rejected
    the proof is not possible     | prove: not sent
    the former one is not removed | remove: rejected | overlap: none
    `,
  );
  for (const { title, meets, inputs } of repeated) {
    it(`is one, although the engine repeats the call, as an error hook does, after ${title}`, async () => {
      const run = user.start();
      user.meets(meets);
      const { failure = "" } = await user.up(fieldsIn(inputs), run);
      assert.match(failure, /is not complete: this run has added a new one\b.*it broke/);
      user.saved = undefined;
      await user.up(fieldsIn(inputs), run);
      assert.equal(user.users.commands.filter((command) => command === "add").length, 1);
      assert.equal(user.valid, "first made-1");
    });
  }

  const second = tableOf(
    ["title", "meets", "inputs", "sends"],
    `
    what is left to save   | save: rejected   |               | read save
    what is left to retire | remove: rejected | overlap: none | read read remove save
    a read                 |                  |               | read
    `,
  );
  for (const { title, meets, inputs, sends } of second) {
    it(`is followed in a second call of one run, after which the engine has saved the first, by ${title}`, async () => {
      const run = user.start();
      user.meets(meets);
      await user.up(fieldsIn(inputs), run);
      user.meets();
      assert.equal((await user.up(fieldsIn(inputs), run)).failure, undefined);
      assert.equal(user.users.commands.join(" "), sends);
    });
  }

  const unproven = tableOf(
    ["title", "meets", "says"],
    `
    the addition is lost, too | add: lost, prove: not sent | this run may have added a new one, which was not handed out\\..* does it: Could not do it:
    that is a bug             | prove: a bug               | pulumi-rekey failed unexpectedly \\(TypeError.*may have been changed
    `,
  );
  for (const { title, meets, says } of unproven) {
    it(`is not handed out if its proof fails, and ${title}; the next one takes its place`, async () => {
      await user.up();
      user.meets(meets);
      assert.match((await user.up({ version: 2 })).failure ?? "", new RegExp(says));
      assert.deepEqual([user.outputs["password"], user.outputs["outcome"]], ["made-1", "unproven"]);
      user.meets();
      assert.equal((await user.up({ version: 2 })).failure, undefined);
      assert.equal(user.valid, "first made-1 made-3");
    });
  }

  const dated = tableOf(
    ["title", "meets", "valid", "formers", "says"],
    `
    if the older one is not removed, none is added               | remove: rejected      | first made-1 | first | ^Could not do it
    if none is added, the older one is retired                   | add: rejected         | made-1       |       | is not complete: this run has retired the older one\\. What it could not finish is saved
    if the server has become a replica, the older one is retired | readServer: a replica | made-1       |       | retired the older one\\. What it could not finish is saved, and the next \`up\` does it: the server is a replica.*primary\\. \\[REKEY_INCOMPLETE
    `,
  );
  for (const { title, meets, valid, formers, says } of dated) {
    it(`for a date: ${title}, and it does not count for the limit`, async () => {
      await user.up();
      user.settings = { ...user.settings, maxResetsPerRun: "1" };
      const [run, more] = [user.start(), { rotatedSince: inASecond() }];
      user.meets(meets);
      assert.match((await user.up(more, run)).failure ?? "", new RegExp(says));
      assert.deepEqual([user.valid, user.formers], [valid, formers]);
      user.meets();
      assert.equal((await user.up(more, run)).failure, undefined);
      assert.equal(user.formers, "made-1");
    });
  }

  it("for a date is not said to be incomplete if it is only not proven", async () => {
    await user.up();
    user.meets("prove: refused");
    const { failure = "" } = await user.up({ rotatedSince: inASecond() });
    assert.match(
      failure,
      / not handed out, and has retired the older one\. .* does it: The new password .* not proven/,
    );
    assert.deepEqual([user.valid, user.formers], ["made-1 made-2", ""]);
  });

  it("is saved with the retirement of the former one, if the server has failed to save it alone", async () => {
    const says = {
      1: /^$/,
      2: /has added a new one, and has retired the former one\. A restart of the server undoes .*\[REKEY_INCOMPLETE\]$/,
    };
    for (const [nth, text] of Object.entries(says)) {
      user = new RotatedUser();
      let saves = 0;
      user.users.instead = { save: () => (++saves === Number(nth) ? rejected() : "saved") };
      assert.match((await user.up({ overlap: "none" })).failure ?? "", text);
    }
  });

  it("is saved by the next up, which changes nothing else, or with a further one", async () => {
    user.meets("save: rejected");
    assert.match((await user.up()).failure ?? "", /it broke/);
    const further = new RotatedUser();
    Object.assign(further, { saved: user.saved });
    await further.up({ version: 2 });
    assert.equal(further.memory.kindFacts.isUnsaved, undefined);
    const { said, changing } = user.preview();
    assert.match(said, /has not saved the last change of its users: `up` sends ACL SAVE/);
    assert.deepEqual(changing, ["memory"]);
    assert.match((await user.up()).failure ?? "", /it broke/);
    user.meets();
    assert.equal((await user.up()).failure, undefined);
    assert.deepEqual([user.users.commands.join(" "), user.outputs["password"]], ["read save", "made-1"]);
    await user.up();
    assert.deepEqual(user.users.commands.slice(2), ["read"], "a former one is valid");
  });

  it("makes known which ones someone else has retired, although the next one is not added", async () => {
    await user.up();
    await user.up({ version: 2 });
    user.users.hashes.splice(0, 2);
    user.meets("add: rejected");
    assert.match((await user.up({ version: 3 })).failure ?? "", /it broke/);
    const hashes = user.memory.formers.map(({ retireHash }) => retireHash);
    assert.deepEqual(hashes, [undefined], "a verification tries the last one");
  });
});
