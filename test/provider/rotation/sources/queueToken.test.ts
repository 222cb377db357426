import assert from "node:assert/strict";
import { aclUser, queueToken, type Subject } from "../../../../provider/domain/secretKind";
import { unknownValue } from "../../../../provider/pulumi/values";
import { type Credentials } from "../../../../provider/records/fields";
import { messageOf } from "../../../../provider/rotation/messages/findings";
import { leftValid } from "../../../../provider/rotation/messages/formerFindings";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { rotationOf } from "../../../../provider/rotation/rotation";
import { OverlappingToken } from "./overlappingToken";
import { Team } from "../../../support/age";
import { conflicting, notFound, unconfirmed } from "../../../support/fakeRun";
import { isLost, timeAt } from "../../../support/rotatedSecret";

const at = (hours: number) => timeAt(hours).toISOString();

/** One `up` of a token that was rotated at hour 0 of 2026, with two valid since then. */
interface Row {
  /** Of the first `up`. */
  readonly first?: RotationInputs;
  /** What happened between. */
  readonly between?: (token: OverlappingToken) => void;
  readonly hours: number;
  readonly inputs: RotationInputs;
  readonly settings?: Readonly<Record<string, string>>;
  /** What a preview says. */
  readonly announces: RegExp;
  readonly sends: readonly string[];
  readonly says?: RegExp;
  /** Whether the former one is valid afterwards, as far as the state has it. */
  readonly isFormerValid: boolean;
}

const daily = { version: 1, rotateEvery: "24h" };
const short = { ...daily, overlap: "12h" };
const isOff = { scheduledResets: "off" };
const isRead = /^is read: the former token may still be valid\. Nothing that consumers use changes\.$/;
const waits = /If two tokens are still valid, the rotation waits until only one is\. The former token stays valid/;
const rows: Readonly<Record<string, Row>> = {
  "nothing is due": {
    ...{ hours: 1, inputs: { version: 1 }, sends: [], isFormerValid: true },
    announces: isRead,
    says: /^the former token has been valid, too, since 2026-01-01T00.*, and is not retired yet\. A destroy leaves it/m,
  },
  "a Retirement has retired it, which the next up reads": {
    ...{ between: (token) => token.roll(), hours: 1, inputs: { version: 1 }, announces: isRead, sends: [] },
    isFormerValid: false,
  },
  "a new version waits": {
    ...{ hours: 1, inputs: { version: 2 }, announces: waits, sends: [], isFormerValid: true },
    says: /the rotation that is due is not made yet, because the former token has been valid, too, since 2026-01-01T00/,
  },
  "a new version adds, if a Retirement has retired it": {
    ...{ between: (token) => token.roll(), hours: 1, inputs: { version: 2 }, announces: waits },
    ...{ sends: ["next"], isFormerValid: true },
  },
  "a schedule retires first what is due to be retired": {
    ...{ first: short, hours: 24, inputs: short, sends: ["roll", "next"], isFormerValid: true },
    announces: /If two tokens are still valid, the older one is retired first\. The former token stays valid for 12h/,
  },
  "a duration that is over": {
    ...{ first: short, hours: 12, inputs: short, sends: ["roll"], says: /was retired/, isFormerValid: false },
    announces: /is retired, if it is still valid, because its time is over \(overlap: 12h\)/,
  },
  "a duration that is over, and retired by someone else": {
    ...{ first: short, between: (token) => token.roll(), hours: 12, inputs: short, sends: [], isFormerValid: false },
    announces: /is retired, if it is still valid/,
  },
  "a duration that is over, with the schedule off": {
    ...{ first: short, hours: 12, inputs: short, settings: isOff, sends: [], isFormerValid: true },
    announces: /due to be retired \(overlap: 12h\).*postponed: rekey:scheduledResets is off/,
  },
  "a date after the rotation retires it and rotates": {
    ...{ hours: 2, inputs: { version: 1, rotatedSince: at(1) }, sends: ["roll", "next"], isFormerValid: true },
    announces: /generated at 2026-01-01T00.*is retired first: clients that still use it are refused/,
    says: /the older token was retired first\. More than one had been valid since 2026-01-01T00:00:00\.000Z/,
  },
  "a date after the former one was generated retires it": {
    ...{ hours: 1, inputs: { version: 1, rotatedSince: at(0) }, sends: ["roll"], isFormerValid: false },
    announces: /because rotatedSince has asked for it: clients that still use it are refused/,
  },
  "a rotation for a date retires by the next up, also if the date is removed, with the schedule off": {
    ...{ first: { ...daily, rotatedSince: at(0), initialRotation: false }, hours: 24, inputs: daily, settings: isOff },
    announces: /because rotatedSince has asked for it.*is due to be rotated.*postponed: rekey:scheduledResets is off/s,
    ...{ sends: ["roll"], isFormerValid: false },
  },
};

