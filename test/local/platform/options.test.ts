import assert from "node:assert/strict";
import { stringify } from "lossless-json";
import { stringify as toYaml } from "yaml";
import { type PlatformOptions, readSeed, startPlatform } from "../../../local/platform/index";
import { Folder } from "../../support/folder";
import { assertFields } from "../../support/results";
import { resetPassword } from "./client";

const keyOf = (more: object) => ({ flowControlKeys: [{ flowControlKey: "k", ...more }] });

describe("Local platform: options", () => {
  const refused: readonly (readonly [given: unknown, option: string, problem: RegExp])[] = [
    [{ port: 65_536 }, "port", /<=65535/],
    [{ username: "a:b" }, "username", /colon/],
    [{ password: "" }, "password", /must not be empty/],
    [{ queueToken: "a b" }, "queueToken", /visible ASCII/],
    [{ databases: ["a", ""] }, "databases[1]", /must not be empty/],
    [{ databases: [{ database_name: "x" }] }, "databases[0].database_id", /expected string/],
    [{ databases: ["a", { database_id: "a" }] }, "databases[1]", /"a" is given twice/],
    [{ queueUsers: [] }, "queueUsers", /at least one user/],
    [keyOf({ ratePeriod: 604_801 }), "flowControlKeys[0].ratePeriod", /a week/],
    [keyOf({ rateCuont: 1 }), "flowControlKeys[0]", /rateCuont/],
    [{ credentials: "sometimes" }, "credentials", /"always"\|"read"\|"once"\|"never"/],
    [{ databasePath: "/v2/redis/database" }, "databasePath", /\{id\}/],
    [{ databasePath: "/v2/redis/database-{id}" }, "databasePath", /segment/],
    [{ nextToken: "no" }, "nextToken", /boolean/],
    [{ redis: "localhost:6379" }, "redis", /must be a URL/],
    [{ prot: 80 }, "options", /"prot"/],
  ];
  for (const [given, option, problem] of refused) {
    it(`refuses ${JSON.stringify(given)} and names ${option}`, async () => {
      const expected = { name: "PlatformOptionError", option, problem };
      await assert.rejects(startPlatform(given as PlatformOptions), expected);
    });
  }
});

describe("Local platform: seed files", () => {
  const folder = new Folder();
  after(() => folder.remove());

  const given = {
    username: "ops",
    password: "secret",
    queueToken: "t0ken",
    databases: ["cache", { database_id: "sessions", type: "pro", db_request_limit: 9223372036854775808n }],
    vectorIndexes: ["docs"],
    flowControlKeys: ["orders", { flowControlKey: "emails", rateMax: 3 }],
  };
  // YAML forbids the tabs of the JSON.
  const written = { "seed.yaml": toYaml(given), "seed.json": stringify(given, undefined, "\t") ?? "" };
  for (const [name, text] of Object.entries(written)) {
    it(`load records, keys and credentials from ${name}`, async () => {
      const platform = await startPlatform(readSeed(folder.write(name, text)));
      assertFields(platform, { username: "ops", password: "secret", queueToken: "t0ken" });
      assert.deepEqual([...platform.databases.keys(), ...platform.vectorIndexes.keys()], ["cache", "sessions", "docs"]);
      assert.equal(platform.database("sessions").record.type, "pro");
      assert.match((await resetPassword(platform, "sessions")).text, /"db_request_limit":9223372036854775808,/);
      assert.equal(platform.flowControlKeys.get("emails")?.rateMax, 3);
      await platform.close();
    });
  }

  for (const [text, problem] of Object.entries({
    "databases: [{ database_id: 17 }]": /databases\[0\]\.database_id: .*string/,
    "port: 80": /the whole file: .*"port"/,
    // The line itself may contain a password.
    "password: canary\npassword: canary": /not valid YAML at line 2/,
    "password: *canary": /alias/,
  })) {
    it(`are refused with the file and the field: ${JSON.stringify(text)}`, () => {
      const message = /: seed: .*seed\.yaml: (?!.*canary)/s;
      const expected = { name: "PlatformOptionError", option: "seed", problem, message };
      assert.throws(() => readSeed(folder.write("seed.yaml", text)), expected);
    });
  }
});
