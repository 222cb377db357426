import assert from "node:assert/strict";
import { databaseRecord } from "../../../local/platform/databaseRecord";
import { databaseTable } from "../../../provider/records/database";
import { camelCase } from "../../../provider/records/fields";
import { unknownValue } from "../../../provider/pulumi/values";
import { readSecretResponse } from "../../../provider/records/response";
import { type SecretResponse } from "../../../provider/records/secretResponse";
import { databaseText } from "../../support/platformBodies";
import { assertFields } from "../../support/results";

/** A record with JSON written by hand at its end: for what no JavaScript value can say. */
const databaseTextWith = (json: string) => `${databaseText().slice(0, -1)},${json}}`;

function read(jsonText: string): SecretResponse {
  return readSecretResponse(databaseTable, jsonText) ?? assert.fail("the response has no record");
}

describe("records: the response to a reset", () => {
  it("has each field with the value that the platform sent", () => {
    const sent = databaseRecord({ database_id: "db" });
    const record = Object.fromEntries(Object.entries(sent).map(([name, value]) => [camelCase(name), value]));
    assert.deepEqual(read(JSON.stringify(sent)), { record, problems: [], credentials: {}, exactIntegers: {} });
  });

  const addons = { ipWhitelisting: true, vpcPeering: "no", later: 1 };
  const asInteger = (digits: string) => `"port":${digits}`;
  /** Fields or JSON text that is sent, what is read of it (all else if undefined), and how the problem begins. */
  const rows: readonly (readonly [sent: Readonly<Record<string, unknown>> | string, read: object, problem?: string])[] =
    [
      [
        { state: "hibernating", type: "", region: "mars" },
        { state: "hibernating", type: "", region: "mars" },
      ],
      [{ port: 6379.5 }, { port: undefined }, "port: expected an integer"],
      [{ endpoint: { canary: 1 } }, { endpoint: undefined }, "endpoint: expected a string"],
      [{ state: 1 }, { state: undefined }, "state: expected a string"],
      [{ all_members: ["eu", null] }, { allMembers: undefined }, "allMembers: expected a list of strings"],
      [
        { securityAddons: addons },
        { securityAddons: { ipWhitelisting: true } },
        "securityAddons.vpcPeering: expected true",
      ],
      [
        { read_regions: ["\ud800", unknownValue] },
        { readRegions: undefined },
        "readRegions: a value that Pulumi cannot save",
      ],
      [{ database_name: "a\ud800b" }, { databaseName: undefined }, "databaseName: a value that Pulumi cannot save"],
      [{ database_name: "a\ufffdb" }, { databaseName: "a\ufffdb" }],
      [asInteger("9007199254740991"), { port: 2 ** 53 - 1 }],
      [asInteger("9007199254740993"), { port: 2 ** 53 }],
      [asInteger(`1${"0".repeat(400)}`), { port: undefined }, "port: expected an integer"],
      [asInteger(`1${"0".repeat(390)}`), { port: undefined }, "port: expected an integer"],
      ...["1e999", "-1e999", "0.5"].map(
        (n) => [asInteger(n), { port: undefined }, "port: expected an integer"] as const,
      ),
    ];
  for (const [sent, expected, problem = ""] of rows) {
    it(`reads ${JSON.stringify(sent).slice(0, 60)}, and keeps the other fields`, () => {
      const without = databaseText({
        ...(typeof sent === "string" && sent.startsWith('"port"') && { port: undefined }),
      });
      const text = typeof sent === "string" ? `${without.slice(0, -1)},${sent}}` : databaseText(sent);
      const { record, problems } = read(text);
      assertFields(record, expected);
      assert.equal(problems.length, problem === "" ? 0 : 1, problems.join());
      assert.ok((problems[0] ?? "").startsWith(problem), problems.join());
      assert.equal(Object.keys(record).length, Object.values(expected).includes(undefined) ? 41 : 42);
    });
  }

  for (const others of [
    '"later":{"a":[1,"ü",null],"n":9007199254740993},"_":true',
    '"toString":"a","constructor":{"b":1},"hasOwnProperty":null',
    '"__proto__":{"password":"x","port":1}',
    // Pulumi's signature of a secret.
    '"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":1',
  ]) {
    it(`keeps unknown fields as JSON text, digit for digit: ${others.slice(0, 30)}`, () => {
      const { otherFields, problems, record, credentials } = read(databaseTextWith(others));
      assert.equal(otherFields, `{${others}}`);
      assert.deepEqual([problems, credentials, Object.keys(record).length], [[], {}, 42]);
      assert.equal(Object.getPrototypeOf(record), Object.prototype);
    });
  }

  it("has a record without an id or a credential if five fields are known", () => {
    const { record } = read('{"type":"pro","state":"active","port":1,"tls":true,"budget":2}');
    assert.deepEqual(record, { type: "pro", state: "active", port: 1, tls: true, budget: 2 });
  });

  it("has no record if it is something else", () => {
    const others = ['{"type":"error","state":"failed","port":1,"tls":true}', '{"__proto__":{"database_id":"db"}}'];
    for (const text of ["", "null", "[]", '"db"', "1", "{}", "<html>", '{"database_id":"db"', "{} {}", ...others]) {
      assert.equal(readSecretResponse(databaseTable, text), undefined, text);
    }
  });
});