describe("rotation: a token of which two are valid", () => {
  let token: OverlappingToken;
  beforeEach(() => void (token = new OverlappingToken()));
  const isFormerValid = () => token.secret.memory.formers.some(({ retireHash }) => retireHash !== undefined);
  const refreshed = async (shows: Credentials, otherFields?: string) =>
    (await token.secret.refresh({ shows, otherFields })).said;

  for (const [title, { first = { version: 1 }, between, hours, inputs, ...row }] of Object.entries(rows)) {
    it(title, async () => {
      const { code } = await token.up(0, first);
      assert.deepEqual([code, token.sent], [undefined, ["next"]]);
      between?.(token);
      token.secret.fake.settings = { ...token.secret.fake.settings, ...row.settings };
      assert.match(token.preview(hours, inputs), row.announces);
      assert.deepEqual(token.sent, ["next"], "a preview sends nothing");
      const { said, code: failed } = await token.up(hours, inputs);
      assert.deepEqual([failed, token.sent], [undefined, row.sends]);
      if (row.says) assert.match(said, row.says);
      assert.equal(isFormerValid(), row.isFormerValid);
      const { formerRetiredAt, token: saved } = token.secret.outputs ?? {};
      assert.equal(formerRetiredAt, row.sends.at(-1) === "roll" ? at(hours) : undefined);
      assert.equal(saved, token.next ?? token.current, "the newest one is saved");
    });
  }

  it("says in `waits` why a version is not applied, until it is sent", async () => {
    await token.up(0, { version: 1 });
    await token.up(1, { version: 2 });
    assert.match(String(token.secret.outputs?.["waits"]), /^the former token has been valid, too, since 2026-01-01T00/);
    assert.equal(token.secret.outputs?.["token"], "t1");
    token.roll();
    for (const outcome of ["unproven", "reset"]) {
      token.isAway = outcome === "unproven";
      await token.up(2, { version: 2 });
      assert.deepEqual([token.sent, token.secret.outputs?.["waits"]], [["next"], undefined]);
      assert.equal(token.secret.outputs?.["outcome"], outcome);
    }
    await token.up(3, { version: 2 });
    assert.deepEqual(token.sent, []);
  });

  it("ends `waits` in a preview, too, if nothing is due any more", async () => {
    await token.up(0, { ...daily, initialRotation: false });
    token.secret.fake.settings = { ...token.secret.fake.settings, ...isOff };
    await token.up(24, daily);
    const { outputs, fake } = token.secret;
    assert.equal(outputs?.["waits"], "rekey:scheduledResets is off");
    const inputs = { queueUserId: "u", version: 1, rotateEvery: "48h" };
    assert.ok(rotationOf(queueToken).plan(outputs, inputs, fake.start()).changing?.includes("waits"));
  });

  it("saves the new one as current, and shows since when, and until when, the one before it is valid", async () => {
    await token.up(0, { version: 1, overlap: "24h" });
    const { rotationCount, rotationReason, rotatedAt, generatedAt, formerValidSince, formerValidUntil, problems } =
      token.secret.outputs ?? {};
    assert.deepEqual([rotationCount, rotationReason, problems], [1, "created", []]);
    assert.deepEqual([rotatedAt, generatedAt, formerValidSince, formerValidUntil], [at(0), at(0), at(0), at(24)]);
    assert.deepEqual(token.secret.saved, { token: "t1" });
    await token.up(1, { version: 1, overlap: "none" });
    assert.deepEqual([token.sent, token.secret.outputs?.["formerValidUntil"]], [[], undefined]);
    await token.up(1, { version: 1, overlap: "none" });
    assert.deepEqual([token.sent, isFormerValid()], [["roll"], false]);
  });

  it("is read: the former one is still valid, or was retired; a third one is someone else's; none shows nothing", async () => {
    await token.up(0, { version: 1 });
    const { outputs } = token.secret;
    const of = async (shows: Credentials) => {
      token.secret.outputs = outputs;
      return [await refreshed(shows), isFormerValid(), token.secret.saved["token"]] as const;
    };
    assert.deepEqual(await of({ token: "t0" }), ["", true, "t1"]);
    assert.deepEqual(await of({ token: "t1" }), ["", false, "t1"]);
    assert.match(await refreshed({ token: "t0" }), /still shows an old credential/);
    const [said, ...others] = await of({ token: "t9" });
    assert.match(said, /was changed outside of Rekey \(token\)/);
    assert.deepEqual(others, [false, "t9"]);
    const [hidden, ...after] = await of({});
    assert.match(hidden, /could not be compared: the platform does not show token/);
    assert.deepEqual(after, [true, "t1"]);
    token.secret.outputs = outputs;
    await refreshed({}, '{"has_next_token":false}');
    assert.equal(isFormerValid(), false, "a token that is hidden is the only one without a next one");
  });

  it("is not compared with a token that is older than the former one, which stays valid", async () => {
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(1, { version: 2 });
    assert.match(await refreshed({ token: "t0" }), /still shows an old credential/);
    assert.equal(isFormerValid(), true);
  });

  describe("that the queue refuses", () => {
    const refused = /the queue refuses the token that was handed out\. Check queueUrl .* set a new version/;
    beforeEach(async () => {
      await token.up(0, { version: 1 });
      token.isAway = true;
    });

    it("stays handed out, and the `up` fails, also for a date of which only the former one is older", async () => {
      for (const inputs of [{ version: 1 }, { version: 1, rotatedSince: at(0) }]) {
        const beganMs = token.secret.fake.elapsedMs;
        const { code, message = "" } = await token.up(1, inputs);
        assert.deepEqual([code, token.sent], ["REKEY_VERIFICATION_FAILED", []]);
        assert.match(message, refused);
        assert.deepEqual([token.secret.saved, isFormerValid()], [{ token: "t1" }, true]);
        const waitedMs = token.secret.fake.elapsedMs - beganMs;
        assert.ok(waitedMs >= 10_000 && waitedMs < 15_000, `no longer than a platform learns late: ${waitedMs} ms`);
      }
    });

    it("is only marked by a refresh, until a read finds it accepted", async () => {
      const mustRead = () => token.secret.memory.current.mustRead;
      assert.match(await refreshed({ token: "t0" }), refused);
      assert.deepEqual([token.secret.saved, isFormerValid(), mustRead()], [{ token: "t1" }, true, true]);
      token.isAway = false;
      await token.up(1, { version: 1 });
      assert.equal(mustRead(), undefined);
    });

    it("is not replaced by a new version while it is the platform's next one", async () => {
      const { code, message = "" } = await token.up(1, { version: 2 });
      assert.deepEqual(
        [code, token.sent, token.secret.saved],
        ["REKEY_VERIFICATION_FAILED", ["next"], { token: "t1" }],
      );
      assert.match(message, /nothing was changed: the token that was handed out is still the platform's next one/);
      token.isAway = false;
      assert.match((await token.up(1, { version: 2 })).said, /the rotation that is due is not made yet/);
    });

    it("is replaced by a new version if someone else has reset it, and the former one stays the former one", async () => {
      Object.assign(token, { next: undefined, isAway: false });
      await token.up(1, { version: 2 });
      assert.deepEqual([token.sent, token.secret.saved, isFormerValid()], [["next"], { token: "t2" }, true]);
      const { said } = await token.up(2, { version: 2 });
      assert.match(said, /^the former token has been valid, too, since 2026-01-01T00/);
    });
  });

  it("is not lost by a late read, or if its value is only in an age file: a read sends nothing", async () => {
    const encrypted = { encryptFor: [(await Team.create()).recipient], saveCredentials: false };
    for (const form of [{}, encrypted]) {
      token = new OverlappingToken();
      await token.up(0, { version: 1, ...form });
      for (const hasNext of [false, true]) {
        token.otherFields = JSON.stringify({ has_next_token: hasNext });
        assert.match((await token.up(1, { version: 2, ...form })).said, /the rotation that is due is not made yet/);
        await refreshed({ token: "t0" }, token.otherFields);
        assert.deepEqual([token.sent, isFormerValid()], [[], true]);
      }
    }
  });

  it("is not taken for retired by others after a 409, unless a read shows another token, or hides it and it is accepted", async () => {
    await token.up(0, short);
    const { outputs } = token.secret;
    for (const [shown, next, isRetired] of [
      ["t0", "t1", false],
      ["t9", undefined, true],
      [undefined, undefined, false],
      [undefined, "t1", true],
    ] as const) {
      Object.assign(token, { next: "t1" });
      token.secret.outputs = outputs;
      const roll = () => {
        token.next = next;
        token.shown.token = shown;
        return conflicting();
      };
      token.fails = { roll };
      const { code } = await token.up(12, short);
      const expected = isRetired ? [undefined, false] : ["REKEY_REJECTED", true];
      assert.deepEqual([code, isFormerValid(), token.sent], [...expected, ["roll"]], shown);
    }
  });

  describe("while a reset that replaces both is not confirmed", () => {
    const replaced = { version: 2, overlap: "none" };
    const lostAfter = async (shows: Credentials) => {
      await token.up(0, { version: 1 });
      assert.equal((await token.secret.up(replaced, { shows, responds: isLost })).code, "REKEY_UNCONFIRMED");
    };
    const next = async (shows: Credentials) => {
      const { sent } = await token.secret.up(replaced, { shows, responds: { token: "t3" } });
      return [sent, token.secret.saved["token"], isFormerValid()];
    };

    it("a read of the former one shows that it was not applied, and it is sent again", async () => {
      await lostAfter({ token: "t0" });
      assert.deepEqual([await refreshed({ token: "t0" }), isFormerValid()], ["", true]);
      assert.deepEqual(await next({ token: "t0" }), [1, "t3", false]);
    });

    it("a read of another token settles it", async () => {
      await lostAfter({ token: "t0" });
      assert.deepEqual(await next({ token: "t2" }), [0, "t2", false]);
    });

    it("no read settles it, if the one before it has hidden the token", async () => {
      await lostAfter({});
      assert.deepEqual(await next({ token: "t2" }), [1, "t3", false]);
    });
  });

  describe("that was prepared by someone else", () => {
    beforeEach(() => void Object.assign(token, { next: "t7", otherFields: '{"has_next_token":true}' }));

    it("is of unknown age, so a date still asks for another one", async () => {
      const dated = { rotatedSince: at(0), initialRotation: false };
      assert.match((await token.up(0, dated)).said, /the platform already had a next token, whose age is unknown/);
      assert.deepEqual([token.secret.saved, token.secret.outputs?.["generatedAt"]], [{ token: "t7" }, undefined]);
      assert.match(token.preview(1, dated), /clients that still use it are refused\. The former token stays/);
      await token.up(1, dated);
      assert.deepEqual(token.sent, ["roll", "next"]);
      assert.notEqual(token.secret.saved.token, "t7");
    });

    it("is still of unknown age after a proof that failed", async () => {
      token.isAway = true;
      assert.equal((await token.up(0, { version: 1 })).code, "REKEY_VERIFICATION_FAILED");
      token.isAway = false;
      assert.match((await token.up(1, { version: 1 })).said, /whose age is unknown/);
      assert.deepEqual([token.secret.saved, token.secret.memory.current.generatedAt], [{ token: "t7" }, undefined]);
    });

    it("is of unknown age although it has taken the place of one that was not proven", async () => {
      token.isAway = true;
      await token.up(0, { version: 1 });
      Object.assign(token, { next: "t8", isAway: false });
      assert.match((await token.up(1, { version: 1 })).said, /whose age is unknown/);
      assert.deepEqual([token.secret.saved, token.secret.memory.current.generatedAt], [{ token: "t8" }, undefined]);
    });

    it("is announced by an adoption", async () => {
      const { said } = await token.up(0, { initialRotation: false });
      assert.match(said, /someone has prepared a next token, which is also valid\. The first rotation hands it out/);
    });
  });

  describe("that was added and not proven", () => {
    const addUnproven = async (inputs: RotationInputs, hours = 0) => {
      token.isAway = true;
      const { code } = await token.up(hours, inputs);
      assert.deepEqual([code, token.sent], ["REKEY_VERIFICATION_FAILED", ["next"]]);
      assert.equal(token.secret.outputs?.["outcome"], "unproven");
      token.isAway = false;
    };

    for (const overlap of ["retirement", "none"]) {
      it(`is handed out by the next up, or replaced at once, and never due again (${overlap})`, async () => {
        await addUnproven({ version: 1 });
        assert.deepEqual(token.secret.saved, { token: "t0" });
        assert.match(token.preview(0, { version: 1, overlap }), /the new secret was not proven/);
        await token.up(0, { version: 1, overlap });
        assert.deepEqual(token.sent, [overlap === "none" ? "reset" : "next"]);
        assert.deepEqual(token.secret.saved, { token: token.next ?? token.current });
        await token.up(0, { version: 1, overlap });
        assert.deepEqual(token.sent, []);
      });
    }

    it("is as old as the run that added it: if that is older than a date, it is proven, and the next up rotates", async () => {
      await addUnproven({ version: 1 });
      const dated = { version: 1, rotatedSince: at(1) };
      token.isAway = true;
      for (const isAway of [true, false]) {
        token.isAway = isAway;
        const { said } = await token.up(2, dated);
        assert.deepEqual([token.sent, token.current], [["next"], "t0"], "what clients use is not retired");
        if (!isAway) assert.match(said, /it may still be older than rotatedSince\. The next `up` rotates it once more/);
      }
      assert.deepEqual([token.secret.saved, token.secret.memory.current.generatedAt], [{ token: "t1" }, at(0)]);
      token.secret.fake.settings = { queueToken: "t0", queueUserId: undefined };
      assert.match(token.preview(3, dated), /It is rekey:queueToken: the retirement fails until/);
      const { code } = await token.up(3, dated);
      assert.deepEqual([code, token.sent, token.current], ["REKEY_QUEUE_TOKEN_IN_USE", [], "t0"]);
      token.secret.fake.settings = { queueUserId: "u" };
      await token.up(3, dated);
      assert.deepEqual([token.sent, token.secret.saved], [["roll", "next"], { token: "t2" }]);
      await token.up(4, dated);
      assert.deepEqual([token.sent, token.current], [["roll"], "t2"]);
    });

    it("is forgotten if someone else has reset the token, whose schedule goes on", async () => {
      await addUnproven({ version: 1 });
      token.secret.hours = 3;
      assert.match(await refreshed({ token: "t9" }), /was changed outside of Rekey \(token\)/);
      assert.deepEqual([token.secret.saved, token.secret.memory.scheduledFrom], [{ token: "t9" }, at(0)]);
    });

    const reasons: Readonly<Record<string, { inputs: RotationInputs; reason: string }>> = {
      "a new version after it": { inputs: { version: 2 }, reason: "trigger" },
      "the one of before, if the version is removed": { inputs: {}, reason: "created" },
    };
    for (const [what, { inputs, reason }] of Object.entries(reasons)) {
      it(`has the reason of ${what}`, async () => {
        await addUnproven({ version: 1 });
        await token.up(0, inputs);
        assert.equal(token.secret.outputs?.["rotationReason"], reason);
        await token.up(0, inputs);
        assert.deepEqual(token.sent, []);
      });
    }

    it("for a date stays for the date, also if that is removed, and is retired by the next up", async () => {
      await addUnproven({ rotatedSince: at(0), initialRotation: false });
      await token.up(1, {});
      const { memory, outputs } = token.secret;
      assert.deepEqual([outputs?.["rotationReason"], memory.formers[0]?.validFor], ["rotatedSince", "next up"]);
    });

    it("for a schedule is announced with its time, and made for a date with the schedule off", async () => {
      const adopting = { ...daily, initialRotation: false };
      assert.match(
        token.preview(0, adopting),
        /after a rotation, the former token stays valid until a Retirement retires it/,
      );
      await token.up(0, adopting);
      await addUnproven(daily, 24);
      assert.match(token.preview(24, daily), new RegExp(`last rotated or adopted at ${at(0)}`));
      token.secret.fake.settings = { ...token.secret.fake.settings, ...isOff };
      await token.up(25, { ...daily, rotatedSince: at(24.5) });
      assert.deepEqual([token.sent.at(-1), token.secret.memory.formers[0]?.validFor], ["next", "next up"]);
    });
  });

  describe("says in a preview how long the current one stays valid", () => {
    const verified = " The former token stays valid until a Retirement retires it.";
    const texts: readonly (readonly [inputs: RotationInputs, text: string])[] = [
      [{}, verified],
      [{ overlap: "24h" }, " The former token stays valid for 24h."],
      [
        { overlap: "none" },
        " What was valid before is replaced at once: clients are refused until they have the new one.",
      ],
      [{ rotatedSince: at(1) }, " The former token stays valid until a Retirement retires it, or until the next `up`."],
      [{ rotatedSince: "2025-01-01" }, verified],
      [{ overlap: unknownValue }, ""],
    ];
    for (const [inputs, text] of texts) {
      it(JSON.stringify(inputs), async () => {
        await token.up(0, { version: 1 });
        await token.up(1, { version: 1, rotatedSince: at(0) });
        assert.equal(isFormerValid(), false);
        const said = token.preview(2, { version: 2, ...inputs }).replace(/^.* version or triggers have changed\./, "");
        // Notices are without their subject, and so without what is before the first colon.
        assert.equal(said, `${text.replace(/^.*: /, "")} So far 1 in this run.`);
      });
    }
  });

  it("of unknown age is replaced for a date, and the former one is retired first, although it is not older", async () => {
    await token.up(0, { version: 1 });
    token.roll();
    Object.assign(token, { next: "t7", otherFields: '{"has_next_token":true}' });
    await token.up(1, { version: 2 });
    await token.up(2, { version: 2, rotatedSince: at(-1) });
    assert.deepEqual([token.sent, token.secret.saved], [["roll", "next"], { token: "t2" }]);
    assert.equal(token.secret.outputs?.["generatedAt"], at(2), "the next one that was shown before is gone");
  });

  it("is not added if the address at which it would be proven is not set", async () => {
    token.secret.fake.settings = { ...token.secret.fake.settings, queueUrl: undefined };
    const { code, message = "" } = await token.up(0, { version: 1 });
    assert.deepEqual([code, token.sent], ["REKEY_SETTING_MISSING", []]);
    const says =
      /^The token .* was not rotated, and nothing was changed: rekey:queueUrl is not set\. .* paths\. Run .* environment\. \[/;
    assert.match(message, says);
  });

  it("says after a destroy that two are valid, as far as is known, unless a Retirement has retired it", async () => {
    const left = (retires?: string, subject: Subject = { kind: queueToken, id: "u" }, validFor?: string) => {
      const { memory } = token.secret;
      const formers = memory.formers.map((one) => ({ ...one, ...(validFor && { validFor }) }));
      const found = leftValid(subject, { ...memory, formers }, retires);
      return found.map((one) => messageOf(one, subject.kind).text).join("\n");
    };
    await token.up(0, { version: 1 });
    assert.match(left(), /^two tokens may stay valid \(since 2026-01-01T00.*\)\. To remove .*: roll the next token.*$/);
    assert.match(left(undefined, { kind: aclUser, id: "app" }), /: run `ACL SETUSER app ![0-9a-f]{64}` \(runbook\)\.$/);
    const since = token.secret.memory.formers[0]?.since;
    assert.equal(left(since), "");
    assert.notEqual(left(at(-1)), "");
    assert.notEqual(left(since, undefined, "24h"), "");
    token.roll();
    await token.up(1, { version: 1 });
    assert.equal(left(), "");
    token.isAway = true;
    await token.up(2, { version: 2 });
    const unproven =
      /^a new token that was added at 2026-01-01T02.*, and was never handed out, may stay valid\. .* reset /;
    for (const retires of [at(2), undefined]) assert.match(left(retires), unproven);
    const { attempt } = token.secret.memory;
    assert.match(left(undefined, { kind: aclUser, id: "app" }), new RegExp(`ACL SETUSER app !${attempt?.expects}`));
  });

  it("says of a failure what the run has done, and nothing else", async () => {
    const [versioned, dated] = [{ version: 2 }, { version: 1, rotatedSince: at(1) }];
    const added = "has added a new one, which was not handed out";
    const mayBe = "may have added a new one, which was not handed out";
    const older = "has retired the older one";
    const isAway = () => void (token.isAway = true);
    for (const [inputs, next, code, done] of [
      [versioned, isAway, "REKEY_VERIFICATION_FAILED", `${added}. It has retired none that clients may use.`],
      [dated, isAway, "REKEY_VERIFICATION_FAILED", `${added}, and ${older}.`],
      [dated, unconfirmed, "REKEY_INCOMPLETE", `${mayBe}, and ${older}.`],
      [
        dated,
        notFound,
        "REKEY_INCOMPLETE",
        `${older}. What it could not finish is saved, and the next \`up\` does it: the`,
      ],
    ] as const) {
      token = new OverlappingToken();
      await token.up(0, { version: 1 });
      if (inputs === versioned) token.roll();
      Object.assign(token, { fails: { next }, otherFields: '{"has_next_token":true}' });
      const { message = "", ...came } = await token.up(2, inputs);
      assert.equal(came.code, code);
      assert.ok(message.includes(`is not complete: this run ${done}`), message);
      assert.doesNotMatch(message, /stays? valid|othing was changed/);
    }
  });

  it("names a clock that was ahead, if it keeps the former one valid", async () => {
    for (const overlap of ["12h", "retirement"]) {
      token = new OverlappingToken();
      await token.up(24 * 365, { version: 1, overlap });
      const isNamed = /later than this machine's clock.* overlap counts from that time; rotatedSince retires/;
      assert.equal(isNamed.test(token.preview(24, { version: 1, overlap })), overlap === "12h");
    }
  });

  it("that is rekey:queueToken cannot be retired, as a preview says", async () => {
    token.secret.fake.settings = { ...token.secret.fake.settings, queueToken: "t0", queueUserId: "u" };
    await token.up(0, { version: 1 });
    token.secret.fake.settings = { ...token.secret.fake.settings, queueUserId: undefined };
    const dated = { version: 1, rotatedSince: at(0.5) };
    assert.match(token.preview(1, dated), /the retirement fails until that is the new one/);
  });

  it("is not retired first if the limit of resets is used up", async () => {
    await token.up(0, { version: 1 });
    token.secret.fake.settings = { ...token.secret.fake.settings, maxResetsPerRun: "0" };
    const { code } = await token.up(2, { version: 1, rotatedSince: at(1) });
    assert.deepEqual([code, token.sent], ["REKEY_RESET_LIMIT", []]);
  });
});
