import assert from "node:assert/strict";
import { type Properties } from "../../../../provider/pulumi/values";
import { type FleetOutputs } from "../../../../provider/rotation/fleet/fleetOutputs";
import { sealed } from "../../../../provider/rotation/memory/memory";
import { type Access } from "../../../../provider/rotation/program/access";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { Team } from "../../../support/age";
import {
  asShown,
  FakeRun,
  passwordRotation,
  rejected,
  type SavedRotation,
  unconfirmed,
} from "../../../support/fakeRun";
import { assertFields } from "../../../support/results";
import { fieldsIn, tableOf } from "../tables";
import { Fleet, many, memoriesIn, of, refresh, sorted } from "./fleets";

describe("fleetOutputs: what is saved", () => {
  it("is saved by name, with what follows from it, and keyed by id in the memory", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: { sessions: "a", carts: { databaseId: "b", version: 1 } }, rotateEvery: "30d" });
    const { memory, access, ...outputs } = fleet.known;
    const rotatedAt = "2026-11-21T12:00:00.000Z";
    const state = { outcome: "reset", rotatedAt };
    const urlOf = (id: string) => `rediss://default:p-${id}-1@${id}.example.com:6379`;
    assert.deepEqual(outputs, {
      fleet: "fleet",
      states: { sessions: { databaseId: "a", ...state }, carts: { databaseId: "b", ...state } },
      credentials: { sessions: { password: "p-a-1" }, carts: { password: "p-b-1" } },
      connectionUrls: { sessions: urlOf("a"), carts: urlOf("b") },
      ...{ encryptedCredentials: {}, failed: [], lastRotated: rotatedAt, nextRotationAt: "2026-12-21T12:00:00.000Z" },
    });
    assert.deepEqual(Object.keys(memoriesIn(fleet.known)).sort(), ["a", "b"]);
    const { sessions } = JSON.parse(access) as Record<string, Access>;
    assertFields(sessions, { id: "a", of: "PasswordRotation", count: 1 });
    assertFields(sessions?.current, { name: "password", value: "p-a-1" });
    assert.equal(memory.includes("p-a-1"), false);
    // The engine sorts names; the texts stay the same.
    const refreshed = (await fleet.refresh()).outputs;
    assert.deepEqual([refreshed.access, refreshed.memory], [access, memory]);
  });

  it("is at most 680 bytes for each database, without where it is", async () => {
    const fleet = new Fleet();
    fleet.fake.answer = (id) => {
      const nth = fleet.fake.resets.length;
      return { record: { databaseId: id, port: nth }, credentials: { password: `password-${nth}` } };
    };
    await fleet.up({ databases: many(1_000), version: 1, rotateEvery: "30d" });
    const bytes = Buffer.byteLength(JSON.stringify(fleet.saved)) / 1_000;
    assert.ok(bytes <= 680, `${bytes}`);
  });

  it("is refused if it is damaged, or does not name each database that it remembers, and a refresh keeps it", async () => {
    const fleet = new Fleet();
    const inputs = { databases: of("a", "b"), version: 1 };
    await fleet.up(inputs);
    const whole = fleet.known;
    const { a, b } = whole.states;
    const others = "memory does not have the same databases as states";
    const damages: readonly (readonly [damaged: object, output: string])[] = [
      [{ memory: whole.memory.slice(1) }, "memory"],
      [{ memory: whole.memory.replace("{}", '{"c":{}}') }, "memory"],
      [{ memory: JSON.stringify(sealed({ databases: { ...memoriesIn(whole), c: {} } })) }, others],
      [{ access: "null" }, "access"],
      [{ credentials: undefined }, "credentials"],
      [{ encryptedCredentials: [] }, "encryptedCredentials"],
      [{ states: { a: null, b } }, "states"],
      [{ states: {} }, others],
      [{ states: { a, b: { ...b, databaseId: "c" } } }, others],
      [{ states: { a, b: { ...b, outcome: "none" } } }, others],
      [{ states: { a, b: a } }, others],
    ];
    for (const [damaged, output] of damages) {
      fleet.saved = { ...whole, ...damaged };
      assert.throws(() => fleet.plan(inputs), /REKEY_STATE_UNREADABLE/);
      await assert.rejects(fleet.up(inputs), /REKEY_STATE_UNREADABLE/);
      const { outputs, warning = "" } = await refresh(fleet.saved, fleet.fake.start());
      assert.equal(outputs, fleet.saved);
      assert.match(warning, new RegExp(`The saved output ${output}\\b.*the state is damaged`));
    }
    assert.equal(fleet.fake.resets.length, 2);
  });
});

