import assert from "node:assert/strict";
import { type Account } from "../../../provider/doctor/account";
import { coverageOf } from "../../../provider/doctor/coverage";
import { reportOf, reportText } from "../../../provider/doctor/coverageReport";
import { rotatedIn } from "../../../provider/doctor/stackState";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { Settings } from "../../../provider/settings/settings";
import { readPage } from "../../docs/page";
import { normalized, shows } from "../../docs/session";
import { type SettingName } from "../../../provider/settings/table";

const stack = "urn:pulumi:dev::app";
const provider = { urn: `${stack}::pulumi:providers:pulumi-nodejs::default`, id: "p", inputs: {} };
const reference = `${provider.urn}::p`;
const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const account: Partial<Record<SettingName, string>> = {
  baseUrl: "https://a.test",
  username: "ops",
  queueUrl: "https://q.test",
};

/** A resource of a state as an engine exports it. */
const rotation = (name: string, id: string, outputs: object, type = "PasswordRotation", more: object = {}) => {
  const token = `pulumi-nodejs:dynamic/rekey:${type}`;
  return { urn: `${stack}::${token}::${name}`, type: token, id, outputs, provider: reference, ...more };
};
const shard = (fleet: string, rotations: unknown, inputs: object = {}) => {
  const parent = `${stack}::rekey:index:PasswordRotationFleet::${fleet}`;
  const type = "rekey:index:PasswordRotationShard";
  return {
    urn: `${stack}::${type}::${fleet}-a`,
    type,
    id: "a",
    parent,
    inputs,
    outputs: { rotations, secrets: encrypted },
  };
};
const exported = (...resources: object[]) => ({ version: 3, deployment: { resources: [provider, ...resources] } });
const database = (id: string, createdAt?: string) => {
  return { kind: databasePassword, id, ...(createdAt !== undefined && { createdAt: new Date(createdAt) }) };
};

const now = new Date("2026-05-01T12:00:00Z");
const since = new Date("2026-04-19");
const before = "2026-04-18T23:59:59.000Z";
const after = "2026-04-19T00:00:00.000Z";

function cover(listed: Account["listed"], state: object = exported(), unlisted: Account["unlisted"] = [], date?: Date) {
  const settings = new Settings((name) => account[name]);
  return coverageOf({ listed, unlisted }, rotatedIn(state), settings, { since: date, now });
}

/** The age of one database by what the account and the state show. */
function ageOf(createdAt: string | undefined, outputs?: object) {
  const state = outputs ? exported(rotation("one", "db", outputs)) : exported();
  return cover([database("db", createdAt)], state, [], since).secrets[0]?.age;
}

describe("pulumi-rekey doctor --coverage: the age of a secret", () => {
  it("is that of its last confirmed reset, or else of its creation", () => {
    assert.equal(ageOf("2020-01-01", { rotatedAt: after }), "newer");
    assert.equal(ageOf("2020-01-01", { rotatedAt: before }), "older");
    assert.equal(ageOf("2020-01-01", { outcome: "adopted" }), "older");
    assert.equal(ageOf(after, { outcome: "adopted" }), "newer");
    assert.equal(ageOf(after), "newer", "one that no resource rotates");
    assert.equal(ageOf(before), "older");
    assert.equal(ageOf(after, { rotatedAt: before }), "newer", "a secret is not older than its database");
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
    const ageOfKeys = (outputs: object) => {
      const state = exported(rotation("keys", "signing-keys", outputs, "SigningKeyRotation"));
      return cover([{ kind: signingKeys, id: "signing-keys" }], state, [], since).secrets[0]?.age;
    };
    assert.equal(ageOfKeys({ rotatedAt: after, nextKeySince: after }), "unknown");
    assert.equal(ageOfKeys({ rotatedAt: after, nextKeySince: after, currentKeySince: before }), "older");
    assert.equal(ageOfKeys({ rotatedAt: after, nextKeySince: after, currentKeySince: after }), "newer");
  });

  it("is the newest of several resources, which are all named", () => {
    const state = exported(
      rotation("one", "db", { rotatedAt: before }),
      shard("all", [{ databaseId: "db", rotatedAt: after }]),
    );
    const [secret] = cover([database("db")], state, [], since).secrets;
    assert.deepEqual(secret?.resources, ['PasswordRotation "one"', 'PasswordRotationFleet "all"']);
    assert.equal(secret.age, "newer");
  });
});

