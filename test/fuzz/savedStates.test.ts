import assert from "node:assert/strict";
import fc from "fast-check";
import { StateError } from "../../provider/platform/errors";
import { begin } from "../../provider/rotation/evidence";
import { readMemory } from "../../provider/rotation/memory";
import { type State } from "../../provider/rotation/state";
import { FakeRun } from "../support/fakeRun";
import { providerTexts } from "../support/host";
import { contextAt, savedOutputs, stateAfterReset } from "../support/savedRotation";
import { type Properties } from "../support/wire";
import { InProcessAdapter } from "../support/inProcessAdapter";
import { databaseId, tryParse } from "./answers";
import { asTheHostReads, assertCarried, assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./settings";

const version = "7";
const __provider = providerTexts.passwordRotation;
const context = contextAt(new FakeRun().time, { canRead: false });
const reset = stateAfterReset({ version }, { password: "p", restToken: "r" }, context, { databaseId, port: 1 });
const adopted = { ...reset, outcome: "adopted" as const, rotationCount: 0, adoptedAt: context.now.toISOString() };
const again = (state: State) => begin(state, { version: "8" }, "trigger", undefined, context);

/** States for whose version there is nothing to do, or nothing that may be done: three resets were not confirmed. */
const states = [
  { state: reset, version },
  { state: adopted, version },
  { state: again(again(again(reset))), version: "8" },
].map((one) => {
  const outputs: Properties = { databaseId, __provider, ...savedOutputs(one.state) };
  return { version: one.version, outputs };
});

/** Changes one property of an object: removes it, cuts it off, or replaces it by any JSON, as an engine saves it. */
const damageOf = (names: readonly string[]): fc.Arbitrary<(all: Properties) => Properties> =>
  fc
    .tuple(fc.constantFrom(...names, ...hostileNames), fc.option(smallValue), fc.nat())
    .map(([name, json, at]) => (all) => {
      const { [name]: value, ...others } = all;
      const cut = typeof value === "string" && at % 3 > 0 ? value.slice(0, at % (value.length + 1)) : undefined;
      const damaged = json === null ? cut : tryParse(json);
      return damaged === undefined ? others : Object.fromEntries([...Object.entries(others), [name, damaged]]);
    });

const names = [...new Set(states.flatMap(({ outputs }) => Object.keys(outputs)))];
const memoryNames = [...new Set(states.flatMap(({ outputs }) => Object.keys(readMemory(outputs["memory"]))))];
const inMemory = damageOf(memoryNames).map((damage) => ({ memory, ...others }: Properties) => {
  const fields = typeof memory === "string" ? tryParse(memory) : undefined;
  const isObject = typeof fields === "object" && fields !== null;
  return { ...others, memory: isObject ? JSON.stringify(damage(fields as Properties)) : (memory ?? null) };
});
/** A state whose memory is unchanged, or cannot be read: one that can be read is that of another history. */
const damaged = fc
  .tuple(
    fc.constantFrom(...states),
    fc.array(fc.oneof(damageOf(names.filter((name) => name !== "__provider")), inMemory), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([{ outputs, version: desired }, damages]) => ({
    desired,
    memory: outputs["memory"],
    olds: asTheHostReads(damages.reduce((all, one) => one(all), outputs)),
  }))
  .filter(({ olds, memory }) => olds["memory"] === memory || !isReadable(olds["memory"]));

function isReadable(memory: unknown): boolean {
  try {
    readMemory(memory);
    return true;
  } catch (error) {
    assert.ok(error instanceof StateError);
    return false;
  }
}

describe("fuzz: damaged saved states", () => {
  const platform = new InProcessAdapter();
  beforeEach(() => {
    platform.renew();
    platform.sent.length = 0;
  });

  it("cause no unrequested reset: what cannot be read is refused by name, and nothing else is decided by", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(damaged, async ({ olds, memory, desired }) => {
        const news = { databaseId, version: desired, __provider };
        const { passwordRotation } = platform.adapter;
        const calls = [
          passwordRotation.diff(databaseId, olds, news),
          passwordRotation.update(databaseId, olds, news),
        ] as const;
        const [planned, updated] = await Promise.allSettled(calls);
        const isSound = olds["databaseId"] === databaseId && olds["memory"] === memory;
        assert.equal(planned.status === "fulfilled", isSound, "only the id and the memory are read");
        const failed = updated.status === "rejected" ? messageOf(updated) : "";
        if (planned.status === "rejected") {
          refused++;
          for (const message of [messageOf(planned), failed]) {
            assert.match(message, /saved output (databaseId|memory) .*Nothing was sent/);
          }
        } else {
          assert.deepEqual(planned.value.replaces, [], "a replacement is a reset");
          assert.match(failed, planned.value.changes ? /the last 3 resets/ : /^$/, "only a fourth reset is planned");
        }
        if (updated.status === "fulfilled") assertCarried(updated.value.outs);
        assert.equal(platform.sent.length, 0);
        assertNothingPolluted();
      }),
      fuzz(2_000),
    );
    console.log(`    ${refused} were refused`);
  }).timeout(timeoutFor(2_000));
});

function messageOf({ reason }: PromiseRejectedResult): string {
  assert.ok(reason instanceof Error);
  return reason.message;
}