describe("fleetOutputs: a fleet of one", () => {
  const record = { databaseId: "a", endpoint: "a.example.com", port: 1, tls: true };
  const shows = (password: string) => () => ({
    ...{ record, credentials: { password, restToken: `token-${password}` }, exactIntegers: { port: "1" } },
    ...{ otherFields: `{"of":"${password}"}`, problems: [`${password} is odd`] },
  });
  /** What the platform responds. */
  const responds = (cell: string) =>
    ({ lost: () => unconfirmed(), rejected: () => rejected(), hides: () => ({ record, credentials: {} }) })[cell] ??
    shows(cell);
  /** What a program says in each run, and the responses to a reset and to a read. */
  const steps = tableOf(
    ["does", "inputs", "reset", "read", "days"],
    `
    up      | initialRotation: false                                 | lost     | p0
    up      | version: 1                                             | p1       | hides
    refresh |                                                        | lost     | p1
    up      | version: 2                                             | lost     | p1
    refresh |                                                        | lost     | p2
    up      | version: 2, encryptFor: [team]                         | lost     | lost
    up      | version: 2, encryptFor: [team], saveCredentials: false | lost     | lost
    refresh |                                                        | lost     | p3
    up      | version: 2, saveCredentials: false                     | lost     | hides
    up      | version: 2                                             | lost     | p3
    up      | version: 2, rotateEvery: 1d                            | lost     | lost
    up      | version: 2, rotateEvery: 1d                            | p4       | p3 | 3
    up      | version: 2, rotateEvery: 1d, connection: { host: b }   | lost     | lost
    up      | version: 3, rotateEvery: 1d                            | rejected | p5
    up      |                                                        | lost     | p4
    `,
  );

  it("saves and says in each run what a single rotation does", async () => {
    const { recipient } = await Team.create();
    const single = asShown(passwordRotation);
    const [fake, fleet] = [new FakeRun(), new Fleet()];
    let saved: SavedRotation | undefined;
    for (const [index, { does, inputs, reset, read, days }] of steps.entries()) {
      const time = new Date(Date.UTC(2026, 10, 21 + Number(days)));
      const meets = { answer: responds(reset), readDatabase: responds(read), canRead: true, time };
      for (const each of [fake, fleet.fake]) Object.assign(each, meets);
      const desired = fieldsIn(inputs.replace("team", recipient)) as RotationInputs;
      const ofOne = { databaseId: "a", ...desired };
      const ofFleet = { databases: of("a"), ...desired };
      const isUp = does === "up";
      if (isUp && !fleet.saved?.failed.length) {
        const { changes, notice, warning } = single.plan(saved, ofOne, fake.start());
        const planned = fleet.plan(ofFleet);
        assert.deepEqual([planned.changes, planned.notice, planned.warning], [changes, notice, warning], `${index}`);
      }
      const change =
        does === "up" ? single.apply(saved, ofOne, fake.start()) : single.refresh(saved ?? assert.fail(), fake.start());
      const one = await change.catch(({ message }: Error) => ({ outputs: saved, message }));
      saved = one.outputs;
      const { notice, warning } = await (isUp ? fleet.up(ofFleet) : fleet.refresh());
      const { notice: said, warning: warned } = one as { notice?: string; warning?: string };
      assert.deepEqual([notice, warning], [said, warned], `${index}`);
      assert.deepEqual(viewOf(inFleet(fleet.known)), viewOf({ ...saved }), `${index}`);
      if (isUp) assert.equal(fleet.known.states["a"]?.error, one.message, `${index}`);
    }
    assert.deepEqual(fleet.fake.resets, fake.resets);
  });

  /** The outputs of the database, as a single rotation has them. */
  function inFleet(all: FleetOutputs) {
    const { states, credentials, connectionUrls, encryptedCredentials, ...fleet } = all;
    const access = JSON.parse(fleet.access) as Record<string, Properties>;
    return {
      ...{ ...states["a"], ...credentials["a"], error: undefined, rotationCount: access["a"]?.["count"] },
      ...{ connectionUrl: connectionUrls["a"], encryptedCredentials: encryptedCredentials["a"] },
      ...{ nextRotationAt: fleet.nextRotationAt, access: JSON.stringify(access["a"]) },
      memory: JSON.stringify(sealed({ ...memoriesIn(all)["a"], kindFacts: {} })),
    };
  }

  /** What is compared of outputs: without random values, and what a fleet does not have. */
  function viewOf(all: Properties): unknown {
    const { restUrl, rotationReason, record, exactIntegers, encryptedCredentials, problems = [], ...outputs } = all;
    const memory = JSON.stringify(sorted(JSON.parse(String(outputs["memory"]))));
    const known = { ...outputs, memory, problems, isEncrypted: encryptedCredentials !== undefined };
    return JSON.parse(JSON.stringify(known).replace(/\\"[\w-]{16}\\"/g, "random"));
  }
});
