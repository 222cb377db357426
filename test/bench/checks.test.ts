import assert from "node:assert/strict";
import { checksOf } from "../../bench/checks";
import { type Row } from "../../bench/support/rows";

const row = (subject: string, count: number, seconds: number, more: Partial<Row> = {}): Row => {
  return { where: "engine", subject, case: "first up", count, seconds, ...more };
};
const good: readonly Row[] = [
  row("bare HTTP", 1000, 1, { where: "wire" }),
  row("noop", 1, 3),
  row("handWritten", 1000, 160, { stateSize: 8_000_000 }),
  row("handWritten", 1, 3, { stateSize: 8_000 }),
  row("passwordRotation", 1000, 80, { stateSize: 3_000_000 }),
  row("passwordRotation", 1, 3, { stateSize: 3_000 }),
  row("fleet", 1000, 5),
  row("fleet", 10_000, 20, { hostPeak: 2 ** 30 }),
  row("fleet", 200, 1.6, { where: "network", roundTripMs: 50 }),
  row("bare HTTPS", 200, 1.4, { where: "network", roundTripMs: 50 }),
  row("fleet", 200, 3, { where: "network", roundTripMs: 50, case: "rotate all, read first" }),
  row("bare HTTPS", 200, 2.5, { where: "network", roundTripMs: 50, case: "rotate all, read first" }),
  row("client", 200, 1.5, { where: "network", roundTripMs: 50, case: "reset" }),
  row("bare HTTPS", 200, 1.5, { where: "network", roundTripMs: 50, case: "reset" }),
  row("getFlowControlKey", 1000, 1, { where: "wire", case: "read keys", requests: 1 }),
];

describe("bench: checks", () => {
  it("holds if the measurements are good, and is left out if there are none", () => {
    const checks = checksOf(good);
    assert.ok(checks.every(({ holds }) => holds));
    const values = checks.map(({ value }) => Number(value.toFixed(4)));
    assert.deepEqual(values, [1.25, 0.0313, 0.375, 1, 1.1429, 1.2, 1, 1]);
    assert.deepEqual(checksOf([row("fleet", 1000, 5)]), []);
  });

  const bad: Readonly<Record<string, Row>> = {
    "a fleet slower than an empty program and the requests": row("fleet", 1000, 6.1),
    "a hand-written provider not 20 times slower": row("handWritten", 1000, 99),
    "a state of more than 0.4": row("passwordRotation", 1000, 80, { stateSize: 3_300_000 }),
    "a host of more than 1.5 GiB": row("fleet", 10_000, 20, { hostPeak: 1.6 * 2 ** 30 }),
    "a fleet slow over a network": row("fleet", 200, 1.8, { where: "network", roundTripMs: 50 }),
    "a fleet slow over a network that reads first": row("fleet", 200, 3.2, {
      where: "network",
      roundTripMs: 50,
      case: "rotate all, read first",
    }),
    "resets slow over a network": row("client", 200, 1.7, { where: "network", roundTripMs: 50, case: "reset" }),
    "three requests for 1,000 keys": row("getFlowControlKey", 1000, 1, { where: "wire", requests: 3 }),
  };
  for (const [what, measured] of Object.entries(bad)) {
    it(`fails on ${what}`, () => {
      const others = good.filter(({ subject, count }) => subject !== measured.subject || count !== measured.count);
      assert.equal(checksOf([...others, measured]).filter(({ holds }) => !holds).length, 1);
    });
  }
});
