import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { projectRoot } from "../support/host";

describe("the tests' environment", () => {
  it("has none of the shell's settings, so that they decide no result", () => {
    const mocha = require.resolve("mocha/bin/mocha.js");
    const spec = ["test/sdk/dataSources.test.ts", "--fgrep", "fail, naming what is missing", "--reporter", "min"];
    const { status, stdout } = spawnSync(process.execPath, [mocha, ...spec], {
      cwd: projectRoot,
      encoding: "utf8",
      env: { ...process.env, REKEY_QUEUE_URL: "https://example.com", REKEY_QUEUE_TOKEN: "t", PULUMI_CONFIG: "{}" },
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /1 passing/);
  });
});
