import assert from "node:assert/strict";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { asShown, FakeRun, notSent, unconfirmed } from "../../support/fakeRun";

const { apply, refresh } = asShown(passwordRotationShard);

type Response = ReturnType<FakeRun["answer"]>;

const fleetOf = (name: string) => `urn:pulumi:dev::program::rekey:index:PasswordRotationFleet::${name}`;
const inputs = { shard: "07", fleet: fleetOf("caches"), databases: ["a", "b"] };
const noCredentials: Response = { record: {} };
const showing = (password: string): Response => ({ ...noCredentials, credentials: { password } });

describe("rotation: the diagnostics of a fleet whose databases can be read", () => {
  let fake: FakeRun;
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
  });

  const of = 'PasswordRotationFleet "caches"';
  const resets: readonly {
    readonly what: string;
    readonly response: Response;
    readonly before: Response;
    readonly after: Response;
    readonly expected: object;
  }[] = [
    {
      what: "that were not confirmed, but applied",
      response: unconfirmed(),
      before: showing("former"),
      after: showing("new"),
      expected: {
        notice: `${of}: 2 not confirmed by the platform, but applied: a read shows other credentials than before: "a", "b". The credentials that were read are saved.`,
      },
    },
    {
      what: "whose new password is not shown yet",
      response: noCredentials,
      before: showing("former"),
      after: showing("former"),
      expected: {
        warning: `${of}: 2 reset, but the new password is not known yet, because the database still shows the former one or could not be read: "a", "b". The next \`up\` or refresh reads it again, and resets nothing. If it lasts, set a new version, which resets the password once more.`,
      },
    },
    {
      what: "whose credentials are hidden",
      response: noCredentials,
      before: noCredentials,
      after: noCredentials,
      expected: {
        warning: `${of}: 2 reset, but without credentials that are known: the platform does not show them: "a", "b". Look for them in the platform's console.`,
      },
    },
    {
      what: "with fields that could not be read: one line for each database",
      response: { ...showing("new"), problems: ["tls: expected true or false"] },
      before: showing("former"),
      after: showing("new"),
      expected: {
        notice: ["a", "b"]
          .map(
            (id) =>
              `The password of database "${id}" was reset, but parts of the platform's response could not be read (see its output problems): tls: expected true or false.`,
          )
          .join("\n"),
      },
    },
  ];
  for (const { what, response, before, after, expected } of resets) {
    it(`name the databases with resets ${what}`, async () => {
      fake.answer = () => response;
      fake.readDatabase = (id) => (fake.resets.includes(id) ? after : before);
      const { outputs, ...diagnostics } = await apply(undefined, inputs, fake.start());
      assert.equal(outputs.rotations.length, 2);
      assert.deepEqual(diagnostics, expected);
    });
  }

  const drift = `${of}: 2 changed outside of Rekey: "a", "b". What was read is saved; nothing was reset.`;
  const read = `${of}: 2 read for the first time: "a", "b". Their credentials are saved; nothing was reset.`;
  const refreshes: readonly {
    readonly what: string;
    readonly saved: Response;
    readonly shown: Response;
    readonly expected: object;
  }[] = [
    { what: "changed", saved: showing("saved"), shown: showing("other"), expected: { notice: drift } },
    { what: "first shown", saved: noCredentials, shown: showing("new"), expected: { notice: read } },
    {
      what: "hidden",
      saved: showing("saved"),
      shown: noCredentials,
      expected: {
        warning: `${of}: 2 read, but the platform does not show all of their credentials: "a", "b". The saved ones stay, and a change outside of Rekey cannot be seen.`,
      },
    },
    {
      what: "not read",
      saved: showing("saved"),
      shown: notSent(),
      expected: {
        warning: `${of}: 2 not read: "a", "b". Their saved state stays. The first of them: ${notSent().text} The saved state stays.`,
      },
    },
  ];
  for (const { what, saved, shown, expected } of refreshes) {
    it(`name the databases whose credentials were ${what} in a refresh`, async () => {
      fake.canRead = false;
      fake.answer = () => saved;
      const { outputs } = await apply(undefined, inputs, fake.start());
      fake.canRead = true;
      fake.readDatabase = () => shown;
      const { outputs: read, ...diagnostics } = await refresh(outputs, fake.start());
      if (shown instanceof Error) assert.equal(read, outputs);
      assert.deepEqual(diagnostics, expected);
    });
  }

  it("name the shard if an earlier version, which saved no fleet, saved it", async () => {
    const { outputs } = await apply(undefined, inputs, fake.start());
    fake.readDatabase = () => showing("other");
    const { fleet: _fleet, ...earlier } = outputs;
    const { outputs: read, notice } = await refresh(earlier, fake.start());
    assert.equal(notice, drift.replace(of, 'Shard "07" of a fleet'));
    assert.ok(!Object.hasOwn(read, "fleet"));
  });

  it("are one line for all shards that are processed at the same time", async () => {
    fake.answer = fake.readDatabase = () => noCredentials;
    const session = fake.start();
    const shards = Array.from({ length: 12 }, (_, index) => ({ shard: String(index), databases: [`db-${index}`] }));
    const applied = await Promise.all(shards.map((shard) => apply(undefined, { ...inputs, ...shard }, session)));
    const lines = applied.flatMap(({ warning }) => warning ?? []);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /"caches": 12 reset, but without credentials .*: "db-0", .*"db-4" and 7 more\. Look/);
  });
});
