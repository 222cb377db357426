import assert from "node:assert/strict";
import { credentialsOf, nameStates, outputsOfFleet } from "../../../provider/rotation/fleetOutputs";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { type PasswordRotationShardInputs } from "../../../provider/rotation/shardPlan";
import { type PasswordRotationShardOutputs } from "../../../provider/rotation/shardState";
import { Team } from "../../support/age";
import { leaksOf } from "../../support/canaries";
import { asShown, FakeRun, rejected } from "../../support/fakeRun";

const { apply, diff } = asShown(passwordRotationShard);
const ids = ["a", "b", "c"];
const members = ids.map((databaseId) => ({ name: `cache-${databaseId}`, databaseId }));

describe("rotation: credentials of a fleet that are not saved", () => {
  let fake: FakeRun;
  let team: Team;
  let inputs: (version: number, more?: object) => PasswordRotationShardInputs;
  /** The current passwords, by the databases' ids. */
  const passwords = new Map<string, string>();

  before(async () => {
    team = await Team.create();
    const saving = { saveCredentials: false, encryptFor: [team.recipient] };
    inputs = (version, more = {}) => ({ shard: "00", fleet: "urn::all", databases: ids, version, ...saving, ...more });
  });

  beforeEach(() => {
    fake = new FakeRun();
    fake.answer = (id) => {
      passwords.set(id, `canary-password-${id}-${fake.resets.length}-`);
      return { credentials: { password: passwords.get(id) as string } };
    };
  });

  const up = async (saved: PasswordRotationShardOutputs | undefined, given: PasswordRotationShardInputs) =>
    (await apply(saved, given, fake.start())).outputs;

  const assertNoCanary = (outputs: PasswordRotationShardOutputs) => {
    const canaries = Object.fromEntries(
      ids
        .flatMap((id) => [1, 2, 3, 4, 5, 6, 7].map((nth) => `${id}-${nth}`))
        .map((one) => [one, `canary-password-${one}-`]),
    );
    assert.deepEqual(leaksOf(JSON.stringify(outputs), canaries), []);
  };

  /** The passwords in the files, by the databases' names. */
  async function decrypted({ rotations }: PasswordRotationShardOutputs): Promise<object> {
    const files = Object.entries(outputsOfFleet(nameStates(members, rotations)).encryptedCredentials);
    const entries = files.map(async ([name, file]) => [name, (await team.decrypt(file)).password] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  const current = () => Object.fromEntries(members.map(({ name, databaseId }) => [name, passwords.get(databaseId)]));

  it("are in a file for each name, and in no output", async () => {
    const outputs = await up(undefined, inputs(1));
    assertNoCanary(outputs);
    assert.deepEqual(await decrypted(outputs), current());
    const known = Object.values(credentialsOf(members, [outputs.secrets]));
    assert.deepEqual(known.flatMap(Object.keys), ["currentMarks", "currentMarks", "currentMarks"]);
    assert.equal(diff(outputs, inputs(1), fake.start()).changes, false);
  });

  it("stay in the files of those whose reset fails, and change in those of the others", async () => {
    const first = await up(undefined, inputs(1));
    const succeeded = fake.answer;
    fake.answer = (id) => (id === "b" ? rejected() : succeeded(id));
    const second = await up(first, inputs(2));
    assertNoCanary(second);
    assert.deepEqual(await decrypted(second), current());
    const [, before] = first.rotations;
    const [, failed] = second.rotations;
    assert.match(failed?.problem ?? "", /it broke/);
    assert.equal(failed?.encryptedCredentials, before?.encryptedCredentials);
    fake.answer = succeeded;
    const third = await up(second, inputs(2));
    assert.equal(fake.resets.length, 7);
    assert.deepEqual(await decrypted(third), current());
    for (const nth of [0, 2]) assert.deepEqual(third.rotations[nth], second.rotations[nth]);
  });

  it("are encrypted and removed of all databases at once, in one line for all", async () => {
    const saved = await up(undefined, inputs(1, { saveCredentials: undefined, encryptFor: undefined }));
    const { changes, notice } = diff(saved, inputs(1), fake.start());
    assert.equal(changes, true);
    assert.equal(
      notice,
      'PasswordRotationFleet "all" removes the credentials of 3 from the state, unless they are the only copy: "a", "b", "c".',
    );
    const { outputs, warning } = await apply(saved, inputs(1), fake.start());
    assert.match(
      warning ?? "",
      /^PasswordRotationFleet "all": 3 no longer have credentials in the state: "a", "b", "c"\./,
    );
    assertNoCanary(outputs);
    assert.deepEqual(await decrypted(outputs), current());
    assert.equal(fake.resets.length, 3);
  });

  it("are encrypted for a database that is added, and removed with one that leaves", async () => {
    const first = await up(undefined, inputs(1, { databases: ["a", "b"] }));
    const second = await up(first, inputs(1, { databases: ["b", "c"] }));
    assertNoCanary(second);
    const { ["cache-a"]: _left, ...others } = current();
    assert.deepEqual(await decrypted(second), others);
    assert.deepEqual(second.rotations[0], first.rotations[1]);
    assert.deepEqual(fake.resets, ["a", "b", "c"]);
  });
});
