import assert from "node:assert/strict";
import { type ListedSecret, type Unlisted } from "../../../provider/doctor/account";
import { coverageOf, coverageText } from "../../../provider/doctor/coverage";
import { type Values } from "../../../provider/doctor/overlaps";
import { exportedIn, stackStateOf, type StackState } from "../../../provider/doctor/stackState";
import { databasePassword, queueToken, signingKeys, vectorToken } from "../../../provider/domain/secretKind";
import { Settings } from "../../../provider/settings/settings";

const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const settings: Record<string, string> = {
  baseUrl: "https://a.test",
  username: "ops",
  queueUrl: "https://q.test",
  queueToken: "canary-token",
};
const stored = new Map(Object.entries(settings).map(([name, value]) => [`rekey:${name}`, { value, secret: false }]));
const stack = { name: "dev", stored, settings: new Settings((name) => settings[name]) };

/** A resource of a state as an engine exports it. */
const rotation = (name: string, id: string, outputs: object, type = "PasswordRotation", more: object = {}) => {
  const token = `pulumi-nodejs:dynamic/rekey:${type}`;
  const urn = `urn:pulumi:dev::app::${token}::${name}`;
  return { urn, type: token, id, outputs: { ...outputs, memory: encrypted }, ...more };
};
const fleet = (states: object) => {
  const more = { type: "rekey:index:PasswordRotationFleet" };
  return rotation("all", "fleet", { states, credentials: encrypted }, "PasswordRotationFleet", more);
};
const database = (id: string, createdAt?: string): ListedSecret => {
  return { kind: databasePassword, id, ...(createdAt !== undefined && { createdAt: Date.parse(createdAt) }) };
};
const keys: ListedSecret = { kind: signingKeys, id: "signing-keys" };
const failed: Unlisted = { kind: vectorToken, why: "it broke. Fix it." };

const since = "2024-04-19";
const before = "2024-04-18T23:59:59.000Z";
const after = "2024-04-19T00:00:00.000Z";
/** A time some minutes from now. */
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

/** The state of the stack whose settings are used. */
const own = (resources: readonly object[]): StackState => {
  return stackStateOf({ name: "dev", resources: resources as Values[] }, stack);
};
/** Another state, of which only that is known. */
const other = (resources: readonly object[], name = "shared.json"): StackState => {
  return stackStateOf({ name, resources: resources as Values[] });
};

function cover(account: readonly (ListedSecret | Unlisted)[], resources: readonly object[] = [], date?: string) {
  return coverageOf(account, stack.settings, [own(resources)], date);
}

/** A resource of a provider with these arguments, and the provider. */
const withProvider = (
  name: string,
  inputs: object,
  { type = "PasswordRotation", id = "db", provider = `rekey::${name}`, outputs = {} } = {},
) => {
  const [providerType] = provider.split("::");
  const saved = { urn: `urn:pulumi:dev::app::pulumi:providers:${provider}`, id: name, inputs };
  const found = { ...saved, type: `pulumi:providers:${providerType}` };
  const rotated = { rotatedAt: after, generatedAt: after, ...outputs };
  return [found, rotation(name, id, rotated, type, { provider: `${saved.urn}::${name}` })];
};
const keysOf = { type: "SigningKeyRotation", id: "signing-keys" };
const ofStack = { ...keysOf, provider: "pulumi-nodejs::default" };

describe("pulumi-rekey doctor --coverage: the age of a secret", () => {
  // By what the account and the state show of it.
  const rows: readonly (readonly [why: string, age: string, createdAt: string | undefined, rotatedAt?: unknown])[] = [
    ["reset later", "newer", "2020-01-01", after],
    ["reset before", "older", "2020-01-01", before],
    ["created before, never reset", "older", before],
    ["created later, which no resource rotates", "newer", after],
    ["not older than its database", "newer", after, before],
    ["of unknown times", "unknown", undefined],
    ["created in the future", "unknown", inMinutes(60)],
    ["created in the future of another clock", "newer", inMinutes(4)],
    ["created in milliseconds", "unknown", "+058265-01-01T00:00:00Z"],
    ["created at zero", "unknown", "1970-01-01"],
    ["reset in the future", "unknown", undefined, inMinutes(60)],
    ...[encrypted, "soon", "2024-04-20", null, 5].map(
      (time) => ["of a damaged time", "unknown", undefined, time] as const,
    ),
  ];
  for (const [why, age, createdAt, rotatedAt] of rows) {
    it(`${why}: ${age}`, () => {
      const resources = rotatedAt === undefined ? [] : [rotation("one", "db", { rotatedAt })];
      assert.equal(cover([database("db", createdAt)], resources, since).secrets[0]?.age, age);
    });
  }

  it("of signing keys is that of the current key: the next one is younger", () => {
    const ages = [undefined, before, after].map((generatedAt) => {
      const resources = withProvider("keys", {}, { ...ofStack, outputs: { generatedAt } });
      return cover([keys], resources, since).secrets[0]?.age;
    });
    assert.deepEqual(ages, ["unknown", "older", "newer"]);
  });
});

