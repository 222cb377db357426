import assert from "node:assert/strict";
import { ResourceHandler } from "../../../provider/engine/adapter";
import { type Properties, reveal } from "../../../provider/pulumi/values";
import { rotationTrigger, type TriggerInputs } from "../../../provider/rotation/trigger";
import { type Run } from "../../../provider/run/run";
import { FakeRun } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { isSecret, unknown } from "../../support/wire";
import { fieldsIn, tableOf } from "./tables";

/** A trigger as an engine saves it, and what the last operation has said. */
class Trigger {
  readonly fake = new FakeRun();
  inputs: Properties = {};
  outputs: Properties | undefined;
  said = "";

  get #saved() {
    return this.outputs && { id: "trigger", outputs: this.outputs };
  }

  /** @param hours since the beginning of 2026 */
  at(hours: number): this {
    this.fake.time = new Date(Date.UTC(2026, 0, 1, hours));
    return this;
  }

  /** Checks and plans. @returns the inputs of Check, and whether Diff shows a change */
  preview(args: TriggerInputs, run: Run = this.fake.start()): { inputs: Properties; changes: boolean } {
    const handler = new ResourceHandler(rotationTrigger, run);
    const given = { ...args, name: "key" } as Properties;
    const { inputs: marked, problems } = handler.check(this.inputs, given);
    assert.deepEqual(problems, []);
    assert.ok(isSecret(marked["memory"]));
    const inputs = reveal(marked);
    const { changes, notices } = handler.plan(this.#saved, inputs);
    this.said = notices.map(({ text }) => text).join("\n");
    return { inputs, changes };
  }

  async up(args: TriggerInputs, run: Run = this.fake.start()): Promise<this> {
    const { inputs, changes } = this.preview(args, run);
    this.inputs = inputs;
    const handler = new ResourceHandler(rotationTrigger, run);
    if (changes) this.outputs = (await handler.apply(this.#saved, inputs)).outputs;
    return this;
  }
}

/** A value without the characters that are the trigger's own. */
const shared = (value: unknown) => String(value).replace(/-[0-9a-f]{6}$/, "");

const weekly = { version: 1, rotateEvery: "7d" };
const adopted = (args: TriggerInputs = weekly) => new Trigger().at(0).up(args);

describe("RotationTrigger", () => {
  it("adopts, with the day and without a turn", async () => {
    const { outputs, said } = await adopted();
    const { memory, value, ...shown } = outputs ?? assert.fail();
    assert.match(String(value), /^20260101-0-[0-9a-f]{6}$/);
    assert.notEqual(value, (await adopted()).outputs?.["value"], "another trigger has another one");
    assert.equal(typeof memory, "string");
    const next = { nextRotationAt: "2026-01-08T00:00:00.000Z", rotationCount: 0 };
    assert.deepEqual(JSON.parse(JSON.stringify(shown)), { subject: "trigger", ...next });
    assert.match(said, /^The trigger "key" is new\. Its first value replaces nothing/);
    assert.doesNotMatch(said, /rotatedSince/);
  });

  const effect = "Whatever has `value` as its replacementTrigger should now be replaced.";
  const turns = (why: string) => `Turns the trigger "key", because ${why} ${effect} So far 1 in this run.`;
  const changed = turns("version or triggers have changed.");
  const elapsed = turns("it is due by rotateEvery: it was last turned or adopted at 2026-01-01T00:00:00.000Z.");
  const ofUnknownAge = turns("rotatedSince is set, and its age is not known.");
  const date = { ...weekly, rotatedSince: "2026-01-02" };
  const soon =
    'The trigger "key" is due soon by rotateEvery: the first `up` from 2026-01-07T12:00:00.000Z on turns it.';
  const due =
    'The trigger "key" is due to be turned, because it is due by rotateEvery: it was last turned or adopted at';

  const person = "a person is to replace the secret, and then to set a new version";
  const waits = `${due} 2026-01-01T00:00:00.000Z. It is postponed: ${person}.`;

  const texts = { "": "", changed, elapsed, soon, waits, "its age": ofUnknownAge };
  /** What happens to one that was adopted at hour 0 with version 1 and `7d`. */
  const rows = tableOf(
    ["title", "hours", "inputs", "value", "reason", "says"],
    `
    nothing new                             | 24  |                            | 20260101-0
    a version in another spelling           | 24  | version: "1", triggers: {} | 20260101-0
    a value that is used elsewhere          | 24  | usedElsewhere: true        | 20260101-0
    a trigger that was removed              | 24  | version: null              | 20260101-0
    a new version                           | 24  | version: 2                 | 20260102-1 | trigger      | changed
    a further trigger                       | 24  | triggers: { a: 1 }         | 20260102-1 | trigger      | changed
    a schedule that is due soon             | 150 |                            | 20260101-0 |              | soon
    a schedule that is due                  | 156 |                            | 20260107-1 | schedule     | elapsed
    a schedule by hand that is due soon     | 150 | byHand: true               | 20260101-0
    a schedule by hand that is due          | 156 | byHand: true               | 20260101-0 |              | waits
    a version by hand, although it is due   | 200 | version: 2, byHand: true   | 20260109-1 | trigger      | changed
    a schedule that the program has removed | 200 | rotateEvery: null          | 20260101-0
    a date, because the age is not known    | 48  | rotatedSince: "2026-01-02" | 20260103-1 | rotatedSince | its age
    `,
  );
  for (const { title, hours, inputs, value, reason, says } of rows) {
    it(`with ${title} has the value ${value}, in the preview, too, and once`, async () => {
      const trigger = (await adopted()).at(Number(hours));
      const args = { ...weekly, ...fieldsIn(inputs) };
      const previewed = trigger.preview(args).inputs["value"];
      await trigger.up(args);
      assert.equal(trigger.said, texts[says as keyof typeof texts]);
      assert.equal(shared(previewed), value);
      const turnedAt = reason ? trigger.fake.time.toISOString() : undefined;
      const expected = { rotationReason: reason || undefined, turnedAt, rotationCount: reason ? 1 : 0 };
      assertFields(trigger.outputs ?? {}, expected);
      assert.equal(previewed, trigger.outputs?.["value"]);
      assert.equal(trigger.preview(args).changes, false);
    });
  }

  it("turns twice on one day, and each date once", async () => {
    const trigger = await (await adopted()).at(48).up(date);
    await trigger.at(49).up({ ...date, version: 2 });
    assert.equal(shared(trigger.outputs?.["value"]), "20260103-2");
    assert.equal(trigger.at(50).preview({ ...date, version: 2 }).changes, false);
    await trigger.up({ ...date, version: 2, rotatedSince: "2026-01-03T02:04:00Z" });
    assert.equal(shared(trigger.outputs?.["value"]), "20260103-3");
    assert.equal(trigger.preview({ ...date, version: 2, rotatedSince: "2026-01-03T02:04:00Z" }).changes, false);
  });

  it("adopts with a date, and turns in the next `up`", async () => {
    const trigger = await new Trigger().at(48).up(date);
    assert.match(trigger.said, /The age of the secret is not known, so the next `up` turns it for rotatedSince\.$/);
    assert.equal(shared((await trigger.up(date)).outputs?.["value"]), "20260103-1");
  });

  it("by hand, waits for a person with a constant output, for a date, too, until a new version", async () => {
    const byHand = { ...date, byHand: true };
    const trigger = await new Trigger().at(48).up(byHand);
    assert.match(trigger.said, /The age of the secret is not known, so a person is to replace the secret, and then/);
    await trigger.up(byHand);
    const { value } = trigger.outputs ?? {};
    assertFields(trigger.outputs ?? {}, { waits: person, rotationCount: 0 });
    for (const hours of [72, 999]) {
      assert.equal(trigger.at(hours).preview(byHand).changes, false, "nothing changes each night");
      assert.match(trigger.said, /^The trigger "key" is due to be turned.* It is postponed: a person is to replace/);
    }
    await trigger.up({ ...byHand, version: 2 });
    assertFields(trigger.outputs ?? {}, {
      waits: undefined,
      rotationCount: 1,
      nextRotationAt: "2026-02-18T15:00:00.000Z",
    });
    assert.notEqual(trigger.outputs?.["value"], value);
    await trigger.up({ ...date, version: 2 });
    assertFields(trigger.at(2000).outputs ?? {}, { waits: undefined });
  });

  it("saves a new schedule, which turns nothing", async () => {
    const trigger = await (await adopted()).at(24).up({ ...weekly, rotateEvery: "30d" });
    assertFields(trigger.outputs ?? {}, { nextRotationAt: "2026-01-31T00:00:00.000Z" });
    assert.equal(shared(trigger.outputs?.["value"]), "20260101-0");
  });

  it("has an unknown value while an argument is not known", async () => {
    const args = { ...weekly, version: unknown };
    assertFields(new Trigger().preview(args).inputs, { value: unknown });
    const trigger = await adopted();
    const { inputs, changes } = trigger.preview(args);
    assert.deepEqual([inputs["value"], changes], [unknown, true]);
    assert.equal(trigger.said, 'The trigger "key" may be turned (not known yet: version).');
  });

  it("takes back what it has saved, as with ignoreChanges, and refuses any other output", async () => {
    const trigger = await adopted();
    const { value, memory } = trigger.inputs as { value: string; memory: string };
    assert.equal(shared(trigger.at(156).preview({ ...weekly, value, memory }).inputs["value"]), "20260107-1");
    for (const other of [{ value: "20260102-1" }, { memory: `${memory} ` }]) {
      assert.throws(() => trigger.preview({ ...weekly, ...other }), /(value|memory) is an output.*REKEY_INPUT_INVALID/);
    }
    assert.throws(() => new Trigger().preview({ value }), /REKEY_INPUT_INVALID/);
    trigger.inputs["memory"] = memory.replace('"rotationCount":0', '"rotationCount":0,').slice(0, -1);
    assert.throws(() => trigger.preview(weekly), /REKEY_STATE_UNREADABLE/);
  });

  it("waits for a schedule while rekey:scheduledResets is off, but not for a version", async () => {
    const trigger = (await adopted()).at(200);
    trigger.fake.settings = { scheduledResets: "off" };
    assert.equal(trigger.preview(weekly).changes, false);
    assert.equal(trigger.said, `${due} 2026-01-01T00:00:00.000Z. It is postponed: rekey:scheduledResets is off.`);
    assert.equal(shared((await trigger.up({ ...weekly, version: 2 })).outputs?.["value"]), "20260109-1");
  });

  it("counts a turn once in a run: above the limit, a schedule waits, and a version or a date fails", async () => {
    const [one, other] = [(await adopted()).at(200), (await adopted()).at(200)];
    one.fake.settings = { maxResetsPerRun: "1" };
    const run = one.fake.start();
    assert.equal(shared(one.preview(weekly, run).inputs["value"]), "20260109-1");
    assert.match(one.said, /So far 1 of 1 in this run\.$/);
    assert.equal(shared(one.preview(weekly, run).inputs["value"]), "20260109-1");
    assert.equal(other.preview(weekly, run).changes, false);
    const used = "rekey:maxResetsPerRun allows no further reset or turn in this run";
    assert.equal(other.said, `${due} 2026-01-01T00:00:00.000Z. It is postponed: ${used}.`);
    for (const args of [{ ...weekly, version: 2 }, date]) {
      assert.throws(
        () => other.preview(args, run),
        /trigger "key" was not rotated.*allows no further.*REKEY_RESET_LIMIT/,
      );
    }
    assert.throws(() => run.reserveReset("password"), /REKEY_RESET_LIMIT/);
    // A reset that was announced before is counted, too, so that a preview shows what its `up` does.
    const next = one.fake.start();
    next.announce(["password"]);
    assert.equal(other.preview(weekly, next).changes, false);
    assert.equal(shared(other.preview(weekly, one.fake.start()).inputs["value"]), "20260109-1");
  });
});
