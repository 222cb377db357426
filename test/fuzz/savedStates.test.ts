import assert from "node:assert/strict";
import fc from "fast-check";
import { databasePassword } from "../../provider/domain/secretKind";
import { providerTexts } from "../support/host";
import { databaseText } from "../support/platformBodies";
import { Team } from "../support/age";
import { isLost, resetSecret, RotatedSecret } from "../support/rotatedSecret";
import { type Properties, revealed } from "../support/wire";
import { InProcessAdapter } from "./inProcessAdapter";
import { databaseId, tryParse } from "./answers";
import { asTheHostReads, assertCarried, assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./fuzz";

const version = "7";
const __provider = providerTexts.PasswordRotation;

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

/** That any change within a memory is refused: state.test.ts. */
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
        const { PasswordRotation } = platform.adapter;
        const calls = [
          PasswordRotation.diff(databaseId, olds, news),
          PasswordRotation.update(databaseId, olds, news),
        ] as const;
        const [planned, updated] = await Promise.allSettled(calls);
        const isSound = olds["databaseId"] === databaseId && olds["memory"] === memory;
        assert.equal(planned.status === "fulfilled", isSound, "only the id and the memory are read");
        const failed = updated.status === "rejected" ? messageOf(updated) : "";
        if (planned.status === "rejected") {
          refused++;
          for (const message of [messageOf(planned), failed]) {
            assert.match(message, /saved output (databaseId|memory) .*No request was made/);
          }
        } else {
          const { changes, replaces } = planned.value;
          assert.deepEqual(replaces, [], "a replacement is a reset");
          assert.match(failed, /^$|has not confirmed its last resets/);
          const isOfPlugin = olds["__provider"] === undefined;
          assert.equal(changes, isOfPlugin || failed !== "", "only a fourth reset is planned, or the provider's text");
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

describe("fuzz: damaged saved states of a fleet", () => {
  const process = new InProcessAdapter();
  const __provider = providerTexts.PasswordRotationFleet;
  const ids = ["a", "b"];
  const inputs = { databases: Object.fromEntries(ids.map((id) => [id, id])), version: 1, __provider };
  let whole: Properties;
  let encrypted: Properties;
  before(async () => {
    process.answer = ({ path }) => databaseText({ database_id: path.slice(-1), password: `of ${path.slice(-1)}` });
    encrypted = { ...inputs, encryptFor: [(await Team.create()).recipient] };
    const { outs = {} } = await process.adapter.PasswordRotationFleet.create(encrypted);
    whole = revealed(outs);
    process.sent.length = 0;
  });

  /** Damages the outputs, one of them, what it has of a database, or one field of that. */
  const fields = ["databaseId", "outcome", "rotatedAt", "error", "password", "otherFields", "count", "current", "salt"];
  const path = fc.tuple(
    fc.constantFrom("states", "credentials", "encryptedCredentials", "access", "memory", "failed"),
    fc.array(fc.constantFrom(...ids, ...fields, ...hostileNames), { maxLength: 2 }),
  );
  const json = fc.option(smallValue);

  function damage(value: unknown, [name, ...rest]: readonly string[], to: string | null): unknown {
    if (name === undefined) return to === null ? undefined : tryParse(to);
    const isText = typeof value === "string" && rest.length > 0;
    const all = (isText ? tryParse(value) : value) as Properties | undefined;
    if (typeof all !== "object" || all === null) return damage(value, [], to);
    const entries = [...Object.entries(all).filter(([other]) => other !== name), [name, damage(all[name], rest, to)]];
    const damaged: unknown = Object.fromEntries(entries as [string, unknown][]);
    return isText ? JSON.stringify(damaged) : damaged;
  }

  it("cause no reset and no unexpected error: what cannot be read is refused by name", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(path, json, fc.boolean(), async ([output, more], to, isOther) => {
        const damaged = damage(whole, [output, ...more], to);
        const olds = asTheHostReads(JSON.parse(JSON.stringify(damaged)) as Properties);
        const news = isOther ? { ...encrypted, saveCredentials: false } : encrypted;
        process.renew();
        const { PasswordRotationFleet: fleet } = process.adapter;
        const found = await Promise.allSettled([fleet.diff("fleet", olds, news), fleet.update("fleet", olds, news)]);
        for (const one of found) {
          if (one.status === "fulfilled") {
            assert.doesNotMatch(JSON.stringify(one.value), /REKEY_INTERNAL/);
            continue;
          }
          refused++;
          assert.match(messageOf(one), /the state is damaged\. No request was made\..*REKEY_STATE_UNREADABLE/);
        }
        assert.deepEqual(process.sent, []);
        assertNothingPolluted();
      }),
      fuzz(1_000),
    );
    console.log(`    ${refused} were refused`);
  }).timeout(timeoutFor(1_000));
});

function messageOf({ reason }: PromiseRejectedResult): string {
  assert.ok(reason instanceof Error);
  return reason.message;
}
