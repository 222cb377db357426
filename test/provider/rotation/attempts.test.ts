import assert from "node:assert/strict";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { afterReset, firstAttempt } from "../../../provider/rotation/rotatedSince";

const [monday, tuesday, wednesday] = [23, 24, 25].map((day) => `2026-11-${day}T00:00:00.000Z`) as [
  string,
  string,
  string,
];
const last = { attemptedSince: wednesday, attemptedAt: tuesday };
const unknown = { outcome: "unknown", rotationCount: 1 } as const;

describe("rotation: the dates that resets apply", () => {
  it("are those of the first of several unconfirmed resets, by the earlier of two clocks", () => {
    assert.equal(firstAttempt(undefined, last), last);
    assert.equal(firstAttempt({ ...unknown, outcome: "reset", attemptedAt: monday }, last), last);
    const first = (attemptedAt: string) => firstAttempt({ ...unknown, attemptedAt, attemptedSince: monday }, last);
    assert.deepEqual(first(monday), { attemptedSince: monday, attemptedAt: monday });
    assert.deepEqual(first(wednesday), { attemptedSince: monday, attemptedAt: tuesday });
    assert.deepEqual(firstAttempt({ ...unknown, attemptedAt: "2026", attemptedSince: "2026" }, last), {});
  });

  it("are kept for as many resets as replace all of a secret, and never go back", () => {
    const after = (kind: Parameters<typeof afterReset>[0], former: unknown, date?: string) =>
      afterReset(kind, { appliedSince: former as string[] }, date).appliedSince;
    assert.deepEqual(after(databasePassword, [monday], tuesday), [tuesday]);
    assert.deepEqual(after(databasePassword, [tuesday], monday), [tuesday]);
    assert.deepEqual(after(databasePassword, [tuesday]), [tuesday]);
    assert.deepEqual(after(signingKeys, [monday, tuesday], wednesday), [tuesday, wednesday]);
    assert.deepEqual(after(signingKeys, [tuesday], monday), [tuesday, tuesday]);
    assert.deepEqual(after(signingKeys, ["2026-11-30", monday]), [monday, monday]);
    for (const damaged of [undefined, "text", ["2026"], [7]]) {
      assert.deepEqual(afterReset(databasePassword, { appliedSince: damaged as string[] }, undefined), {});
    }
  });
});
