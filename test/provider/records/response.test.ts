import { databaseTable } from "../../../provider/records/database";
import assert from "node:assert/strict";
import fc from "fast-check";
import { type databaseFields } from "../../../provider/records/database";
import { camelCase } from "../../../provider/records/fields";
import { databaseRecord } from "../../../local/platform/databaseRecord";
import tables from "../../fixtures/interface-fields.json";
import { databaseText, databaseTextAnd } from "../../support/platformBodies";
import { type SecretResponse, readSecretResponse } from "../../../provider/records/response";
import { unknownValue } from "../../../provider/records/properties";
import { assertFields } from "../../support/results";

function read(jsonText: string): SecretResponse {
  return readSecretResponse(databaseTable, jsonText) ?? assert.fail("the response has no record");
}

describe("records: the response to a reset", () => {
  it("has each of the 42 fields with the value that the platform sent", () => {
    const sent = databaseRecord({ database_id: "db" });
    const { record, ...rest } = read(JSON.stringify(sent));
    for (const { name } of tables.database) {
      assert.notEqual(sent[name], undefined, name);
      assert.deepEqual(record[camelCase(name) as keyof typeof databaseFields], sent[name], name);
    }
    assert.deepEqual(rest, { problems: [], credentials: {}, exactIntegers: {} });
  });

  it("keeps a string a string, and unknown values of an enum", () => {
    const sent = { state: "hibernating", type: "", region: "mars", db_acl_enabled: "maybe" };
    const { record, problems } = read(databaseText(sent));
    const { state, type, region, dbAclEnabled, prometheusEnabled } = record;
    assert.deepEqual({ state, type, region, db_acl_enabled: dbAclEnabled }, sent);
    assert.equal(prometheusEnabled, "false");
    assert.deepEqual(problems, []);
  });

  const mistyped: readonly { readonly field: string; readonly problem: string; readonly values: readonly unknown[] }[] =
    [
      { field: "port", problem: "port: expected an integer", values: ["6379", 6379.5, null] },
      { field: "tls", problem: "tls: expected true or false", values: ["true", null] },
      { field: "endpoint", problem: "endpoint: expected a string", values: [null, { canary: 1 }] },
      { field: "state", problem: "state: expected a string", values: [1] },
      { field: "all_members", problem: "allMembers: expected a list of strings", values: ["eu", ["eu", null]] },
      { field: "securityAddons", problem: "securityAddons: expected an object", values: [[], null] },
      { field: "endpoint", problem: "endpoint: a value that Pulumi reserves", values: [unknownValue] },
      { field: "read_regions", problem: "readRegions: a value that Pulumi reserves", values: [["eu", unknownValue]] },
    ];
  for (const { field, problem, values } of mistyped) {
    it(`reports ${problem} for ${JSON.stringify(values)}, and keeps the other fields`, () => {
      for (const value of values) {
        const { record, problems } = read(databaseText({ [field]: value }));
        assert.deepEqual(problems, [problem]);
        assert.equal(camelCase(field) in record, false);
        assert.equal(Object.keys(record).length, 41);
      }
    });
  }

  it("reads each field in securityAddons on its own, and has no problem if fields are missing", () => {
    const securityAddons = { ipWhitelisting: true, vpcPeering: "no", later: 1 };
    const { record, problems, otherFields } = read(databaseText({ securityAddons }));
    assert.deepEqual(record.securityAddons, { ipWhitelisting: true });
    assert.deepEqual(problems, ["securityAddons.vpcPeering: expected true or false"]);
    assert.equal(otherFields, '{"securityAddons":{"later":1}}');
    const few = read('{"database_id":"db","securityAddons":{"vpcPeering":true}}');
    assert.deepEqual([few.record, few.problems], [{ databaseId: "db", securityAddons: { vpcPeering: true } }, []]);
  });

  for (const others of [
    '"later":{"a":[1,"ü",null],"n":9007199254740993},"_":true',
    '"toString":"a","constructor":{"b":1},"hasOwnProperty":null',
    // Pulumi's signature of a secret.
    '"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":1',
  ]) {
    it(`keeps unknown fields as JSON text, digit for digit: ${others.slice(0, 30)}`, () => {
      const { otherFields, problems, record } = read(databaseTextAnd(others));
      assert.equal(otherFields, `{${others}}`);
      assert.deepEqual(problems, []);
      assert.equal(Object.keys(record).length, 42);
    });
  }

  it("keeps the exact digits of integers beyond 2^53", () => {
    const digits = { budget: "9007199254740993", db_request_limit: "-9223372036854775808", port: "9007199254740991" };
    const sent = Object.entries(digits).map(([name, value]) => `"${name}":${value}`);
    const { record, exactIntegers, problems } = read(`{"database_id":"db",${sent.join()}}`);
    assert.deepEqual(exactIntegers, { budget: digits.budget, dbRequestLimit: digits.db_request_limit });
    assertFields(record, { budget: 2 ** 53, dbRequestLimit: -(2 ** 63), port: 2 ** 53 - 1 });
    assert.deepEqual(problems, []);
  });

  for (const digits of ["1e999", "-1e999", `1${"0".repeat(400)}`, "0.5"]) {
    it(`reports an integer that is ${digits.slice(0, 9)}`, () => {
      const { record, problems } = read(databaseText({ port: 1 }).replace('"port":1,', `"port":${digits},`));
      assert.match(problems.join(), /^port: (expected an integer|too large)$/);
      assert.ok(!("port" in record));
    });
  }

  it("reads __proto__ as an unknown field", () => {
    const { record, credentials, otherFields } = read(databaseTextAnd('"__proto__":{"password":"x","port":1}'));
    assert.equal(Object.getPrototypeOf(record), Object.prototype);
    assert.deepEqual(credentials, {});
    assert.equal(otherFields, '{"__proto__":{"password":"x","port":1}}');
    assert.equal(({} as Record<string, unknown>)["password"], undefined);
    assert.equal(readSecretResponse(databaseTable, '{"__proto__":{"database_id":"db"}}'), undefined);
    const { record: addons } = read(databaseText().replace('"securityAddons":{', '$&"__proto__":{"later":true},'));
    assert.equal((addons.securityAddons as Record<string, unknown>)["later"], undefined);
  });

  it("reads the last of two values, and names the field if it is known", () => {
    const { record, credentials, problems } = read(
      databaseTextAnd(
        '"database_id":"db2","password":"one","password":"two","hunter2":1,"hunter2":2,"rest_token":"1","restToken":"2"',
      ),
    );
    assert.equal(record.databaseId, "db2");
    assert.deepEqual(credentials, { password: "two", restToken: "2" });
    assert.equal(problems.length, 4);
    assert.match(
      problems.join("\n"),
      /^databaseId: sent twice.*\npassword: sent twice.*\n[^:]*not know: sent twice.*\nrestToken: sent twice/,
    );
    assert.ok(!problems.join().includes("hunter2"));
  });

  it("replaces invalid characters of ordinary fields, and reports them", () => {
    const { record, problems } = read(databaseText({ database_name: "a\ud800b", read_regions: ["\udc00"] }));
    assertFields(record, { databaseName: "a\ufffdb", readRegions: ["\ufffd"] });
    assert.equal(problems.map((problem) => problem.split(":")[0]).join(), "databaseName,readRegions");
  });

  it("has a record without an id or a credential if five fields are known", () => {
    const { record } = read('{"type":"pro","state":"active","port":1,"tls":true,"budget":2}');
    assert.deepEqual(record, { type: "pro", state: "active", port: 1, tls: true, budget: 2 });
  });

  const others = ['{"type":"error","state":"failed","port":1,"tls":true}', '{"ok":true}'];
  for (const text of ["", "null", "[]", '"db"', "1", "{}", "<html>", '{"database_id":"db"', "{} {}", ...others]) {
    it(`has no record if it is ${text || "empty"}`, () =>
      assert.equal(readSecretResponse(databaseTable, text), undefined));
  }
});

