import assert from "node:assert/strict";
import fc from "fast-check";
import { isSecret } from "../support/wire";
import { databaseId } from "./answers";
import { assertCarried, assertNothingPolluted } from "./assertions";
import { InProcessAdapter } from "./adapter";
import { __provider, damagedState, version } from "./savedStates";
import { fuzz, timeoutFor } from "./settings";

const triggers = [{ version }, { version: 7 }, { version, rotateEvery: "10d" }, { rotateEvery: "P1M" }, {}];
const wanted = fc.constantFrom(...triggers);

describe("fuzz: damaged saved states", () => {
  const platform = new InProcessAdapter();
  beforeEach(() => {
    platform.renew();
    platform.sent.length = 0;
  });

  it("cause no unrequested reset: what cannot be read is refused by name", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(damagedState, wanted, async (olds, trigger) => {
        const news = { databaseId, ...trigger, __provider };
        platform.sent.length = 0;
        const { passwordRotation } = platform.adapter;
        const planned = await outcomeOf(() => passwordRotation.diff(databaseId, olds, news));
        if (planned.done) assert.deepEqual(planned.value.replaces, [], "a replacement is a reset");
        const updated = await outcomeOf(() => passwordRotation.update(databaseId, olds, news));
        if (updated.done) {
          assertCarried((updated.value as { outs: Record<string, unknown> }).outs);
          assert.ok(planned.done && planned.value.changes === false, "diff and update disagree");
        } else {
          refused++;
          assert.match(updated.message, /saved output \w+|the last \d+ resets/);
          if (planned.done) assert.equal(planned.value.changes, true, "diff and update disagree");
        }
        assert.equal(platform.sent.length, 0);
        assertNothingPolluted();
      }),
      fuzz(2_000),
    );
    console.log(`    ${refused} were refused`);
  }).timeout(timeoutFor(2_000));

  it("can be refreshed and deleted, with the secrets in them marked", async () => {
    await fc.assert(
      fc.asyncProperty(damagedState, async (olds) => {
        const { passwordRotation } = platform.adapter;
        const { id, props = {} } = await passwordRotation.read(databaseId, olds);
        assert.equal(id, databaseId);
        assertCarried(props);
        for (const name of ["password", "otherFields", "appliedTrigger"]) {
          assert.equal(isSecret(props[name]), name in olds, name);
        }
        await passwordRotation.delete(databaseId, olds);
        assert.equal(platform.sent.length, 0);
        assertNothingPolluted();
      }),
      fuzz(1_000),
    );
  }).timeout(timeoutFor(1_000));

  it("cause nothing if they are those of the other resource", async () => {
    const { flowControlReset } = platform.adapter;
    const news = { flowControlKey: databaseId };
    const result = await outcomeOf(() => flowControlReset.diff(databaseId, { databaseId }, news));
    assert.ok(!result.done && /saved output flowControlKey/.test(result.message));
  });
});

type Outcome<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly message: string };

async function outcomeOf<T>(call: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { done: true, value: await call() };
  } catch (error) {
    assert.ok(error instanceof Error);
    return { done: false, message: error.message };
  }
}
