import assert from "node:assert/strict";
import { type PlatformOptions, startPlatform } from "../../../local/platform/index";

const refused: readonly { readonly given: unknown; readonly option: string; readonly problem: RegExp }[] = [
  { given: { port: -1 }, option: "port", problem: />=0/ },
  { given: { port: 65_536 }, option: "port", problem: /<=65535/ },
  { given: { port: "80" }, option: "port", problem: /expected number/ },
  { given: { host: "" }, option: "host", problem: /must not be empty/ },
  { given: { username: "a:b" }, option: "username", problem: /colon/ },
  { given: { username: "" }, option: "username", problem: /must not be empty/ },
  { given: { password: "" }, option: "password", problem: /must not be empty/ },
  { given: { queueToken: "a b" }, option: "queueToken", problem: /visible ASCII/ },
  { given: { databases: "db" }, option: "databases", problem: /expected array/ },
  { given: { databases: ["a", ""] }, option: "databases[1]", problem: /must not be empty/ },
  { given: { databases: [5] }, option: "databases[0]", problem: /must be an id, or an object with a database_id/ },
  { given: { databases: [{ database_name: "x" }] }, option: "databases[0].database_id", problem: /expected string/ },
  { given: { databases: [{ database_id: "" }] }, option: "databases[0].database_id", problem: /must not be empty/ },
  { given: { databases: ["a", { database_id: "a" }] }, option: "databases[1]", problem: /"a" is given twice/ },
  { given: { flowControlKeys: ["k", "k"] }, option: "flowControlKeys[1]", problem: /"k" is given twice/ },
  {
    given: { flowControlKeys: [{ flowControlKey: "k", rateCount: -1 }] },
    option: "flowControlKeys[0].rateCount",
    problem: />=0/,
  },
  {
    given: { flowControlKeys: [{ flowControlKey: "k", ratePeriod: 604_801 }] },
    option: "flowControlKeys[0].ratePeriod",
    problem: /a week/,
  },
  {
    given: { flowControlKeys: [{ flowControlKey: "k", rateCuont: 1 }] },
    option: "flowControlKeys[0]",
    problem: /rateCuont/,
  },
  { given: { globalParallelism: { parallelismMax: 1.5 } }, option: "globalParallelism.parallelismMax", problem: /int/ },
  { given: { credentials: "sometimes" }, option: "credentials", problem: /"always"\|"read"\|"once"\|"never"/ },
  {
    given: { databasePath: "v2/redis/database/{id}" },
    option: "databasePath",
    problem: /\/v2\/redis\/database\/\{id\}/,
  },
  { given: { databasePath: "/v2/redis/database" }, option: "databasePath", problem: /\{id\}/ },
  { given: { databasePath: "/v2/{id}/database/{id}" }, option: "databasePath", problem: /once/ },
  { given: { databasePath: "/v2/redis/database-{id}" }, option: "databasePath", problem: /segment/ },
  { given: { databasePath: "/v2/redis/:name/{id}" }, option: "databasePath", problem: /letters/ },
  { given: { onRequest: "log" }, option: "onRequest", problem: /must be a function/ },
  { given: { prot: 80 }, option: "options", problem: /"prot"/ },
];

describe("local platform: options", () => {
  for (const { given, option, problem } of refused) {
    it(`refuses ${JSON.stringify(given)} and names ${option}`, async () => {
      const expected = { name: "PlatformOptionError", option, problem };
      await assert.rejects(startPlatform(given as PlatformOptions), expected);
    });
  }

  it("keeps its data if the given objects are changed later", async () => {
    const regions = ["eu-west-1"];
    const platform = await startPlatform({ databases: [{ database_id: "one", read_regions: regions }] });
    regions.push("us-east-1");
    await platform.reset();
    assert.deepEqual(platform.database("one").record.read_regions, ["eu-west-1"]);
    await platform.close();
  });
});
