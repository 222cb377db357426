import assert from "node:assert/strict";
import { coverageOf, coverageText, type ListedSecret, type Unlisted } from "../../../provider/doctor/coverage";
import { rotatedIn } from "../../../provider/doctor/stackState";
import { databasePassword, vectorToken, signingKeys } from "../../../provider/platform/secretKind";
import { Settings } from "../../../provider/settings/settings";

const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const settings: Record<string, string> = { baseUrl: "https://a.test", username: "ops", queueUrl: "https://q.test" };
const stack = { name: "dev", stored: new Map(), settings: new Settings((name) => settings[name]) };

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

function cover(account: readonly (ListedSecret | Unlisted)[], resources: readonly object[] = [], date?: string) {
  return coverageOf(account, stack, rotatedIn({ version: 3, deployment: { resources } }), date);
}

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
    const ages = [undefined, before, after].map((currentKeySince) => {
      const resource = rotation("keys", "signing-keys", { rotatedAt: after, currentKeySince }, "SigningKeyRotation");
      return cover([keys], [resource], since).secrets[0]?.age;
    });
    assert.deepEqual(ages, ["unknown", "older", "newer"]);
  });
});

describe("pulumi-rekey doctor --coverage", () => {
  it("compares no resource of another account, by the address and the user of the resource's provider", () => {
    const of = (name: string, inputs: object, type = "PasswordRotation", id = "db") => {
      const explicit = { urn: `urn:pulumi:dev::app::pulumi:providers:rekey::${name}`, id: name, inputs };
      return [explicit, rotation(name, id, { rotatedAt: after }, type, { provider: `${explicit.urn}::${name}` })];
    };
    const { secrets, notes } = cover(
      [database("db"), keys],
      [
        ...of("same", { baseUrl: "https://a.test/", username: "ops" }),
        ...of("saved", { "rekey:baseUrl": "https://a.test", "rekey:username": encrypted }),
        ...of("other", { baseUrl: "https://b.test" }),
        ...of("colleague", { baseUrl: "https://a.test", username: "dev" }),
        ...of("region", { queueUrl: "https://q2.test" }, "SigningKeyRotation", "signing-keys"),
      ],
    );
    assert.deepEqual(
      secrets.map(({ resources }) => resources.join()),
      ['PasswordRotation "same",PasswordRotation "saved"', ""],
    );
    assert.deepEqual(notes.slice(1, -1), [
      'In another account, and not compared: PasswordRotation "other" (database "db").',
      'In another account, and not compared: PasswordRotation "colleague" (database "db").',
      'In another account, and not compared: SigningKeyRotation "region" (the pair of signing keys).',
    ]);
  });

  it("reads a state that is empty or odd", () => {
    for (const odd of [{ deployment: {} }, { version: 3, deployment: null }]) assert.deepEqual(rotatedIn(odd), []);
    const resources = [{}, rotation("odd", "x", null as never), fleet(encrypted), fleet({ a: null, b: 1 })];
    assert.equal(cover([], resources).secrets.length, 0);
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
        "SECRET        ID    NAME      LAST ROTATED                  SINCE 2024-04-19  ROTATED BY",
        'vector index  idx   -         2024-04-19T00:00:00Z          yes               VectorTokenRotation "index"',
        'database      db    sessions  2024-04-19T00:00:00Z          yes               PasswordRotation "one", PasswordRotationFleet "all"',
        "database      db-2  -         created 2024-04-18T23:59:59Z  OLDER             -",
        'database      db-3  -         2024-04-18T23:59:59Z          OLDER             PasswordRotationFleet "all"',
        "",
        "Compared with the state of the stack dev.",
        'Not in the account: PasswordRotation "gone" (database "old").',
        "Not listed: vector indexes, because it broke. Fix it.",
        "Not seen: other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration.",
        "",
        "4 secrets: 2 older than 2024-04-19, 0 of unknown age. There may be others, because not everything could be listed.",
        "",
      ].join("\n"),
    );
  });
});
