import assert from "node:assert/strict";
import { type ListedSecret, type Unlisted } from "../../../provider/doctor/account";
import { coverageOf } from "../../../provider/doctor/coverage";
import { coverageText } from "../../../provider/doctor/coverageText";
import { rotatedIn } from "../../../provider/doctor/stackState";
import { databasePassword, vectorToken, signingKeys } from "../../../provider/platform/secretKind";
import { Settings } from "../../../provider/settings/settings";
import { type SettingName } from "../../../provider/settings/table";

const stack = "urn:pulumi:dev::app";
const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const account: Partial<Record<SettingName, string>> = {
  baseUrl: "https://a.test",
  username: "ops",
  queueUrl: "https://q.test",
};

/** A resource of a state as an engine exports it. */
const rotation = (name: string, id: string, outputs: object, type = "PasswordRotation", more: object = {}) => {
  const token = `pulumi-nodejs:dynamic/rekey:${type}`;
  return { urn: `${stack}::${token}::${name}`, type: token, id, outputs: { ...outputs, memory: encrypted }, ...more };
};
const fleet = (states: object) => {
  const more = { type: "rekey:index:PasswordRotationFleet" };
  return rotation("all", "fleet", { states, credentials: encrypted }, "PasswordRotationFleet", more);
};
const exported = (...resources: object[]) => ({ version: 3, deployment: { resources } });
const database = (id: string, createdAt?: string): ListedSecret => {
  return { kind: databasePassword, id, ...(createdAt !== undefined && { createdAt: new Date(createdAt) }) };
};
const keys: ListedSecret = { kind: signingKeys, id: "signing-keys" };

const now = new Date("2026-05-01T12:00:00Z");
const since = new Date("2026-04-19");
const before = "2026-04-18T23:59:59.000Z";
const after = "2026-04-19T00:00:00.000Z";

function cover(
  listed: readonly (ListedSecret | Unlisted)[],
  resources: readonly object[] = [],
  date: Date | undefined = since,
) {
  const settings = new Settings((name) => account[name]);
  return coverageOf(listed, rotatedIn(exported(...resources)), settings, { since: date, now });
}

/** The age of one database by what the account and the state show. */
function ageOf(createdAt: string | undefined, outputs?: object) {
  return cover([database("db", createdAt)], outputs ? [rotation("one", "db", outputs)] : []).secrets[0]?.age;
}

describe("pulumi-rekey doctor --coverage: the age of a secret", () => {
  it("is that of its last confirmed reset or of its creation, whichever is younger", () => {
    assert.equal(ageOf("2020-01-01", { rotatedAt: after }), "newer");
    assert.equal(ageOf("2020-01-01", { rotatedAt: before }), "older");
    assert.equal(ageOf("2020-01-01", { outcome: "adopted" }), "older");
    assert.equal(ageOf(after), "newer", "one that no resource rotates");
    assert.equal(ageOf(after, { rotatedAt: before }), "newer", "a secret is not older than its database");
    const both = [rotation("one", "db", { rotatedAt: before }), fleet({ a: { databaseId: "db", rotatedAt: after } })];
    assert.equal(cover([database("db")], both).secrets[0]?.age, "newer", "the newest of several resources");
  });

  it("is unknown without a time that can be used: none, one in the future, in milliseconds, encrypted or damaged", () => {
    assert.equal(ageOf(undefined), "unknown");
    assert.equal(ageOf("2026-05-01T12:05:01Z"), "unknown");
    assert.equal(ageOf("2026-05-01T12:04:59Z"), "newer", "clocks differ");
    assert.equal(ageOf("+058265-01-01T00:00:00Z"), "unknown");
    assert.equal(ageOf("1970-01-01"), "unknown");
    for (const rotatedAt of [encrypted, "soon", "2026-04-20", "2027-01-01T00:00:00.000Z", null, 5]) {
      assert.equal(ageOf(undefined, { rotatedAt }), "unknown", JSON.stringify(rotatedAt));
    }
  });

  it("of signing keys is that of the current key: the next one is younger", () => {
    const ageOfKeys = (currentKeySince?: string) => {
      const outputs = { rotatedAt: after, ...(currentKeySince !== undefined && { currentKeySince }) };
      return cover([keys], [rotation("keys", "signing-keys", outputs, "SigningKeyRotation")]).secrets[0]?.age;
    };
    assert.deepEqual([ageOfKeys(), ageOfKeys(before), ageOfKeys(after)], ["unknown", "older", "newer"]);
  });
});

