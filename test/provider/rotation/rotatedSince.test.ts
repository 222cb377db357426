import assert from "node:assert/strict";
import fc from "fast-check";
import { type SecretKind } from "../../../provider/platform/secretKind";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { type RotationOutputs } from "../../../provider/rotation/outputs";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { type RotationInputs, rotationOf } from "../../../provider/rotation/rotation";
import { type PasswordRotationShardInputs } from "../../../provider/rotation/shardPlan";
import { type PasswordRotationShardOutputs } from "../../../provider/rotation/shardState";
import { markTrigger } from "../../../provider/rotation/trigger";
import { asShown, FakeRun, rejected, unconfirmed } from "../../support/fakeRun";

const start = Date.parse("2026-11-21T12:00:00.000Z");
/** A time, in hours since the start. */
const at = (hours: number) => new Date(start + hours * 3_600_000);
const iso = (hours: number) => at(hours).toISOString();
const seconds = (hours: number) => at(hours).getTime() / 1000;

type Applied = Awaited<ReturnType<ReturnType<typeof asShown<RotationInputs, RotationOutputs>>["apply"]>>;

/** One resource for a secret of a kind, over several runs of an engine. */
class Rotated {
  readonly fake = new FakeRun();
  readonly resource;
  saved: RotationOutputs | undefined;

  constructor(
    kind: SecretKind,
    public inputs: RotationInputs & { databaseId?: string },
  ) {
    this.resource = asShown(rotationOf(kind));
    const isPair = kind === signingKeys;
    const shown = (resets: number) =>
      isPair
        ? { credentials: { currentKey: `k${resets}`, nextKey: `k${resets + 1}` } }
        : { record: { creationTime: seconds(-100) }, credentials: { password: `p${resets}` } };
    this.fake.answer = () => shown(this.fake.resets.length);
    this.fake.readDatabase = (_id, resets) => shown(resets);
  }

  get state(): RotationOutputs {
    return this.saved ?? assert.fail("nothing is saved");
  }

  get resets(): number {
    return this.fake.resets.length;
  }

  diff() {
    return this.resource.diff(this.state, this.inputs, this.fake.start());
  }

  async refresh() {
    const result = await this.resource.refresh(this.state, this.fake.start());
    this.saved = result.outputs;
    return result;
  }

  /** An `up` at a time, which updates only what diff announced. */
  async up(hours: number, more: Partial<RotationInputs> = {}): Promise<Partial<Applied>> {
    this.fake.time = at(hours);
    this.inputs = { ...this.inputs, ...more };
    const found = this.saved && this.diff();
    if (found?.changes === false) return { ...(found.warning !== undefined && { warning: found.warning }) };
    const result = await this.resource.apply(this.saved, this.inputs, this.fake.start());
    this.saved = result.outputs;
    return result;
  }
}

const password = (inputs: RotationInputs, saved?: RotationOutputs) => {
  const rotated = new Rotated(databasePassword, { databaseId: "db", ...inputs });
  rotated.saved = saved && ({ databaseId: "db", ...saved } as RotationOutputs);
  return rotated;
};

const reset = (more: Partial<RotationOutputs> = {}): RotationOutputs => {
  const base = { outcome: "reset", rotationCount: 1, rotatedAt: iso(0), appliedTrigger: markTrigger({}) } as const;
  return { ...base, ...more };
};
const adopted = (more: Partial<RotationOutputs> = {}): RotationOutputs => {
  return { ...reset(more), outcome: "adopted", rotatedAt: undefined, adoptedAt: iso(0), rotationCount: 0 };
};

