import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { findDue } from "../../provider/doctor/due";
import { exportedIn } from "../../provider/doctor/stackState";
import { assertFields } from "../support/results";
import { EngineStack, fails, onEngineByAdapter, type Rekey, succeeds } from "./engineStack";

/** A key of some provider, and what uses it: the provider notes in a file what it does. */
class Foreign extends pulumi.CustomResource {
  declare readonly key: pulumi.Output<string>;

  constructor(name: string, inputs: pulumi.Inputs, options?: pulumi.CustomResourceOptions) {
    const __provider = `exports.handler = () => {
      const keyOf = () => "key-" + Math.random();
      return {
        create: async (inputs) => ({ id: keyOf(), outs: { ...inputs, key: keyOf() } }),
        // A provider does not see another value of a write-only argument.
        diff: async (id, { valueWo: _, key, ...olds }, { valueWo, ...news }) => ({
          changes: JSON.stringify(Object.entries(olds).sort()) !== JSON.stringify(Object.entries(news).sort()),
        }),
        update: async (id, olds, news) => {
          if (news.broken) throw new Error("the deployment is broken");
          return { outs: { ...olds, ...news } };
        },
      };
    }`;
    super("pulumi-nodejs:dynamic/test:Foreign", name, { key: undefined, ...inputs, __provider }, options);
  }
}

interface Args {
  readonly version?: number;
  readonly rotateEvery?: string;
  readonly rotatedSince?: string;
}