describe("pulumi-rekey doctor --coverage: the state", () => {
  it("names the resource, and how the state has the credentials", () => {
    const state = exported(
      rotation("saved", "a", { password: encrypted }),
      rotation("unsaved", "b", { outcome: "reset" }),
      rotation("replaced", "c", { password: encrypted }, "PasswordRotation", { delete: true }),
      rotation("counters", "c", {}, "FlowControlReset"),
      {
        urn: `${stack}::rekey:index:PasswordRotation::url`,
        type: "rekey:index:PasswordRotation",
        id: "d",
        outputs: { connectionUrl: encrypted },
      },
      shard("all", [{ databaseId: "e" }]),
    );
    const { secrets } = cover(
      ["a", "b", "c", "d", "e"].map((id) => database(id)),
      state,
    );
    assert.deepEqual(
      secrets.map(({ id, resources, inState }) => [id, resources.join(), inState]),
      [
        ["a", 'PasswordRotation "saved"', "saved"],
        ["b", 'PasswordRotation "unsaved"', "none"],
        ["c", "", "none"],
        ["d", 'PasswordRotation "url"', "saved"],
        ["e", 'PasswordRotationFleet "all"', "may be saved"],
      ],
    );
  });

  it("has credentials as values, for recipients only, or as marks only; of several resources, the most readable", () => {
    const forms = (...resources: object[]) => cover([database("db")], exported(...resources)).secrets[0]?.inState;
    const file = { currentMarks: encrypted, encryptedCredentials: "-----BEGIN AGE ENCRYPTED FILE-----" };
    const hidden = rotation("hidden", "db", { currentMarks: encrypted });
    assert.equal(forms(hidden), "marks only");
    assert.equal(forms(rotation("one", "db", file)), "for recipients only");
    assert.equal(forms(hidden, rotation("one", "db", file)), "for recipients only");
    assert.equal(forms(rotation("one", "db", { ...file, restToken: encrypted })), "saved");
    assert.equal(forms(rotation("one", "db", { ...file, otherFields: encrypted })), "saved", "unknown fields");
    assert.equal(forms(hidden, shard("all", [{ databaseId: "db" }])), "may be saved");
  });

  it("shows by the inputs of a fleet that no value is in its text, except for what failed or was not encrypted", () => {
    const formOf = (inputs: object, more: object = {}) =>
      cover([database("db")], exported(shard("all", [{ databaseId: "db", ...more }], inputs))).secrets[0]?.inState;
    const encryptedCredentials = "-----BEGIN AGE ENCRYPTED FILE-----";
    const hidden = { saveCredentials: false };
    assert.equal(formOf(hidden), "marks only");
    assert.equal(formOf({ ...hidden, encryptFor: ["age1"] }, { encryptedCredentials }), "for recipients only");
    assert.equal(formOf({ ...hidden, encryptFor: ["age1"] }), "may be saved", "nothing was encrypted");
    assert.equal(formOf(hidden, { problem: "it failed" }), "may be saved");
    assert.equal(formOf({ encryptFor: ["age1"] }, { encryptedCredentials }), "may be saved");
    assert.equal(formOf({ saveCredentials: encrypted }), "may be saved");
  });

  it("has resources whose subject the account does not have, unless their kind could not be listed", () => {
    const state = exported(
      rotation("gone", "old", {}),
      rotation("index", "idx", { rotatedAt: after }, "VectorTokenRotation"),
    );
    const unlisted = [{ kind: vectorToken, why: "it broke", fix: "Fix it.", isFailure: true }];
    const { missing, secrets } = cover([], state, unlisted, since);
    assert.deepEqual(
      missing.map(({ resource }) => resource),
      ['PasswordRotation "gone"'],
    );
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
    const state = exported(
      ...of("same", { baseUrl: "https://a.test/", username: "ops" }),
      ...of("saved", { "rekey:baseUrl": "https://a.test", "rekey:username": encrypted }),
      ...of("other", { baseUrl: "https://b.test" }),
      ...of("colleague", { baseUrl: "https://a.test", username: "dev" }),
      ...of("region", { queueUrl: "https://q2.test" }, "SigningKeyRotation", "signing-keys"),
    );
    const { secrets, elsewhere } = cover([database("db"), { kind: signingKeys, id: "signing-keys" }], state);
    assert.deepEqual(
      secrets.map(({ resources }) => resources),
      [['PasswordRotation "same"', 'PasswordRotation "saved"'], []],
    );
    assert.deepEqual(
      elsewhere.map(({ resource }) => resource),
      ['PasswordRotation "other"', 'PasswordRotation "colleague"', 'SigningKeyRotation "region"'],
    );
  });

  it("may be empty, and names a fleet whose databases are encrypted; anything else is not a state", () => {
    assert.deepEqual(rotatedIn({ deployment: {} }), { rotated: [], unreadable: [] });
    assert.deepEqual(rotatedIn(exported(shard("all", encrypted))).unreadable, ['PasswordRotationFleet "all"']);
    for (const other of [null, [], "text", { version: 3 }, { deployment: [] }]) assert.throws(() => rotatedIn(other));
    rotatedIn(exported({}, rotation("odd", "x", null as never), shard("all", [null, 1, {}])));
  });
});