describe("pulumi-rekey doctor --coverage", () => {
  it("compares no resource of another account, by the address and the user of the resource's provider", () => {
    const { secrets, notes } = cover(
      [database("db"), keys],
      [
        ...withProvider("same", { baseUrl: "https://a.test/", username: "ops" }),
        ...withProvider(
          "saved",
          { "rekey:baseUrl": "https://a.test", "rekey:username": encrypted },
          { provider: "pulumi-nodejs::default" },
        ),
        ...withProvider("other", { baseUrl: "https://b.test" }),
        ...withProvider("colleague", { baseUrl: "https://a.test", username: "dev" }),
        ...withProvider("region", { queueUrl: "https://q2.test" }, keysOf),
      ].flat(),
    );
    assert.deepEqual(
      secrets.map(({ rotatedBy }) => rotatedBy.map(({ resource }) => resource).join()),
      ['PasswordRotation "same",PasswordRotation "saved"', ""],
    );
    assert.deepEqual(notes.slice(1, -1), [
      'In another account, and not compared: PasswordRotation "other" (database "db").',
      'In another account, and not compared: PasswordRotation "colleague" (database "db").',
      'In another account, and not compared: SigningKeyRotation "region" (the pair of signing keys).',
    ]);
  });

  it("lists each Redis user separately: a state does not show its server", () => {
    const user = (name: string, rotatedAt: string) =>
      rotation(name, "app", { rotatedAt, generatedAt: rotatedAt }, "AclUserRotation");
    const { secrets, covered } = cover([], [user("one", after), user("two", before)], since);
    assert.deepEqual(
      secrets.map(({ kind, id, age }) => [kind, id, age]),
      [
        ["user", "app", "newer"],
        ["user", "app", "older"],
      ],
    );
    assert.equal(covered, false);
  });

  describe("compares signing keys, which each account has under the same id, only if they are known to be its own:", () => {
    const users = { queueUserId: "96AD0856-03B1-4EE7-9666-E81ABD0349E1" };
    const rows: readonly (readonly [title: string, age: string, state: StackState, user?: string])[] = [
      ["those of the stack's own settings", "newer", own(withProvider("keys", {}, ofStack))],
      [
        "those of the plugin's default provider",
        "newer",
        own(withProvider("keys", {}, { ...keysOf, provider: "rekey::default" })),
      ],
      [
        "not those that another queue had before",
        "unknown",
        own(withProvider("keys", { "rekey:queueUrl": "https://q2.test" }, ofStack)),
      ],
      [
        "not those of an explicit provider with another token",
        "unknown",
        own(withProvider("keys", { queueUrl: "https://q.test", queueToken: encrypted }, keysOf)),
      ],
      [
        "not those of a resource without a provider",
        "unknown",
        own([rotation("keys", "signing-keys", { generatedAt: after }, "SigningKeyRotation")]),
      ],
      [
        "not those of another stack with the same address",
        "unknown",
        other(withProvider("keys", { "rekey:queueUrl": "https://q.test", "rekey:queueToken": encrypted }, ofStack)),
      ],
      [
        "those of the same queue user, whatever has them",
        "newer",
        other(withProvider("keys", users, keysOf)),
        users.queueUserId.toLowerCase(),
      ],
      ["not those of another queue user", "unknown", own(withProvider("keys", users, keysOf)), "another"],
    ];
    for (const [title, age, state, queueUserId] of rows) {
      it(title, () => {
        const values = { ...settings, queueUserId };
        const listed = new Settings((name) => values[name as keyof typeof values]);
        const { secrets, notes } = coverageOf([keys], listed, [state], since);
        assert.equal(secrets[0]?.age, age);
        assert.equal(
          notes.some((note) => /not compared: SigningKeyRotation "keys"/i.test(note)),
          age === "unknown",
        );
      });
    }
  });

  it("takes the variables for the settings of an explicit provider only if it has none of its own", () => {
    const variables = { REKEY_QUEUE_URL: "https://q.test", REKEY_QUEUE_TOKEN: "canary-token" };
    Object.assign(process.env, variables);
    const ageOf = (inputs: object) => cover([keys], withProvider("keys", inputs, keysOf), since).secrets[0]?.age;
    const ages = [ageOf({ maxConcurrency: "2" }), ageOf({ queueUrl: "https://q.test", queueToken: encrypted })];
    for (const name of Object.keys(variables)) delete process.env[name];
    assert.deepEqual(ages, ["newer", "unknown"]);
  });

  it("compares UUIDs without regard to case, and other ids exactly", () => {
    const id = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
    const resources = [
      rotation("one", id.toUpperCase(), { rotatedAt: after }),
      fleet({ second: { databaseId: "DB-2", rotatedAt: after } }),
    ];
    const { secrets, notes } = cover([database(id), database("db-2")], resources);
    assert.deepEqual(
      secrets.map(({ id: shown, rotatedBy }) => [shown, rotatedBy.length]),
      [
        [id, 1],
        ["db-2", 0],
      ],
    );
    assert.ok(notes.includes('Not in the account: PasswordRotationFleet "all" (database "DB-2").'), notes.join("\n"));
  });

  describe("says where a value is:", () => {
    const encryptedCredentials = "-----BEGIN AGE ENCRYPTED FILE-----";
    const single = (outputs: object) => rotation("one", "db", outputs);
    const fleetThat = (inputs: object, more = {}) => {
      const all = fleet({ db: { databaseId: "db", rotatedAt: after } });
      return { ...all, inputs, outputs: { ...all.outputs, ...more } };
    };
    const encrypts = { saveCredentials: false, encryptFor: ["age1"] };
    const rows: readonly (readonly [value: string, resource: object])[] = [
      ["in the state", single({ password: encrypted, encryptedCredentials })],
      // One of several credentials, which nothing else has.
      ["in the state", single({ readOnlyRestToken: encrypted, encryptedCredentials })],
      ["age file only", single({ encryptedCredentials, password: null })],
      ["mark only", single({ rotatedAt: after })],
      ["in the state (declared)", fleetThat({})],
      ["age file only (declared)", fleetThat(encrypts, { encryptedCredentials: { db: encryptedCredentials } })],
      ["mark only (declared)", fleetThat({ saveCredentials: false })],
    ];
    for (const [value, resource] of rows) {
      it(value, () => assert.equal(cover([database("db")], [resource]).secrets[0]?.rotatedBy[0]?.value, value));
    }
  });

  it("reads a state that is empty or odd, and refuses a text that is none", () => {
    for (const odd of [{ deployment: {} }, { version: 3, deployment: null }]) {
      assert.deepEqual(exportedIn("dev", JSON.stringify(odd))?.resources, []);
    }
    const resources = [{}, rotation("odd", "x", null as never), fleet(encrypted), fleet({ a: null, b: 1 })];
    assert.equal(cover([], resources).secrets.length, 0);
    const list = { deployment: { resources: {} } };
    for (const none of [{}, [], null, "text", { version: 3, checkpoint: {} }, { deployment: [] }, list]) {
      assert.equal(exportedIn("dev", JSON.stringify(none)), undefined, JSON.stringify(none));
    }
    assert.equal(exportedIn("dev", "{"), undefined);
  });

  const [young, old] = [{ ...database("db", after), name: "sessions" }, database("db-2", before)];

  it("covers all if everything is listed and, with a date, younger", () => {
    const isCovered = (date: string | undefined, ...account: (ListedSecret | Unlisted)[]) =>
      cover(account, [], date).covered;
    assert.deepEqual([isCovered(since, young), isCovered(undefined, old)], [true, true]);
    for (const also of [old, database("of unknown age"), failed]) assert.equal(isCovered(since, young, also), false);
    assert.equal(isCovered(undefined, old, failed), false);
  });

  it("prints a table, and below it what is not compared, not listed and not seen", () => {
    const resources = [
      rotation("one", "db", { rotatedAt: after }),
      rotation("replaced", "db-2", { rotatedAt: after }, "PasswordRotation", { delete: true }),
      rotation("counters", "db-2", {}, "FlowControlReset"),
      rotation("gone", "old", {}),
      fleet({ first: { databaseId: "db", rotatedAt: before }, second: { databaseId: "db-3", rotatedAt: before } }),
      // Of a kind that could not be listed.
      rotation("index", "idx", { rotatedAt: after }, "VectorTokenRotation"),
    ];
    assert.equal(
      coverageText(cover([young, old, database("db-3"), failed], resources, since)),
      [
        "SECRET        ID    NAME      LAST ROTATED                  SINCE 2024-04-19  ROTATED BY                                           VALUE",
        'database      db    sessions  2024-04-19T00:00:00Z          yes               PasswordRotation "one", PasswordRotationFleet "all"  mark only, in the state (declared)',
        "database      db-2  -         created 2024-04-18T23:59:59Z  OLDER             -                                                    -",
        'database      db-3  -         2024-04-18T23:59:59Z          OLDER             PasswordRotationFleet "all"                          in the state (declared)',
        'vector index  idx   -         2024-04-19T00:00:00Z          yes               VectorTokenRotation "index"                          mark only',
        "",
        "Compared with the state of dev.",
        'Not in the account: PasswordRotation "gone" (database "old").',
        "Not listed: vector indexes, because it broke. Fix it.",
        "Not seen: other stacks, signing keys of other regions, Redis users that no stack rotates, management keys, and databases of a hosting platform's integration.",
        "",
        "4 secrets: 2 older than 2024-04-19, 0 of unknown age. There may be others, because not everything could be listed.",
        "",
      ].join("\n"),
    );
  });
});

