import assert from "node:assert/strict";
import fc from "fast-check";
import { databasePassword } from "../../provider/platform/secretKind";
import { providerTexts } from "../support/host";
import { isLost, resetSecret, RotatedSecret } from "../support/rotatedSecret";
import { type Properties } from "../support/wire";
import { InProcessAdapter } from "./inProcessAdapter";
import { databaseId, tryParse } from "./answers";
import { asTheHostReads, assertCarried, assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./fuzz";

const version = "7";
const __provider = providerTexts.passwordRotation;

interface Saved {
  /** For which there is nothing to do, or nothing that may be done. */
  readonly version: string;
  readonly outputs: Properties;
}

/** States after a reset, an adoption, and three resets that were not confirmed. */
async function savedStates(): Promise<Saved[]> {
  const record = { databaseId, port: 1 };
  const reset = await resetSecret({ version }, { password: "p", restToken: "r" }, { id: databaseId, record });
  const adopted = new RotatedSecret(databasePassword, undefined, databaseId);
  await adopted.up({ version, initialRotation: false }, { shows: { password: "p" }, record });
  const lost = reset.copy();
  for (let nth = 1; nth <= 3; nth++) await lost.up({ version: "8" }, { responds: isLost });
  const all = [reset, adopted, lost].map(({ outputs }) => ({ ...outputs, __provider }));
  return all.map((outputs, nth) => ({ outputs, version: nth === 2 ? "8" : version }));
}

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

/** That any change within a memory is refused: memory.test.ts. */
const damaged = (states: readonly Saved[]) => {
  const names = [...new Set(states.flatMap(({ outputs }) => Object.keys(outputs)))];
  const damages = fc.array(damageOf(names.filter((name) => name !== "__provider")), { minLength: 1, maxLength: 3 });
  return fc.tuple(fc.constantFrom(...states), damages).map(([{ outputs, version: desired }, all]) => ({
    desired,
    memory: outputs["memory"],
    olds: asTheHostReads(all.reduce((damaged, one) => one(damaged), outputs)),
  }));
};

describe("fuzz: damaged saved states", () => {
  const platform = new InProcessAdapter();
  beforeEach(() => {
    platform.renew();
    platform.sent.length = 0;
  });

  it("cause no unrequested reset: what cannot be read is refused by name, and nothing else is decided by", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(damaged(await savedStates()), async ({ olds, memory, desired }) => {
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
          assert.match(
            failed,
            planned.value.changes ? /has not confirmed its last resets/ : /^$/,
            "only a fourth reset is planned",
          );
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