describe("records: credentials in the response to a reset", () => {
  const names = { password: "password", rest_token: "restToken", read_only_rest_token: "readOnlyRestToken" } as const;
  type WireName = keyof typeof names;

  for (const [wireName, name] of Object.entries(names)) {
    it(`have ${name} from ${wireName}, which is kept nowhere else`, () => {
      const { credentials, otherFields, record } = read(databaseText({ [wireName]: "canary" }));
      assert.deepEqual({ credentials, otherFields }, { credentials: { [name]: "canary" }, otherFields: undefined });
      assert.ok(!JSON.stringify(record).includes("canary"));
    });

    it(`have no ${name} if it is missing, which is not a problem, or not text that Pulumi keeps; problems do not show it`, () => {
      for (const value of [undefined, null, ""]) {
        const { credentials, problems, otherFields } = read(databaseText({ [wireName]: value }));
        assert.deepEqual(
          { credentials, problems, otherFields },
          { credentials: {}, problems: [], otherFields: undefined },
        );
      }
      for (const value of [1234567, ["canary"], { a: "canary" }, true, "canary\ud800", "canary\ufffd", unknownValue]) {
        const response = read(databaseText({ [wireName]: value }));
        assert.deepEqual([response.credentials, response.problems.length], [{}, 1]);
        assert.match(response.problems.join(), new RegExp(`^${name}: (expected a string|contains characters)`));
        assert.doesNotMatch(JSON.stringify(response), /canary|1234567/);
      }
    });
  }

  it("are enough by themselves: the password has been reset", () => {
    const { credentials, record, problems } = read('{"password":"p"}');
    assert.deepEqual({ credentials, record, problems }, { credentials: { password: "p" }, record: {}, problems: [] });
  });

  it("are returned byte for byte, with any other fields", () => {
    const value = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\ufffd"));
    const sent = fc.dictionary(fc.constantFrom<WireName>("password", "rest_token", "read_only_rest_token"), value);
    fc.assert(
      fc.property(sent, fc.dictionary(fc.string(), fc.jsonValue()), (credentials, rest) => {
        const expected = Object.entries(credentials).map(([name, text]) => [names[name as WireName], text]);
        const response = readSecretResponse(databaseTable, databaseText({ ...rest, ...credentials }));
        assert.deepEqual({ ...response?.credentials }, Object.fromEntries(expected));
      }),
    );
  });
});
