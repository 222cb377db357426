import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { type Socket } from "node:net";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { revealed } from "../support/wire";
import { testRow, titled } from "./describeFaults";

/** Breaks one of the host's own functions, after the platform has responded. */
const broken = (code: string): string => `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(join(realpathSync(projectRoot), "package.json"))});
const { SecretOperations } = require("./dist/provider/platform/secretOperations.js");
const ordinary = SecretOperations.prototype.reset;
SecretOperations.prototype.reset = async function (id) {
  const response = await ordinary.call(this, id);
  ${code}
};`;

const rejected = "HTTP/1.1 400 No\r\ncontent-length: 2\r\n\r\n{}";

describe("faults: our own code", () => {
  const version1 = rotation("db", { version: "1" });

  testRow(
    [36, "undefined and a bigint in the outputs", "create", "succeeds, credentials kept; 1 sent"],
    async (fixture) => {
      const strange = "record: { ...response.record, tls: undefined, port: 10n, later: [undefined, { x: 1n }] }";
      const { host } = await fixture.start({
        preload: broken(`return { ...response, ${strange}, exactIntegers: undefined };`),
      });
      const { outs } = expectKind("done", await host.create(version1));
      const { password, record } = revealed(outs);
      assert.match(String(password), /^pw-/);
      assert.equal((record as { port: unknown }).port, "10");
    },
  );

  const object = "{ id: 'db', properties: { x: undefined } }";
  for (const thrown of ["undefined", "null", "'text'", "new TypeError('x of undefined')", object]) {
    testRow(
      [36, `throw ${thrown}`, "create", "may have been applied: saved by an init error; 1 sent"],
      async (fixture) => {
        const { host, server } = await fixture.start({ preload: broken(`throw ${thrown};`) });
        const result = expectKind("init error", await host.create(version1));
        assert.equal(result.outs.outcome, "unknown");
        assert.match(result.message, /may have been changed/);
        assert.deepEqual(await host.create(version1), result, "a repeated call sends nothing");
        assert.equal(server.count("POST", "db"), 1);
      },
    );
  }

  // gRPC would never return a call with a message of that length.
  testRow([36, "an id of 100 kB", "create", "fails, the middle of its message is left out"], async (fixture) => {
    const accept = (socket: Socket) => socket.once("data", () => void socket.resume().write(rejected));
    const { host } = await fixture.start({ server: { accept } });
    const { message } = expectKind("failed", await host.create(rotation("x".repeat(100_000))));
    assert.match(message, /^Could not reset .*\[REKEY_REJECTED\]$/s);
  });
});

describe("faults: installation", () => {
  it(
    titled(51, "not installed where the host runs", "constructor", "fails, names the package to install; 0 sent"),
    () => {
      const folder = new Folder();
      const program = `
      const { PasswordRotation } = require(${JSON.stringify(join(projectRoot, "dist/sdk/index.js"))});
      try { new PasswordRotation("x", { databaseId: "db" }); } catch (error) { console.log(error.message); }`;
      const shown = execFileSync(process.execPath, ["-e", program], { cwd: folder.directory, encoding: "utf8" });
      assert.match(shown, /pulumi-rekey.*Nothing was sent.*version [\d.]+ to the package\.json.*Install/s);
      folder.remove();
    },
  );
});
