import assert from "node:assert/strict";
import { type FleetDatabaseState } from "../../../provider/rotation/fleet";
import {
  credentialsOf,
  failureOf,
  type NamedState,
  nameStates,
  nextRotationOf,
  outputsOfFleet,
  urlsOf,
} from "../../../provider/rotation/fleetOutputs";

const state = (databaseId: string, more: Partial<FleetDatabaseState> = {}): FleetDatabaseState => ({
  databaseId,
  outcome: "reset",
  rotationCount: 1,
  ...more,
});
const named = (...states: FleetDatabaseState[]): NamedState[] => states.map((one) => [one.databaseId, one]);

describe("rotation: the outputs of a fleet", () => {
  it("name the databases; one without a state is pending", () => {
    const [one, problems] = [state("a"), ["tls: expected true or false", "port: expected a number"]];
    const states = nameStates(
      [
        { name: "cache", databaseId: "a" },
        { name: "b", databaseId: "b" },
      ],
      [one],
    );
    assert.deepEqual(states, [
      ["cache", one],
      ["b", { databaseId: "b", outcome: "pending", rotationCount: 0 }],
    ]);
    const { databases } = outputsOfFleet(
      named(state("a", { problem: "it failed", problems }), state("b", { problems })),
    );
    assert.equal(databases["a"]?.problem, "it failed");
    assert.equal(databases["b"]?.problem, "tls: expected true or false; port: expected a number");
  });

  it("contain the records that are saved", () => {
    const record = { endpoint: "h" };
    const { records } = outputsOfFleet(named(state("a", { record, exactIntegers: { port: "1" } }), state("b")));
    assert.deepEqual(records, { a: { record, exactIntegers: { port: "1" } } });
  });

  it("contain the URLs of the databases with a known and confirmed password", () => {
    const record = { endpoint: "db.example.com", port: 6400, tls: true };
    const reset = { rotatedAt: "2026-01-01", rotationCount: 2, outcome: "reset" } as const;
    const databases = {
      c: { databaseId: "db-1", ...reset },
      b: { databaseId: "db-2", ...reset, outcome: "unknown" as const },
      a: { databaseId: "db-3", ...reset },
    };
    const credentials = { c: { password: "p" }, b: { password: "old" } };
    const fleet = { databases, credentials, records: { c: { record } } };
    const urls = urlsOf(fleet, ({ databaseId, record: its }, password) => password && `${databaseId} ${its?.port}`);
    assert.deepEqual(urls, { c: "db-1 6400", b: "db-2 undefined" });
    assert.deepEqual(
      urlsOf({ databases, credentials: {} }, () => "url"),
      { c: "url", b: "url", a: "url" },
    );
  });

  it("contain the credentials of the shards that exist", () => {
    const secrets = [undefined, '[{"databaseId":"a","password":"p","appliedTrigger":"1:a:b"}]'];
    assert.deepEqual(credentialsOf([{ name: "cache", databaseId: "a" }], secrets), { cache: { password: "p" } });
    assert.deepEqual(credentialsOf([], secrets), { a: { password: "p" } });
  });

  it("list what failed", () => {
    const { failed } = outputsOfFleet(named(state("a"), state("b", { problem: "it failed" })));
    assert.deepEqual(failed, ["b"]);
  });

  it("have the time of the last reset, and of the oldest reset or adoption", () => {
    const none = named(state("d"));
    const states = named(
      state("a", { rotatedAt: "2026-02" }),
      state("b", { rotatedAt: "2026-03", adoptedAt: "2025-01" }),
      state("c", { adoptedAt: "2026-01" }),
    );
    const timesOf = ({ lastRotated, oldest }: ReturnType<typeof outputsOfFleet>) => ({ lastRotated, oldest });
    assert.deepEqual(timesOf(outputsOfFleet(states)), { lastRotated: "2026-03", oldest: "2026-01" });
    assert.deepEqual(timesOf(outputsOfFleet(none)), { lastRotated: undefined, oldest: undefined });
    const next = (ignoreChanges: string[]) => nextRotationOf("2026-01-01T00:00:00.000Z", "1d", ignoreChanges);
    assert.deepEqual([next(["version"]), next(["rotateEvery"])], ["2026-01-02T00:00:00.000Z", undefined]);
  });
});

describe("rotation: the errors of a fleet", () => {
  const failed = (count: number) =>
    Array.from({ length: count }, (_, index) => state(`db-${index}`, { problem: `it\nfailed ${index}` }));
  const head = (count: number, of: number) => `PasswordRotationFleet "caches": ${count} of ${of} databases failed:\n`;
  const tail =
    "\nAll others are saved. Until an `up` succeeds, `pulumi stack output` may show former values that no longer work: do not use them. Run `up` again: it only processes databases that failed, are unknown or were not attempted. [REKEY_FLEET_INCOMPLETE]";
  const notTried = state("z", { problem: "not attempted", notTried: true });
  const skipped = (count: number) =>
    `  ${count} were not attempted, because too many others had failed (maxFailures): no reset was sent for them in this run`;

  it("name what failed, one line for each", () => {
    assert.equal(failureOf("caches", named(state("a"))), undefined);
    const lines = "  db-0: it failed 0\n  db-1: it failed 1";
    assert.equal(failureOf("caches", named(state("a"), ...failed(2))), head(2, 3) + lines + tail);
  });

  it("name twenty databases, and count the others", () => {
    const error = (count: number) => failureOf("caches", named(...failed(count))) ?? "";
    assert.equal(error(20).split("\n").length, 22);
    assert.ok(!error(20).includes(" more"));
    assert.ok(error(23).endsWith(`  db-19: it failed 19\n  and 3 more: see the output \`failed\`${tail}`), error(23));
  });

  it("count what was not attempted", () => {
    assert.equal(
      failureOf("caches", named(...failed(1), notTried)),
      `${head(1, 2)}  db-0: it failed 0\n${skipped(1)}${tail}`,
    );
    assert.equal(failureOf("caches", named(notTried)), `${head(0, 1)}${skipped(1)}${tail}`);
  });
});
