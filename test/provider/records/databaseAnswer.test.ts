import assert from "node:assert/strict";
import { type databaseFields } from "../../../provider/records/database";
import { type DatabaseResponse, readDatabaseResponse } from "../../../provider/records/databaseResponse";
import { unknownValue } from "../../../provider/records/markers";
import { camelCase } from "../../../provider/records/fields";
import { databaseRecord } from "../../../local/platform/databaseRecord";
import tables from "../../fixtures/interface-fields.json";
import { databaseText, databaseTextAnd } from "../../support/databaseText";

const secret = "4dabf18193072939515e22adb298388d";

function read(jsonText: string): DatabaseResponse {
  const answer = readDatabaseResponse(jsonText);
  assert.ok(answer, "it was read");
  return answer;
}

describe("records: a reset's answer", () => {
  it("keeps each of the 42 fields with the value the platform gave it", () => {
    const sent = databaseRecord({ database_id: "db" });
    const { record, ...others } = read(JSON.stringify(sent));
    for (const { name } of tables.database) {
      assert.notEqual(sent[name], undefined, name);
      assert.deepEqual(record[camelCase(name) as keyof typeof databaseFields], sent[name], name);
    }
    assert.deepEqual(others, { problems: [], credentials: {}, exactIntegers: {} });
  });

  it("keeps a string a string, and the values of an enum that no one knows yet", () => {
    const learnt = { state: "hibernating", type: "", region: "mars", db_acl_enabled: "maybe" };
    const { record, problems } = read(databaseText(learnt));
    const { state, type, region, dbAclEnabled, prometheusEnabled } = record;
    assert.deepEqual([state, type, region, dbAclEnabled], Object.values(learnt));
    assert.equal(prometheusEnabled, "false");
    assert.deepEqual(problems, []);
  });

  const mistyped: readonly (readonly [string, unknown, string])[] = [
    ["port", "6379", "port: expected an integer"],
    ["port", 6379.5, "port: expected an integer"],
    ["port", null, "port: expected an integer"],
    ["tls", "true", "tls: expected true or false"],
    ["tls", null, "tls: expected true or false"],
    ["endpoint", null, "endpoint: expected a string"],
    ["endpoint", { canary: 1 }, "endpoint: expected a string"],
    ["state", 1, "state: expected a string"],
    ["all_members", "eu", "allMembers: expected a list of strings"],
    ["all_members", ["eu", null], "allMembers: expected a list of strings"],
    ["securityAddons", [], "securityAddons: expected an object"],
    ["securityAddons", null, "securityAddons: expected an object"],
    ["endpoint", unknownValue, "endpoint: a value that Pulumi reserves for itself"],
    ["read_regions", ["eu", unknownValue], "readRegions: a value that Pulumi reserves for itself"],
  ];
  for (const [name, value, problem] of mistyped) {
    it(`names ${name} as unreadable where it is ${JSON.stringify(value)}, and keeps the rest`, () => {
      const { record, problems } = read(databaseText({ [name]: value }));
      assert.deepEqual(problems, [problem]);
      assert.equal(camelCase(name) in record, false);
      assert.equal(Object.keys(record).length, 41);
    });
  }

  it("names each field that was not sent", () => {
    const { record, problems } = read('{"database_id":"db"}');
    const missing = tables.database.slice(1).map(({ name }) => `${camelCase(name)}: missing`);
    assert.deepEqual(problems, missing);
    assert.deepEqual(record, { databaseId: "db" });
  });

  it("reads what is inside securityAddons one by one", () => {
    const { record, problems, otherFields } = read(
      databaseText({ securityAddons: { ipWhitelisting: true, vpcPeering: "no", later: 1 } }),
    );
    assert.deepEqual(record.securityAddons, { ipWhitelisting: true });
    assert.deepEqual([...problems].sort(), [
      "securityAddons.encryptionAtRest: missing",
      "securityAddons.privateLink: missing",
      "securityAddons.tlsMutualAuth: missing",
      "securityAddons.vpcPeering: expected true or false",
    ]);
    assert.equal(otherFields, '{"securityAddons":{"later":1}}');
  });

  it("keeps fields that no one knows as JSON text, digit for digit", () => {
    const others = '"later":{"a":[1,"ü",null],"n":9007199254740993},"_":true';
    const { otherFields, problems } = read(databaseTextAnd(others));
    assert.equal(otherFields, `{${others}}`);
    assert.deepEqual(problems, []);
  });

  it("keeps the exact digits of integers beyond 2^53", () => {
    const digits = { budget: "9007199254740993", db_request_limit: "-9223372036854775808", port: "9007199254740991" };
    const sent = Object.entries(digits).map(([name, value]) => `"${name}":${value}`);
    const { record, exactIntegers, problems } = read(`{"database_id":"db",${sent.join()}}`);
    assert.deepEqual(exactIntegers, { budget: digits.budget, dbRequestLimit: digits.db_request_limit });
    assert.deepEqual([record.budget, record.dbRequestLimit, record.port], [2 ** 53, -(2 ** 63), 2 ** 53 - 1]);
    assert.ok(problems.every((problem) => problem.endsWith(": missing")));
  });

  for (const digits of ["1e999", "-1e999", `1${"0".repeat(400)}`, "0.5"]) {
    it(`names an integer that is ${digits.slice(0, 9)}`, () => {
      const { record, problems } = read(databaseText({ port: 1 }).replace('"port":1,', `"port":${digits},`));
      assert.match(problems.join(), /^port: (expected an integer|too large)$/);
      assert.ok(!("port" in record));
    });
  }

  it("takes __proto__ for a field that no one knows", () => {
    const { record, credentials, otherFields } = read(databaseTextAnd('"__proto__":{"password":"x","port":1}'));
    assert.equal(Object.getPrototypeOf(record), Object.prototype);
    assert.deepEqual(credentials, {});
    assert.equal(otherFields, '{"__proto__":{"password":"x","port":1}}');
    assert.equal(({} as Record<string, unknown>)["password"], undefined);
    assert.equal(readDatabaseResponse('{"__proto__":{"database_id":"db"}}'), undefined);
    const { record: addons } = read(databaseText().replace('"securityAddons":{', '$&"__proto__":{"later":true},'));
    assert.equal((addons.securityAddons as Record<string, unknown>)["later"], undefined);
  });

  it("keeps fields that are named as what every object has", () => {
    const others = '"toString":"a","constructor":{"b":1},"hasOwnProperty":null';
    const { record, otherFields, problems } = read(databaseTextAnd(others));
    assert.deepEqual([otherFields, problems, Object.keys(record).length], [`{${others}}`, [], 42]);
  });

  it("takes the last of two values, and names the field where it is known", () => {
    const { record, credentials, problems } = read(
      databaseTextAnd(
        '"database_id":"db2","password":"one","password":"two","hunter2":1,"hunter2":2,"rest_token":"1","restToken":"2"',
      ),
    );
    assert.deepEqual([record.databaseId, credentials], ["db2", { password: "two", restToken: "2" }]);
    assert.deepEqual(problems, [
      "databaseId: sent twice, the last value counts",
      "password: sent twice, the last value counts",
      "a field that Rekey does not know: sent twice, the last value counts",
      "restToken: sent twice, the last value counts",
    ]);
  });

  it("replaces broken characters of ordinary fields, and says so", () => {
    const { record, problems } = read(databaseText({ database_name: "a\ud800b", read_regions: ["\udc00"] }));
    assert.deepEqual([record.databaseName, record.readRegions], ["a\ufffdb", ["\ufffd"]]);
    assert.deepEqual(
      problems.map((problem) => problem.split(":")[0]),
      ["databaseName", "readRegions"],
    );
  });

  it("carries Pulumi's secret signature as text only", () => {
    const { otherFields } = read(databaseText({ [secret]: "1b47061264138c4ac30d75fd1eb44270", value: 1 }));
    assert.equal(otherFields, `{"${secret}":"1b47061264138c4ac30d75fd1eb44270","value":1}`);
  });

  it("is read without an id or a credential if five fields are known", () => {
    const { record } = read('{"type":"pro","state":"active","port":1,"tls":true,"budget":2}');
    assert.deepEqual(record, { type: "pro", state: "active", port: 1, tls: true, budget: 2 });
  });

  const others = ['{"type":"error","state":"failed","port":1,"tls":true}', '{"ok":true}'];
  for (const text of ["", "null", "[]", '"db"', "1", "{}", "<html>", '{"database_id":"db"', "{} {}", ...others]) {
    it(`is none where it is ${text || "empty"}`, () => assert.equal(readDatabaseResponse(text), undefined));
  }
});