describe("rotation: rotatedSince", () => {
  const due = /^Resets the .*"db": it is older than rotatedSince \(from 2026-11-.*\)\.$/;
  const ofUnknownAge = /^Resets the .*"db": rotatedSince is set, and the time of the last reset is not known\.$/;
  const rows: readonly { what: string; saved: RotationOutputs; since: string; notice?: RegExp }[] = [
    { what: "a reset before it", saved: reset(), since: iso(0.001), notice: due },
    { what: "a reset at that time", saved: reset(), since: iso(0) },
    { what: "a reset after it", saved: reset(), since: "2026-11-21T13:00:00+02:00" },
    { what: "no time", saved: reset({ rotatedAt: undefined }), since: iso(-1), notice: ofUnknownAge },
    { what: "a part of a time", saved: reset({ rotatedAt: "2026-11-21" }), since: iso(-50), notice: ofUnknownAge },
    { what: "a time in the future", saved: reset({ rotatedAt: iso(10.1) }), since: iso(-1), notice: ofUnknownAge },
    { what: "a clock that differs a little", saved: reset({ rotatedAt: iso(10.08) }), since: iso(10) },
    {
      what: "an adopted, older database",
      saved: adopted({ record: { creationTime: seconds(-1) } }),
      since: iso(0),
      notice: due,
    },
    {
      what: "an adopted database that is new enough",
      saved: adopted({ record: { creationTime: seconds(1) } }),
      since: iso(0),
    },
    {
      what: "an adopted one without a creation time",
      saved: adopted({ record: {} }),
      since: iso(-9),
      notice: ofUnknownAge,
    },
    {
      what: "one that was created in the future",
      saved: adopted({ record: { creationTime: seconds(11) } }),
      since: iso(0),
      notice: ofUnknownAge,
    },
    {
      what: "a creation time in milliseconds",
      saved: adopted({ record: { creationTime: seconds(1) * 1000 } }),
      since: iso(0),
      notice: ofUnknownAge,
    },
    {
      what: "a creation time in text",
      saved: adopted({ record: { creationTime: String(seconds(1)) } }),
      since: iso(0),
      notice: ofUnknownAge,
    },
    { what: "a creation time of a fleet", saved: adopted({ creationTime: seconds(1) }), since: iso(0) },
    {
      what: "a reset whose database is older",
      saved: reset({ record: { creationTime: seconds(-99) } }),
      since: iso(0),
    },
    { what: "an applied date", saved: reset({ rotatedAt: undefined, appliedSince: [iso(5)] }), since: iso(5) },
    {
      what: "a later date than the applied one",
      saved: reset({ appliedSince: [iso(5)] }),
      since: iso(5.1),
      notice: due,
    },
    {
      what: "an applied date that cannot be read",
      saved: reset({ appliedSince: ["2:x"] }),
      since: iso(5),
      notice: /^Does not reset .* appliedSince/,
    },
    { what: "an unreadable applied date that is not needed", saved: reset({ appliedSince: ["2:x"] }), since: iso(-5) },
  ];
  for (const { what, saved, since, notice } of rows) {
    it(`${notice ? "changes" : "keeps"} a secret with ${what}`, () => {
      const rotated = password({ rotatedSince: since }, saved);
      rotated.fake.time = at(10);
      const found = rotated.diff();
      assert.equal(found.changes, notice !== undefined);
      assert.match(found.notice ?? "", notice ?? /^$/);
    });
  }

  it("resets once for a date, whatever else is due, and nothing if it is removed or earlier", async () => {
    const rotated = password({ version: 1, rotateEvery: "1d", initialRotation: true, rotatedSince: iso(-1) });
    await rotated.up(0);
    assert.deepEqual([rotated.resets, rotated.state.rotationReason], [1, "created"]);
    const everything = { version: 2, rotatedSince: iso(30) };
    await rotated.up(31, everything);
    assert.deepEqual([rotated.resets, rotated.state.rotationReason], [2, "trigger"]);
    await rotated.up(32);
    for (const rotatedSince of [undefined, iso(29), null, iso(30)]) await rotated.up(33, { rotatedSince });
    assert.equal(rotated.resets, 2);
    await rotated.up(56, { rotatedSince: iso(55) });
    assert.deepEqual([rotated.resets, rotated.state.rotationReason], [3, "rotatedSince"]);
    assert.deepEqual(rotated.state.appliedSince, [iso(55)]);
    await rotated.up(57);
    assert.equal(rotated.resets, 3);
  });

  it("is applied by a reset for another reason, also if it is in the future by some minutes or the clock is set back", async () => {
    const rotated = password({ version: 1, rotatedSince: iso(0.05) });
    await rotated.up(0);
    for (const hours of [0.01, 1, -1, 200]) await rotated.up(hours);
    assert.equal(rotated.resets, 1);
    await rotated.up(201, { rotatedSince: iso(0.1) });
    assert.equal(rotated.resets, 2);
  });

  it("saves nothing more for a resource without it", async () => {
    const rotated = password({ version: 1 });
    await rotated.up(0);
    const added = ["appliedSince", "attemptedSince", "attemptedAt", "creationTime"];
    assert.deepEqual(
      Object.keys(rotated.state).filter((name) => added.includes(name)),
      [],
    );
  });

  describe("with initialRotation: false", () => {
    const adopting = (rotatedSince: string, creationTime: unknown) => {
      const rotated = password({ version: 1, initialRotation: false, rotatedSince });
      rotated.fake.canRead = true;
      const record = { databaseId: "db", creationTime } as Record<string, unknown>;
      rotated.fake.readDatabase = (_id, resets) => ({ record, credentials: { password: `p${resets}` } });
      return rotated;
    };

    it("adopts what was created since, with one read", async () => {
      const rotated = adopting(iso(-2), seconds(-1));
      const { outputs } = await rotated.up(0);
      assert.deepEqual([outputs?.outcome, rotated.resets, rotated.fake.databaseReads.length], ["adopted", 0, 1]);
      await rotated.up(1);
      assert.equal(rotated.resets, 0);
    });

    for (const [what, creationTime] of [
      ["is older", seconds(-3)],
      ["has no creation time", undefined],
      ["was created in the future", seconds(9)],
      ["has a creation time in milliseconds", seconds(-1) * 1000],
    ] as const) {
      it(`resets one that ${what}, once`, async () => {
        const rotated = adopting(iso(-2), creationTime);
        const { notice } = await rotated.up(0);
        const { outcome, rotationReason, rotationCount, adoptedAt } = rotated.state;
        assert.deepEqual([outcome, rotationReason, rotationCount], ["reset", "rotatedSince", 1]);
        assert.deepEqual([adoptedAt, notice, rotated.fake.databaseReads.length], [undefined, undefined, 1]);
        await rotated.up(1);
        assert.equal(rotated.resets, 1);
      });
    }

    it("resets without a read if the platform cannot be read", async () => {
      const rotated = adopting(iso(-2), seconds(-1));
      rotated.fake.canRead = false;
      await rotated.up(0);
      assert.deepEqual([rotated.state.outcome, rotated.resets, rotated.fake.databaseReads.length], ["reset", 1, 0]);
    });

    it("counts its reset, saves the adoption if the limit refuses it, and resets in the next run", async () => {
      const rotated = adopting(iso(-2), seconds(-3));
      rotated.fake.maxResets = 0;
      const { failure } = await rotated.up(0);
      assert.equal(failure?.code, "REKEY_RESET_LIMIT");
      assert.deepEqual([rotated.state.outcome, rotated.resets], ["adopted", 0]);
      rotated.fake.maxResets = 1;
      await rotated.up(1);
      assert.deepEqual([rotated.state.outcome, rotated.resets], ["reset", 1]);
    });

    it("saves the adoption if the platform rejects the reset", async () => {
      const rotated = adopting(iso(-2), seconds(-3));
      rotated.fake.answer = () => rejected();
      const { failure } = await rotated.up(0);
      assert.deepEqual([failure?.delivery, rotated.state.outcome], ["rejected", "adopted"]);
    });

    it("keeps an unconfirmed reset unknown, and a read settles it", async () => {
      const rotated = adopting(iso(-2), seconds(-3));
      const answer = rotated.fake.answer;
      rotated.fake.readDatabase = () => ({ record: {}, credentials: { password: "former" } });
      rotated.fake.answer = () => unconfirmed();
      await rotated.up(0);
      assert.deepEqual([rotated.state.outcome, rotated.state.attemptedSince], ["unknown", iso(-2)]);
      rotated.fake.answer = answer;
      rotated.fake.readDatabase = () => ({ record: {}, credentials: { password: "new" } });
      await rotated.up(1);
      assert.deepEqual([rotated.state.outcome, rotated.resets], ["reset", 1]);
      assert.deepEqual([rotated.state.rotatedAt, rotated.state.appliedSince], [iso(0), [iso(-2)]]);
    });

    it("resets only once if the engine repeats the call", async () => {
      const rotated = adopting(iso(-2), seconds(-3));
      const run = rotated.fake.start();
      const first = await rotated.resource.apply(undefined, rotated.inputs, run);
      assert.deepEqual(await rotated.resource.apply(undefined, rotated.inputs, run), first);
      assert.equal(rotated.resets, 1);
    });
  });

  describe("after a reset that was not confirmed", () => {
    let rotated: Rotated;
    let answer: FakeRun["answer"];
    let shown: string;
    /** One that was applied at 0 hours, with a lost response. */
    beforeEach(async () => {
      rotated = password({ version: 1 });
      rotated.fake.canRead = true;
      shown = "p0";
      rotated.fake.readDatabase = () => ({ credentials: { password: shown } });
      answer = rotated.fake.answer;
      rotated.fake.answer = () => unconfirmed();
      await rotated.up(0);
      rotated.fake.answer = answer;
      assert.deepEqual([rotated.state.outcome, rotated.state.attemptedAt], ["unknown", iso(0)]);
    });

    it("that a later run settles, the secret dates from the request, and is reset for a date since then", async () => {
      shown = "new";
      rotated.fake.answer = () => ({ credentials: { password: (shown = "newer") } });
      await rotated.up(5, { rotatedSince: iso(3) });
      assert.deepEqual([rotated.resets, rotated.state.rotatedAt, rotated.state.rotationCount], [2, iso(5), 2]);
      assert.equal(rotated.state.rotationReason, "rotatedSince");
    });

    it("that a refresh settles, the secret dates from the request", async () => {
      shown = "new";
      rotated.fake.time = at(5);
      await rotated.refresh();
      assert.deepEqual([rotated.state.outcome, rotated.state.rotatedAt], ["reset", iso(0)]);
      assert.deepEqual([rotated.state.attemptedAt, rotated.state.appliedSince], [undefined, undefined]);
      assert.equal(rotated.diff().changes, false);
      rotated.inputs = { ...rotated.inputs, rotatedSince: iso(0.1) };
      assert.equal(rotated.diff().changes, true);
    });

    it("of which there were two, the secret may be that of the first", async () => {
      rotated.fake.answer = () => unconfirmed();
      await rotated.up(4, { rotatedSince: iso(3) });
      assert.deepEqual([rotated.state.unconfirmedResets, rotated.state.attemptedAt], [2, iso(0)]);
      assert.equal(rotated.state.attemptedSince, undefined);
      rotated.fake.answer = () => ({ credentials: { password: (shown = "newer") } });
      shown = "new";
      await rotated.up(5);
      assert.deepEqual([rotated.resets, rotated.state.rotatedAt], [3, iso(5)]);
      await rotated.up(6);
      assert.equal(rotated.resets, 3);
    });

    it("that a read of the same run settles, the secret may be that of the one before, and a warning reports it", async () => {
      rotated.fake.answer = () => {
        shown = "new";
        return unconfirmed();
      };
      const { warning } = await rotated.up(4, { rotatedSince: iso(3) });
      assert.deepEqual([rotated.state.outcome, rotated.state.rotatedAt], ["reset", iso(0)]);
      assert.match(warning ?? "", /is still older than rotatedSince, .* The next `up` resets it once more\.$/);
      rotated.fake.answer = () => ({ credentials: { password: (shown = "newer") } });
      await rotated.up(5);
      assert.deepEqual([rotated.resets, rotated.state.rotatedAt], [3, iso(5)]);
    });

    it("by an earlier version, which saved no time, it counts from the read that settles it", async () => {
      const { attemptedAt, ...earlier } = rotated.state;
      rotated.saved = earlier;
      rotated.fake.answer = () => unconfirmed();
      const { outputs } = await rotated.up(1);
      assert.deepEqual([outputs?.unconfirmedResets, outputs?.attemptedAt], [2, undefined]);
      shown = "new";
      rotated.fake.time = at(5);
      const settled = await rotated.refresh();
      assert.deepEqual([settled.outputs.outcome, settled.outputs.rotatedAt], ["reset", iso(5)]);
    });

    it("three times in a row, a date resets nothing until the version changes", async () => {
      rotated.fake.answer = () => unconfirmed();
      for (const hours of [1, 2]) await rotated.up(hours, { rotatedSince: iso(1) });
      await assert.rejects(rotated.up(3, { rotatedSince: iso(2.9) }), { code: "REKEY_REPEATEDLY_UNCONFIRMED" });
      assert.equal(rotated.resets, 3);
      rotated.fake.answer = answer;
      await rotated.up(4, { version: 2 });
      assert.deepEqual([rotated.state.outcome, rotated.state.appliedSince], ["reset", [iso(2.9)]]);
    });

    it("does not lose a result because of damaged attempts", async () => {
      rotated.saved = { ...rotated.saved, attemptedAt: "then", attemptedSince: 7, appliedSince: "x" } as never;
      shown = "new";
      rotated.fake.time = at(5);
      await rotated.refresh();
      assert.deepEqual([rotated.state.outcome, rotated.state.rotatedAt], ["reset", iso(5)]);
    });
  });

  describe("of signing keys", () => {
    let rotated: Rotated;
    beforeEach(() => {
      rotated = new Rotated(signingKeys, { version: 1, initialRotation: false });
      rotated.fake.canRead = true;
    });
    const older = /^The current key of the pair of signing keys is still older than rotatedSince, or of unknown age: /;

    it("takes two rolls in two runs, minInterval apart, with a warning in between", async () => {
      await rotated.up(0);
      const first = await rotated.up(5, { rotatedSince: iso(4) });
      assert.deepEqual([rotated.resets, rotated.state.rotationReason], [1, "rotatedSince"]);
      const untilSix = new RegExp(`${older.source}.*The first \`up\` after ${iso(6)} may roll it`);
      assert.match(first.warning ?? "", untilSix);
      assert.match((await rotated.up(5.9)).warning ?? "", untilSix);
      assert.equal(rotated.resets, 1);
      const second = await rotated.up(6);
      assert.deepEqual([rotated.resets, second.warning], [2, undefined]);
      for (const hours of [7, 8, 900]) assert.equal((await rotated.up(hours)).warning, undefined);
      assert.equal(rotated.resets, 2);
    });

    it("adopts nothing of unknown age: creating the resource rolls", async () => {
      await rotated.up(0, { rotatedSince: iso(-1) });
      assert.deepEqual([rotated.resets, rotated.state.rotationReason], [1, "rotatedSince"]);
      await rotated.up(1);
      await rotated.up(2);
      assert.equal(rotated.resets, 2);
    });

    it("takes one roll if the next key is new enough", async () => {
      await rotated.up(0, { initialRotation: true });
      await rotated.up(5, { rotatedSince: iso(-1) });
      await rotated.up(7);
      assert.equal(rotated.resets, 2);
    });

    it("reports that the next run rolls once more, if minInterval is zero", async () => {
      const { warning } = await rotated.up(0, { rotatedSince: iso(-1), minInterval: "0s" });
      assert.match(
        warning ?? "",
        /still older than rotatedSince, or of unknown age\. The next `up` resets it once more\.$/,
      );
      for (const hours of [0.1, 0.2, 0.3]) await rotated.up(hours);
      assert.equal(rotated.resets, 2);
    });

    it("makes no third roll if the clock is set back, the date is in the future by some minutes, or someone else rolls", async () => {
      await rotated.up(0, { rotatedSince: iso(0.08) });
      await rotated.up(1);
      assert.equal(rotated.resets, 2);
      for (const hours of [2, 0.5, 300]) await rotated.up(hours);
      let rolls = 5;
      rotated.fake.readDatabase = () => ({ credentials: { currentKey: `k${rolls}`, nextKey: `k${rolls + 1}` } });
      for (rolls of [5, 8]) {
        await rotated.refresh();
        await rotated.up(310);
      }
      assert.deepEqual([rotated.resets, rotated.state.currentKeySince], [2, undefined]);
    });

    it("a settled roll generated its key when it was requested", async () => {
      let rolls = 0;
      rotated.fake.readDatabase = () => ({ credentials: { currentKey: `k${rolls}`, nextKey: `k${rolls + 1}` } });
      await rotated.up(0);
      const { answer } = rotated.fake;
      rotated.fake.answer = () => unconfirmed();
      await rotated.up(2, { rotatedSince: iso(1) });
      await rotated.up(3);
      assert.deepEqual([rotated.resets, rotated.state.attemptedAt, rotated.state.lastRolledAt], [2, iso(2), iso(3)]);
      rolls = 1;
      rotated.fake.time = at(5);
      await rotated.refresh();
      const { nextKeySince, rotatedAt, lastRolledAt, appliedSince } = rotated.state;
      assert.deepEqual([nextKeySince, rotatedAt, lastRolledAt, appliedSince], [iso(2), iso(2), iso(5), [iso(1)]]);
      rotated.fake.answer = answer;
      await rotated.up(6);
      await rotated.up(8);
      assert.equal(rotated.resets, 3);
    });
  });

  describe("in a check", () => {
    const failures = (rotatedSince: unknown, unknown: readonly string[] = []) =>
      password({}).resource.check({ databaseId: "db", rotatedSince } as never, new Set(unknown), new FakeRun().start());
    it("is accepted up to five minutes in the future, and refused later", () => {
      assert.deepEqual(failures(new Date(start + 300_000).toISOString()), []);
      const [failure] = failures(new Date(start + 300_001).toISOString());
      const reason = `rotatedSince must not be more than five minutes in the future: by the clock of this machine, it is ${iso(0)}`;
      assert.deepEqual(failure, { property: "rotatedSince", reason });
      assert.equal(failures("2026-11-22").length, 1);
      assert.deepEqual(failures("2026-11-21"), []);
    });
    it("is refused if it is not a date with a zone", () => {
      assert.match(failures("2026-11-20T12:00:00")[0]?.reason ?? "", /^rotatedSince must be a date \(.*with a zone/);
      assert.match(
        failures(20261120)[0]?.reason ?? "",
        /^rotatedSince must be a date written as a string, not a number$/,
      );
    });
    it("passes while it is unknown, or not set", () => {
      assert.deepEqual(failures("not yet known", ["rotatedSince"]), []);
      assert.deepEqual(failures(null), []);
    });
  });

  it("that is unknown in a preview may reset what was reset before now", () => {
    const rotated = password({ version: 1, rotatedSince: "?" }, reset({ appliedTrigger: markTrigger({ version: 1 }) }));
    rotated.fake.time = at(10);
    const notice = rotated.resource.noticeOfUnknown(
      rotated.state,
      rotated.inputs,
      new Set(["rotatedSince"]),
      rotated.fake.start(),
    );
    assert.equal(notice, 'May reset the password of database "db": rotatedSince is not known yet.');
  });
});

describe("rotation: rotatedSince of a fleet", () => {
  const shard = asShown(passwordRotationShard);
  const fleet = "urn:pulumi:dev::program::rekey:index:PasswordRotationFleet::caches";
  const of = 'PasswordRotationFleet "caches"';
  const inputs = (ids: string, more: Partial<PasswordRotationShardInputs> = {}): PasswordRotationShardInputs => {
    return { shard: "07", fleet, databases: [...ids], ...more };
  };
  let fake: FakeRun;
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    fake.readDatabase = (id) => ({
      record: { databaseId: id, creationTime: id === "n" ? seconds(0) : seconds(-9) },
      credentials: { password: `${id}${fake.resets.filter((one) => one === id).length}` },
    });
  });
  const up = async (hours: number, wanted: PasswordRotationShardInputs, saved?: PasswordRotationShardOutputs) => {
    fake.time = at(hours);
    const { changes } = saved ? shard.diff(saved, wanted, fake.start()) : { changes: true };
    return changes ? (await shard.apply(saved, wanted, fake.start())).outputs : (saved ?? assert.fail());
  };

  it("resets what is older, once, and keeps or adopts what is new enough, without its record", async () => {
    const adopting = { initialRotation: false, rotatedSince: iso(-1) };
    const first = await up(1, inputs("an", adopting));
    assert.deepEqual(fake.resets, ["a"]);
    const adopted = {
      databaseId: "n",
      outcome: "adopted",
      adoptedAt: iso(1),
      rotationCount: 0,
      creationTime: seconds(0),
    };
    assert.deepEqual(first.rotations[1], adopted);
    assert.equal(await up(2, inputs("an", adopting), first), first);
    const later = inputs("anz", { ...adopting, rotatedSince: iso(0.5) });
    fake.time = at(2);
    const { notice } = shard.diff(first, later, fake.start());
    assert.deepEqual(notice?.split("\n"), [
      `${of} resets 1, because they are older than rotatedSince: "n".`,
      `${of} adopts 1, and may reset them: the time of their creation, which rotatedSince compares, is not known yet: "z".`,
    ]);
    const second = await up(2, later, first);
    assert.deepEqual(fake.resets, ["a", "n", "z"]);
    assert.equal(second.rotations.find(({ databaseId }) => databaseId === "n")?.creationTime, undefined);
    assert.equal(await up(3, later, second), second);
  });

  it("resets what an earlier version adopted, whose creation time is not known, and changes nothing without a date", async () => {
    const saved = await up(0, inputs("n", { initialRotation: false }));
    const [{ creationTime, ...earlier }] = saved.rotations as [(typeof saved.rotations)[0]];
    assert.equal(creationTime, seconds(0));
    const old = { ...saved, rotations: [earlier] };
    assert.equal(await up(1, inputs("n", { initialRotation: false }), old), old);
    const dated = inputs("n", { initialRotation: false, rotatedSince: iso(-5) });
    const { notice } = shard.diff(old, dated, fake.start());
    assert.equal(
      notice,
      `${of} resets 1, because rotatedSince is set and the time of their last reset is not known: "n".`,
    );
  });

  it("applies the fleet's limits to what is adopted or reset", async () => {
    fake.answer = () => rejected();
    const wanted = inputs("abcd", { initialRotation: false, rotatedSince: iso(-1), concurrency: 1, maxFailures: 2 });
    const outputs = await up(0, wanted);
    assert.deepEqual(fake.resets, ["a", "b"]);
    assert.deepEqual(
      outputs.rotations.map(({ outcome }) => outcome),
      ["adopted", "adopted", "pending", "pending"],
    );
  });

  it("refuses a date in the future for the fleet, and announces one that is not known yet", async () => {
    const [failure] = shard.check(inputs("a", { rotatedSince: iso(1) }), new Set(), fake.start());
    assert.match(failure?.reason ?? "", /^PasswordRotationFleet "caches": rotatedSince must not be more than five/);
    const saved = await up(0, inputs("ab"));
    fake.time = at(1);
    const notice = shard.noticeOfUnknown(
      saved,
      inputs("ab", { rotatedSince: "?" }),
      new Set(["rotatedSince"]),
      fake.start(),
    );
    assert.equal(notice, `${of} may reset 2 databases: rotatedSince is not known yet ("a", "b").`);
  });
});