onEngineByAdapter("A key of any provider", (adapter) => {
  let args: Args;
  let isTurned = false;
  let isInside = false;
  /** A store with a write-only argument, whose version is the number of turns. */
  let hasStore = false;
  let broken: boolean;
  let options: pulumi.CustomResourceOptions;
  let stack: EngineStack;
  const program = ({ RotationTrigger }: Rekey) => {
    const turn = isTurned && new RotationTrigger("turn", args, options);
    const option = turn ? { replacementTrigger: turn.value } : {};
    const parent = isInside ? new pulumi.ComponentResource("test:index:Keys", "inside", {}, option) : undefined;
    const key = new Foreign("key", {}, parent ? { parent } : option);
    new Foreign("deployment", { uses: key.key, broken: broken && key.key });
    if (turn && hasStore) new Foreign("store", { valueWo: key.key, valueWoVersion: turn.rotationCount });
  };
  before(async () => {
    [args, broken, options] = [{ version: 1 }, false, {}];
    stack = await EngineStack.start(program, { adapter });
  });

  /** The keys that exist, the current one first. */
  const keys = async () => {
    const { resources } = await stack.saved();
    return resources.flatMap(({ urn, outputs }) => (urn.endsWith("::key") ? [outputs?.["key"]] : []));
  };

  /** An `up` that does what its preview shows, and replaces the key or not. */
  const up = async (isReplaced: boolean, ...said: RegExp[]) => {
    const before = await keys();
    const previewed = await succeeds(stack.preview());
    const done = await succeeds(stack.up());
    assert.deepEqual(done.changes, previewed.changes);
    for (const pattern of said) for (const { printed } of [previewed, done]) assert.match(printed, pattern);
    const after = await keys();
    assert.equal(after.length, 1);
    assert.equal(after[0] !== before[0], isReplaced);
    assert.equal((await stack.outputsOf("deployment"))["uses"], after[0]);
    if (hasStore) assert.equal((await stack.outputsOf("store"))["valueWo"], after[0]);
    return done;
  };
  const day = () => new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const turned = (count: number, rotationReason: string) =>
    stack.outputsOf("turn").then((outputs) => {
      assertFields(outputs, { rotationCount: count, rotationReason });
      assert.match(String(outputs["value"]), new RegExp(`^${day()}-${count}-[0-9a-f]{6}$`));
    });
  /** What an alarm lists two days later. */
  const due = async () => {
    const { output } = await stack.run("stack", "export");
    const state = exportedIn("dev", output) ?? assert.fail();
    const later = new Date(Date.now() + 48 * 3_600_000);
    return findDue([state], "24h", later).due.map(({ resource, what }) => `${resource} ${what}`);
  };

  it("that exists is adopted: its first trigger replaces nothing, and remembers as a secret", async () => {
    await up(true);
    isTurned = true;
    await up(false, /is new. Its first value replaces nothing/);
    assert.deepEqual((await up(false)).changes, { same: 4 });
    const { output } = await stack.run("stack", "export");
    assert.match(output, /RotationTrigger/);
    assert.doesNotMatch(output, /scheduledFrom/);
  });

  it("is replaced for a version, a date and a schedule, once for each", async () => {
    hasStore = true;
    await up(false);
    args = { version: 2 };
    await up(true, /Turns the trigger.*version or triggers have changed.*should now be replaced/);
    await turned(1, "trigger");
    await up(false);
    args = { version: 2, rotatedSince: new Date().toISOString() };
    await up(true, /older than rotatedSince/);
    await turned(2, "rotatedSince");
    await up(false);
    args = { version: 2, rotateEvery: "PT1S" };
    await up(true, /it is due by rotateEvery/);
    await turned(3, "schedule");
    hasStore = false;
  });

  it("is replaced by the schedule with ignoreChanges, and for a new version once it is not ignored", async () => {
    args = { version: 3 };
    options = { ignoreChanges: ["*"] };
    // The ignored arguments of the last `up` still say every second.
    await up(true, /it is due by rotateEvery/);
    await stack.configure({ "rekey:scheduledResets": "off" });
    options = { ignoreChanges: ["*"] };
    await up(false, /It is postponed: rekey:scheduledResets is off/);
    options = {};
    await up(true, /version or triggers have changed/);
    await turned(5, "trigger");
  });

  it("stays with the new one until an `up` in which the deployment succeeds", async () => {
    [args, broken] = [{ version: 4 }, true];
    const [former] = await keys();
    await fails(stack.up(), /the deployment is broken/);
    const both = await keys();
    assert.equal(both.length, 2);
    assert.ok(both.includes(former));
    const [pending = "", ...others] = await due();
    assert.match(pending, /Foreign "key" was replaced, and is not deleted yet \(since 20/);
    assert.deepEqual(others, []);
    broken = false;
    await succeeds(stack.up());
    assert.deepEqual(await due(), []);
    const left = await keys();
    assert.deepEqual(
      left,
      both.filter((one) => one !== former),
    );
  });

  it("stays if the option is that of a component around it, which an alarm lists", async () => {
    isInside = true;
    await succeeds(stack.up());
    const before = await keys();
    args = { version: 5 };
    await succeeds(stack.up());
    assert.deepEqual(await keys(), before);
    const [listed = "", ...others] = await due();
    assert.match(listed, /^RotationTrigger "turn" has turned, but no resource of another provider has its value/);
    assert.deepEqual(others, []);
    isInside = false;
    args = { version: 4 };
    await succeeds(stack.up());
  });

  it("is replaced by an `up` of the trigger and its dependents only if the key is named, too", async () => {
    args = { version: 5 };
    const former = await keys();
    const { resources } = await stack.saved();
    const urns = (...names: string[]) =>
      resources.flatMap(({ urn }) => (names.includes(urn.split("::")[3] ?? "") ? urn : []));
    await succeeds(stack.up({ target: urns("turn"), targetDependents: true }));
    assert.deepEqual(await keys(), former);
    await succeeds(stack.up({ target: urns("turn", "key"), targetDependents: true }));
    assert.equal((await keys()).length, 1);
    assert.notDeepEqual(await keys(), former);
    await up(false);
  });

  it("fails with a version above the limit, in a preview, too", async () => {
    args = { version: 6 };
    await stack.configure({ "rekey:maxResetsPerRun": "0" });
    await fails(stack.preview(), /trigger.* was not rotated.*REKEY_RESET_LIMIT/s);
    await fails(stack.up(), /REKEY_RESET_LIMIT/);
    assert.equal((await keys()).length, 1);
  });
});
