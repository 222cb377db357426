import assert from "node:assert/strict";
import fc from "fast-check";
import { findDue } from "../../provider/doctor/due";
import { ResourceHandler } from "../../provider/engine/adapter";
import { type Properties, reveal } from "../../provider/pulumi/values";
import { rotationTrigger, type TriggerInputs } from "../../provider/rotation/trigger";
import { credentialVerification } from "../../provider/verification/credentialVerification";
import { FakeRun } from "../support/fakeRun";
import { seed } from "../support/suite";

const intervals = { "1d": 24, "7d": 168 } as const;
const step = fc.record({
  hours: fc.nat(120),
  version: fc.option(fc.nat(2), { nil: undefined }),
  rotateEvery: fc.constantFrom(undefined, "1d", "7d"),
  isDated: fc.boolean(),
  scheduledResets: fc.constantFrom("on", "off"),
  /** The key that the program has. */
  key: fc.nat(3),
  /** Whether the vendor refuses it yet, so that the `up` fails after the trigger is saved. */
  isUnknown: fc.boolean(),
  /** Whether the person has deleted the former ones. */
  deletes: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A trigger by hand and the verification of its key, as an engine saves them. */
class Stack {
  readonly fake = new FakeRun();
  readonly saved = new Map<string, { inputs: Properties; outputs?: Properties | undefined }>();
  said = "";

  /** An `up` of one resource. */
  async apply(resource: typeof rotationTrigger | typeof credentialVerification, given: object, valid: Set<string>) {
    const id = String(resource.onlyId);
    const run = this.fake.start({
      statusOf: async ({ authorization = "" }) => ({ status: valid.has(authorization) ? 200 : 401 }),
    });
    const handler = new ResourceHandler(resource, run);
    const { inputs: before = {}, outputs } = this.saved.get(id) ?? {};
    const inputs = reveal(handler.check(before, given as Properties).inputs);
    const saved = outputs && { id, outputs };
    const { changes, replaces = [], notices } = handler.plan(saved, inputs);
    this.said += notices.map(({ text }) => text).join("\n");
    const next = changes ? (await handler.apply(replaces.length > 0 ? undefined : saved, inputs)).outputs : outputs;
    this.saved.set(id, { inputs, outputs: next });
    return next ?? {};
  }

  /** What the alarm lists of the trigger at once. */
  isListed(): boolean {
    const resources = [...this.saved.values()].map(({ inputs, outputs = {} }) => {
      const type = "turnedAt" in outputs ? "rekey:index:RotationTrigger" : "rekey:index:CredentialVerification";
      return { urn: `urn:pulumi:dev::app::${type}::a`, type, id: "a", inputs, outputs };
    });
    const { due } = findDue([{ name: "dev", resources }], "999d", this.fake.time);
    return due.some(({ resource }) => resource.startsWith("RotationTrigger"));
  }
}

describe("A key that a person replaces", () => {
  it(`turns for a version only, and is never silent when due, in 200 walks (REKEY_SEED=${seed})`, async () => {
    const walk = async (steps: readonly Step[]) => {
      const stack = new Stack();
      // The model: hours since the start, and what the last successful `up`s have seen.
      const model = { now: 0, last: 0, turns: 0, hasAge: false, applied: undefined as number | undefined };
      let [pair, formers, accepted] = [undefined as readonly number[] | undefined, [] as number[], -1];
      const deleted = new Set<number>();
      for (const [
        nth,
        { hours, version, rotateEvery, isDated, key, isUnknown, deletes, ...settings },
      ] of steps.entries()) {
        model.now += hours;
        stack.fake.time = new Date(Date.UTC(2026, 0, 1, model.now));
        stack.fake.settings = settings;
        stack.said = "";
        const turns = version !== undefined && version !== model.applied;
        if (turns) model.applied = version;
        if (nth === 0) model.last = model.now;
        if (turns && nth > 0) Object.assign(model, { last: model.now, turns: model.turns + 1, hasAge: true });
        const args = { version, rotateEvery, byHand: true } as TriggerInputs;
        const rotatedSince = isDated ? stack.fake.time.toISOString() : undefined;
        const trigger = await stack.apply(rotationTrigger, { ...args, rotatedSince }, new Set());
        assert.equal(trigger["rotationCount"], model.turns);
        assert.equal(stack.said.includes("Turns the trigger"), turns && nth > 0);

        const every = rotateEvery && intervals[rotateEvery];
        const isPast = every !== undefined && model.now >= model.last + every - Math.min(12, every / 10);
        const isDue = isPast || (isDated && (!model.hasAge || model.last < model.now));
        assert.equal(trigger["waits"] !== undefined, isDue);
        assert.equal(/is due to be turned|a person is to replace/.test(stack.said), isDue);
        assert.ok(!isDue || stack.isListed());

        stack.said = "";
        if (deletes) for (const one of [...formers, accepted]) if (one !== key) deleted.add(one);
        deleted.delete(key);
        const valid = new Set(
          [0, 1, 2, 3].filter((one) => !deleted.has(one) && !(isUnknown && one === key)).map(bearer),
        );
        const proof = {
          credential: credentialOf(key),
          http: { url: "https://v.example.com" },
          triggerValue: trigger["value"],
        };
        const proven = await stack
          .apply(credentialVerification, { ...proof, withinSeconds: 0.1 }, valid)
          .catch(() => undefined);
        const next = [model.turns, key];
        const [hasTurned, isReplaced] = next.map((one, at) => pair !== undefined && one !== pair[at]);
        assert.equal(/The trigger has turned, but/.test(stack.said), hasTurned === true && !isReplaced);
        assert.equal(/The credential is another one, but/.test(stack.said), isReplaced === true && !hasTurned);
        assert.equal(proven === undefined, isUnknown && key !== accepted);
        if (!proven) continue;
        if (hasTurned === isReplaced) pair = next;
        formers = formers.filter((one) => one !== key && !deleted.has(one));
        if (accepted !== key && accepted >= 0) formers.push(accepted);
        accepted = key;
        assert.equal(proven["formersValid"], formers.length);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), walk), { seed, numRuns: 200 });
  });
});

const credentialOf = (key: number) => `canary-key-${key}`;
const bearer = (key: number) => `Bearer ${credentialOf(key)}`;