describe("rotation: rotatedSince, for any saved state, date and clock", () => {
  const hours = fc.integer({ min: -60, max: 0 }).map((tenths) => tenths / 10);
  const time = fc.oneof(hours.map(iso), fc.constantFrom(undefined, "then", iso(-1).slice(0, 10), iso(2)));
  const applied = fc.oneof({ weight: 4, arbitrary: fc.array(hours.map(iso), { maxLength: 2 }) }, fc.constant(["2:x"]));
  const optional = { requiredKeys: ["outcome", "rotationCount"] as ["outcome", "rotationCount"] };
  const state = fc
    .record(
      {
        outcome: fc.constantFrom("reset" as const, "adopted" as const, "unknown" as const),
        rotationCount: fc.nat(3),
        rotatedAt: time,
        adoptedAt: time,
        currentKeySince: time,
        nextKeySince: time,
        lastRolledAt: fc.constantFrom(iso(-6), iso(-0.5)),
        appliedSince: applied.map((dates) => dates.toSorted()),
        attemptedAt: time,
        attemptedSince: time,
        unconfirmedResets: fc.integer({ min: 1, max: 3 }),
        record: fc.record({ creationTime: fc.oneof(hours.map(seconds), fc.constantFrom(undefined, "1", 1e15)) }),
      },
      optional,
    )
    .map((saved) => ({
      ...saved,
      appliedTrigger: markTrigger({ version: 1 }),
      attemptedTrigger: saved.outcome === "unknown" ? markTrigger({ version: 1 }) : undefined,
    }));
  const inputs = fc.record({
    version: fc.constantFrom(1, 1, 2),
    rotateEvery: fc.constantFrom(undefined, "PT3H"),
    canRead: fc.boolean(),
  });

  /** Runs until nothing is due, at least an hour apart; the number of resets. */
  async function resetsUntilKept(
    kind: SecretKind,
    saved: object,
    { canRead, ...wanted }: { canRead: boolean; version: number; rotateEvery: string | undefined },
    rotatedSince: string,
    clocks: readonly number[],
  ): Promise<number> {
    const rotated = new Rotated(kind, {
      ...(kind === databasePassword && { databaseId: "db" }),
      ...wanted,
      rotatedSince,
    });
    rotated.fake.canRead = canRead;
    rotated.saved = { databaseId: "db", subject: "signing-keys", ...saved } as never;
    for (const clock of clocks) {
      try {
        await rotated.up(clock);
      } catch (error) {
        assert.match((error as Error).message, /REKEY_(REPEATEDLY_UNCONFIRMED|STATE_UNREADABLE|ROLLED_RECENTLY)/);
      }
    }
    return rotated.resets;
  }

  for (const [kind, most] of [
    [databasePassword, 1],
    [signingKeys, 2],
  ] as const) {
    it(`planning again after ${most} confirmed plans to keep the ${kind.noun}`, async () => {
      const clocks = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 5, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(state, inputs, hours, clocks, async (saved, wanted, since, later) => {
          const times = kind === signingKeys ? later.map((_one, index) => index) : later;
          const resets = await resetsUntilKept(
            kind,
            saved,
            { ...wanted, version: 1, rotateEvery: undefined },
            iso(since),
            times,
          );
          assert.ok(resets <= most, `${resets} resets`);
        }),
      );
    });

    it(`a later date never gives fewer resets of the ${kind.noun}`, async () => {
      await fc.assert(
        fc.asyncProperty(state, inputs, hours, hours, async (saved, wanted, a, b) => {
          const clocks = [0, 1, 2];
          const [earlier, later] = [Math.min(a, b), Math.max(a, b)];
          const fewer = await resetsUntilKept(kind, saved, wanted, iso(earlier), clocks);
          const more = await resetsUntilKept(kind, saved, wanted, iso(later), clocks);
          assert.ok(fewer <= more, `${fewer} resets for the earlier date, ${more} for the later one`);
        }),
      );
    });
  }
});