describe("pulumi-rekey doctor --coverage: two valid tokens", () => {
  const user: ListedSecret = { kind: queueToken, id: "u", createdAt: Date.parse("2020-01-01") };
  const hoursAgo = (hours: number) => inMinutes(-60 * hours);
  const queue = (outputs: object, inputs: object = {}) =>
    rotation("queue", "u", outputs, "QueueTokenRotation", { inputs: { queueUserId: "u", ...inputs } });
  const retired = (hours: number) =>
    rotation("end", "retirement", { retires: hoursAgo(hours) }, "Retirement", {
      propertyDependencies: { access: ["urn:pulumi:dev::app::pulumi-nodejs:dynamic/rekey:QueueTokenRotation::queue"] },
    });
  const valid = (hours: number) => ({
    rotatedAt: hoursAgo(hours),
    generatedAt: hoursAgo(hours),
    formerValidSince: hoursAgo(hours),
  });

  const rows: Readonly<Record<string, readonly [resources: readonly object[], age: string]>> = {
    "the former one is valid": [[queue(valid(1))], "older"],
    "a Retirement has retired it": [[queue(valid(25)), retired(24)], "newer"],
    "a Retirement waits for its delete": [[queue(valid(25)), retired(24), { ...retired(24), delete: true }], "older"],
    "a Retirement has retired the one before it": [[queue(valid(25)), retired(26)], "older"],
    "a Retirement of something else has retired": [
      [queue(valid(25)), { ...retired(24), propertyDependencies: { access: ["urn:other"] } }],
      "older",
    ],
    "the rotation itself has retired it": [[queue({ generatedAt: hoursAgo(25) })], "newer"],
    "the current one existed before it was handed out": [[queue({ rotatedAt: hoursAgo(1) })], "older"],
  };
  for (const [title, [resources, age]] of Object.entries(rows)) {
    it(title, () => {
      const { secrets, covered, notes } = cover([user], resources, since);
      assert.deepEqual([secrets[0]?.age, covered], [age, age === "newer"]);
      const isNoted = notes.some((note) => /^Two are valid: QueueTokenRotation "queue", since 20/.test(note));
      assert.equal(isNoted, secrets[0]?.formerValidSince !== undefined);
    });
  }

  const gaps: Readonly<Record<string, readonly [outputs: object, says: RegExp]>> = {
    "one was added and not proven": [
      { outcome: "unproven" },
      /^Also valid: .* "queue" has a secret that was added and/,
    ],
    "Rekey does not know one": [{ unknownPasswords: 1 }, /"queue" has passwords that Rekey does not know: 1 at/],
  };
  for (const [title, [outputs, says]] of Object.entries(gaps)) {
    it(`${title}: it is a gap, with a date and without one`, () => {
      const resources = [queue({ rotatedAt: hoursAgo(1), generatedAt: hoursAgo(1), ...outputs })];
      for (const date of [since, undefined]) {
        const { covered, notes } = cover([user], resources, date);
        assert.equal(covered, false);
        assert.ok(
          notes.some((note) => says.test(note)),
          notes.join("\n"),
        );
      }
    });
  }
});