describe("pulumi-rekey doctor --coverage: the report", () => {
  const listed = [{ ...database("db", after), name: "sessions" }, database("db-2", before)];
  const failed = { kind: vectorToken, why: "it broke", fix: "Fix it.", isFailure: true };
  const unset = { ...failed, isFailure: false };
  const report = (coverage: ReturnType<typeof cover>, date?: string) =>
    reportOf(coverage, { since: date, stack: "dev", problems: [] }, (text) => text);

  it("is covered with a date if everything is listed and younger, and without one if no list failed", () => {
    const covered = (secrets: Account["listed"], unlisted: Account["unlisted"], date?: string) =>
      report(cover(secrets, exported(), unlisted, date === undefined ? undefined : since), date).covered;
    const [young, old] = [listed.slice(0, 1), listed];
    assert.equal(covered(young, [], "2026-04-19"), true);
    assert.equal(covered(old, [], "2026-04-19"), false);
    assert.equal(covered([database("db")], [], "2026-04-19"), false, "of unknown age");
    assert.equal(covered(young, [unset], "2026-04-19"), false, "another secret may exist");
    assert.equal(covered(old, [unset]), true);
    assert.equal(covered(old, [failed]), false);
  });

  it("prints a table, and below it what is not compared, not listed and not seen", () => {
    const state = exported(
      rotation("one", "db", { rotatedAt: after, outcome: "unknown" }),
      rotation("gone", "old", {}),
    );
    const text = reportText(report(cover(listed, state, [failed], since), "2026-04-19"));
    assert.equal(
      text,
      [
        "SECRET    ID    NAME      LAST ROTATED                                        SINCE 2026-04-19  ROTATED BY              CREDENTIALS IN THE STATE",
        'database  db    sessions  2026-04-19T00:00:00Z, a later reset is unconfirmed  yes               PasswordRotation "one"  none',
        "database  db-2  -         created 2026-04-18T23:59:59Z                        OLDER             -                       none",
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

  it("prints what its page shows", () => {
    const state = exported(
      rotation(
        "keys",
        "signing-keys",
        { currentKeySince: "2026-04-21T09:14:03.000Z", currentKey: encrypted },
        "SigningKeyRotation",
      ),
    );
    const carts = { ...database("db-carts", "2025-07-14"), name: "carts" };
    const all = cover([carts, { kind: signingKeys, id: "signing-keys" }], state, [], since);
    const shown = readPage("docs/doctor.md").blocks.findLast(({ language }) => language === "text")?.code ?? "";
    assert.match(normalized(reportText(report(all, "2026-04-19"))), shows(shown));
  });

  it("passes every text from elsewhere through the redaction", () => {
    const state = exported(rotation("canary", "canary", {}), shard("canary", encrypted), rotation("b", "db", {}));
    const all = cover([{ ...database("db"), name: "canary" }, database("canary-2")], state);
    const text = JSON.stringify(reportOf(all, { problems: [] }, (one) => one.replaceAll("canary", "[left out]")));
    assert.ok(!text.includes("canary") && text.includes("[left out]"), text);
  });
});