describe("records: credentials in the response to a reset", () => {
  const names = { password: "password", rest_token: "restToken", read_only_rest_token: "readOnlyRestToken" } as const;
  const notText = [["canary"], { a: "canary" }, true, "canary\ud800", "canary\ufffd", unknownValue];

  for (const [wireName, name] of Object.entries(names)) {
    it(`have ${name} from ${wireName}, and nowhere else; none if it is not shown, and a problem if it cannot be kept`, () => {
      const { credentials, otherFields, record } = read(databaseText({ [wireName]: "canary" }));
      assert.deepEqual({ credentials, otherFields }, { credentials: { [name]: "canary" }, otherFields: undefined });
      assert.ok(!JSON.stringify(record).includes("canary"));
      for (const value of [undefined, null, "", "****", "••••", "…", "*"]) {
        const shown = read(databaseText({ [wireName]: value }));
        assert.deepEqual([shown.credentials, shown.problems, shown.otherFields], [{}, [], undefined]);
      }
      for (const value of notText) {
        const response = read(databaseText({ [wireName]: value }));
        assert.deepEqual([response.credentials, response.problems.length], [{}, 1]);
        assert.match(
          response.problems.join(),
          new RegExp(`^${name}: (expected a string|a value that Pulumi cannot save)`),
        );
        assert.doesNotMatch(JSON.stringify(response), /canary/);
      }
    });

    for (const value of ["a*b*c*d", "xY7…Q", "**a", "a**", "a***b", "a…", "…a", "*a*b*", "p4ss·w0rd·x·y"]) {
      it(`have ${name} with characters of a mask: ${value}`, () => {
        const { credentials, problems } = read(databaseText({ [wireName]: value }));
        assert.deepEqual([credentials, problems], [{ [name]: value }, []]);
      });
    }

    for (const value of ["abcd••••", "****wxyz", "a*…·", "***a***"]) {
      it(`do not have a masked ${name}, and say so: ${value}`, () => {
        const { credentials, problems, otherFields } = read(databaseText({ [wireName]: value }));
        assert.deepEqual([credentials, otherFields], [{}, undefined]);
        assert.deepEqual(problems, [`${name}: masked by the platform, and left out`]);
      });
    }

    for (const digits of ["12345678", "0", "-7", "1.5", "12345678901234567890", "0.1234567890123456789"]) {
      it(`have a ${name} that is a number as text, digit for digit: ${digits}`, () => {
        const { credentials, problems } = read(databaseTextWith(`"${wireName}":${digits}`));
        assert.deepEqual([credentials, problems], [{ [name]: digits }, []]);
      });
    }
  }
});