describe("pulumi-rekey doctor --coverage: the state", () => {
  it("has the resources of each secret, of fleets too, but for those that are only to be deleted", () => {
    const { secrets } = cover(
      ["a", "b", "c"].map((id) => database(id)),
      [
        rotation("one", "a", {}),
        rotation("replaced", "b", {}, "PasswordRotation", { delete: true }),
        rotation("counters", "b", {}, "FlowControlReset"),
        fleet({ first: { databaseId: "a" }, second: { databaseId: "c" } }),
      ],
    );
    assert.deepEqual(
      secrets.map(({ id, resources }) => [id, resources.join()]),
      [
        ["a", 'PasswordRotation "one",PasswordRotationFleet "all"'],
        ["b", ""],
        ["c", 'PasswordRotationFleet "all"'],
      ],
    );
  });

  it("has resources whose subject the account does not have, unless their kind could not be listed", () => {
    const resources = [
      rotation("gone", "old", {}),
      rotation("index", "idx", { rotatedAt: after }, "VectorTokenRotation"),
    ];
    const { notes, secrets } = cover([{ kind: vectorToken, why: "it broke", fix: "Fix it." }], resources);
    assert.deepEqual(notes, [
      'Not in the account: PasswordRotation "gone" (database old).',
      "Not listed: vector indexes, because it broke. Fix it.",
    ]);
    assert.deepEqual(
      secrets.map(({ id, age }) => ({ id, age })),
      [{ id: "idx", age: "newer" }],
    );
  });

  it("of another account is not compared, by the address and the user of the resource's provider", () => {
    const of = (name: string, inputs: object, type = "PasswordRotation", id = "db") => {
      const explicit = { urn: `${stack}::pulumi:providers:rekey::${name}`, id: name, inputs };
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
      secrets.map(({ resources }) => resources),
      [['PasswordRotation "same"', 'PasswordRotation "saved"'], []],
    );
    assert.deepEqual(
      notes.map((note) => note.replace("In another account, and not compared: ", "")),
      [
        'PasswordRotation "other" (database db).',
        'PasswordRotation "colleague" (database db).',
        'SigningKeyRotation "region" (signing keys signing-keys).',
      ],
    );
  });

  it("may be empty or odd; anything else is not a state", () => {
    assert.deepEqual(rotatedIn({ deployment: {} }), []);
    for (const other of [null, [], "text", { version: 3 }, { deployment: [] }]) assert.throws(() => rotatedIn(other));
    rotatedIn(exported({}, rotation("odd", "x", null as never), fleet(encrypted), fleet({ a: null, b: 1 })));
  });
});

describe("pulumi-rekey doctor --coverage: the report", () => {
  const [young, old] = [{ ...database("db", after), name: "sessions" }, database("db-2", before)];
  const failed = { kind: vectorToken, why: "it broke", fix: "Fix it." };

  it("is covered if everything is listed and, with a date, younger", () => {
    const covered = (listed: readonly (ListedSecret | Unlisted)[], date?: Date) => {
      return coverageOf(listed, [], new Settings(() => undefined), { since: date, now }).covered;
    };
    assert.equal(covered([young], since), true);
    assert.equal(covered([young, old], since), false);
    assert.equal(covered([database("db")], since), false, "of unknown age");
    assert.equal(covered([young, failed], since), false, "another secret may exist");
    assert.equal(covered([old]), true);
    assert.equal(covered([old, failed]), false);
  });

  it("prints a table, and below it what is not compared, not listed and not seen", () => {
    const resources = [rotation("one", "db", { rotatedAt: after, outcome: "unknown" }), rotation("gone", "old", {})];
    const coverage = cover([young, old, failed], resources);
    assert.equal(
      coverageText({ since: "2026-04-19", stack: "dev", ...coverage }),
      [
        "SECRET    ID    NAME      LAST ROTATED                                        SINCE 2026-04-19  ROTATED BY",
        'database  db    sessions  2026-04-19T00:00:00Z, a later reset is unconfirmed  yes               PasswordRotation "one"',
        "database  db-2  -         created 2026-04-18T23:59:59Z                        OLDER             -",
        "",
        "Compared with the state of the stack dev.",
        'Not in the account: PasswordRotation "gone" (database old).',
        "Not listed: vector indexes, because it broke. Fix it.",
        "Not seen: other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration.",
        "",
        "2 secrets: 1 older than 2026-04-19, 0 of unknown age. There may be others, because not everything could be listed.",
        "",
      ].join("\n"),
    );
  });
});
