import assert from "node:assert/strict";
import { type PlatformOptions, startPlatform } from "../../../local/platform/index";

const refused: [given: unknown, option: string, problem: RegExp][] = [
  [{ port: -1 }, "port", />=0/],
  [{ port: 65_536 }, "port", /<=65535/],
  [{ port: "80" }, "port", /expected number/],
  [{ host: "" }, "host", /must not be empty/],
  [{ username: "a:b" }, "username", /colon/],
  [{ username: "" }, "username", /must not be empty/],
  [{ password: "" }, "password", /must not be empty/],
  [{ queueToken: "a b" }, "queueToken", /visible ASCII/],
  [{ databases: "db" }, "databases", /expected array/],
  [{ databases: ["a", ""] }, "databases[1]", /must not be empty/],
  [{ databases: [5] }, "databases[0]", /must be an id, or an object with a database_id/],
  [{ databases: [{ database_name: "x" }] }, "databases[0].database_id", /expected string/],
  [{ databases: [{ database_id: "" }] }, "databases[0].database_id", /must not be empty/],
  [{ databases: ["a", { database_id: "a" }] }, "databases[1]", /"a" is given twice/],
  [{ flowControlKeys: ["k", "k"] }, "flowControlKeys[1]", /"k" is given twice/],
  [{ flowControlKeys: [{ flowControlKey: "k", rateCount: -1 }] }, "flowControlKeys[0].rateCount", />=0/],
  [{ flowControlKeys: [{ flowControlKey: "k", ratePeriod: 604_801 }] }, "flowControlKeys[0].ratePeriod", /a week/],
  [{ flowControlKeys: [{ flowControlKey: "k", rateCuont: 1 }] }, "flowControlKeys[0]", /rateCuont/],
  [{ globalParallelism: { parallelismMax: 1.5 } }, "globalParallelism.parallelismMax", /int/],
  [{ credentialsInResponse: "sometimes" }, "credentialsInResponse", /"never"\|"always"/],
  [{ onRequest: "log" }, "onRequest", /must be a function/],
  [{ prot: 80 }, "options", /"prot"/],
];

describe("local platform: options", () => {
  for (const [given, option, problem] of refused) {
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
