import assert from "node:assert/strict";
import { unknownValue } from "../../../../provider/pulumi/values";
import { unconfirmed } from "../../../support/fakeRun";
import { assertFields } from "../../../support/results";
import { check, Fleet, type Inputs, many, of, plan, refresh } from "./fleets";

describe("fleetPlan: what is said", () => {
  it("of a new fleet: how many databases it resets, up to five names, how to keep them, and whether it is renamed", async () => {
    const fleet = new Fleet();
    const databases = many(12);
    const each = 'assword of each of 12 databases ("db-0", "db-1", "db-2", "db-3", "db-4" and 7 more)';
    const how = "To keep it, set `initialRotation: false`. If it was only renamed, use the option `aliases`.";
    const resets = `Resets the p${each}, because the resource is new. ${how} So far 12 in this run.`;
    assert.equal(fleet.plan({ databases }).notice, resets);
    const adopted = `The p${each} is adopted, not reset. To reset it, set a new version.`;
    assert.equal(fleet.plan({ databases, initialRotation: false }).notice, adopted);
    await fleet.up({ databases });
    const run = fleet.fake.start();
    await refresh(fleet.known, run);
    const renamed = `The p${each} is already in the state. If you renamed the resource, use the option \`aliases\`.`;
    assert.equal(plan(undefined, { databases }, run).warning, renamed);
  });

  it("one line for each reason, although their times differ", async () => {
    const fleet = new Fleet();
    for (const [index, ids] of [["a"], ["a", "b"], ["a", "b", "c"]].entries()) {
      fleet.fake.time = new Date(`2026-11-0${index + 1}T12:00:00.000Z`);
      await fleet.up({ databases: of(...ids), rotateEvery: "30d" });
    }
    assertFields(fleet.saved, { nextRotationAt: "2026-12-01T12:00:00.000Z", lastRotated: "2026-11-03T12:00:00.000Z" });
    fleet.fake.time = new Date("2027-01-01T12:00:00.000Z");
    const { notice = "" } = fleet.plan({ databases: of("b", "a", "c", "d"), rotateEvery: "30d" });
    const [late = "", added = "", ...more] = notice.split("\n");
    const why = "because it is due by rotateEvery: it was last reset or adopted at 2026-11-02T12:00:00.000Z.";
    const names = '3 databases ("b", "a", "c")';
    const details = 'These details are for "b". So far 3 in this run.';
    assert.equal(late, `Resets the password of each of ${names}, ${why} ${details}`);
    assert.match(added, /^Resets the password of database "d", because it is new in the fleet\. .* So far 4 in this/);
    assert.deepEqual(more, []);
  });

  const later = { ...of("a"), later: unknownValue };
  const unknowns: readonly (readonly [Inputs, says: string])[] = [
    [{ databases: later, version: 1 }, 'password of database "later" may be reset (not known yet: databaseId).'],
    [
      { databases: { ...of("b"), a: { databaseId: "a", version: unknownValue } }, version: 1 },
      'password of database "a" may be reset (not known yet: version).',
    ],
    [
      { databases: of("a", "b"), triggers: unknownValue as never },
      'password of each of 2 databases ("a", "b") may be reset (not known yet: triggers).',
    ],
    [{ databases: unknownValue as never }, "passwords of the databases may be reset (not known yet: databases)."],
  ];
  it("of unknown ids and versions: may", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: of("a", "b"), version: 1 });
    for (const [inputs, says] of unknowns) {
      assert.deepEqual(check(inputs), []);
      const { notice, changes, changing } = fleet.plan(inputs);
      assert.deepEqual([notice, changes, changing], [`The ${says}`, true, undefined]);
    }
    const { notice = "" } = plan(undefined, { databases: later });
    assert.match(notice, /2 databases \("a", "later"\), because .* So far 2/);
  });

  it("of findings: one line for each kind", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: many(7) });
    fleet.fake.canRead = true;
    fleet.fake.readDatabase = (id) => (/[35]/.test(id) ? unconfirmed() : { credentials: { password: `other-${id}` } });
    const { notice = "", warning = "" } = await fleet.refresh();
    const five = '5 databases ("db-0", "db-1", "db-2", "db-4", "db-6")';
    const drift = "was changed outside of Rekey (password). The saved state has been updated.";
    assert.equal(notice, `The password of each of ${five} ${drift}`);
    assert.match(warning, /^The password of each of 2 databases \("db-3", "db-5"\) was not read: Could not do it/);
    assert.equal(fleet.passwords["db-0"], "other-db-0");
  });
});

describe("fleetPlan: inputs that are refused", () => {
  const canary = "canary-password";
  const names = ["__proto__", "toString", "constructor"].map((name): readonly [object, RegExp] => [
    { databases: Object.fromEntries([[name, "a"]]) },
    new RegExp(`^databases must not have the name "${name}", which .*: choose another one\\. No request was made`),
  ]);
  const rows: readonly (readonly [object, RegExp])[] = [
    ...names,
    [{}, /^databases is required\./],
    [{ databases: ["a"] }, /^databases must be a map of names to ids or databases, not a list\./],
    [{ databases: { x: 7 } }, /^databases\["x"\] must be a string, not a number\./],
    [{ databases: { x: {} } }, /^databases\["x"\]\.databaseId is required\./],
    [{ databases: { x: null } }, /^databases\["x"\] is required\./],
    [{ databases: { x: { databaseId: "a", versoin: 1 } } }, /^databases\["x"\]\.versoin is not an argument/],
    [{ databases: { x: "a", y: { databaseId: "a" } } }, /^databases has the database "a" twice, as "x" and as "y"/],
    [{ databases: { x: `redis://:${canary}@host` } }, /^databases\["x"\] must be an id, for Upstash a UUID/],
    // As the SDK passes on a list.
    [{ databases: { [`${canary}@host`]: `${canary}@host` } }, /^databases must be an id, for Upstash a UUID/],
    // As a single rotation.
    [{ databases: of("a"), connection: { hots: 1 } }, /^connection\.hots is .*\(did you mean host\?\)/],
    [{ databases: of("a"), saveCredentials: false }, /^saveCredentials must not be false without/],
    [{ databases: of("a"), maxFailures: 0 }, /^maxFailures must be a whole number, at least 1/],
  ];
  for (const [inputs, says] of rows) {
    it(JSON.stringify(inputs), () => {
      const messages = check(inputs as Inputs).join("\n");
      assert.match(messages, says);
      assert.doesNotMatch(messages, new RegExp(canary));
    });
  }
});
