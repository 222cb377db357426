// Tests the program in index.ts with a local platform and a local engine: without an account and without the `pulumi`
// CLI. `describe`, `it`, `before` and `after` are mocha's. With node:test, import them from "node:test"; with vitest,
// use beforeAll and afterAll instead of before and after.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalStack, type Platform, startPlatform } from "rekey-local";

describe("The sessions program", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "sessions-"));
  let platform: Platform;
  let stack: LocalStack;

  before(async () => {
    platform = await startPlatform({ databases: ["db-1"], credentials: "always" });
    stack = await LocalStack.open({
      projectDir: __dirname,
      stack: "test",
      stateDir,
      passphrase: "test",
      env: { REKEY_BASE_URL: platform.url, REKEY_USERNAME: platform.username, REKEY_PASSWORD: platform.password },
    });
  });

  after(async () => {
    await stack.destroy();
    await platform.close();
    rmSync(stateDir, { recursive: true });
    rmSync(join(__dirname, "Pulumi.test.yaml"), { force: true });
  });

  it("hands its consumers the password that the platform made", async () => {
    await stack.setConfig("rotation", JSON.stringify({ databaseId: "db-1", version: 1 }));
    const { outputs } = await stack.up();
    const { password, record } = platform.database("db-1");
    const { endpoint, port } = record as { endpoint: string; port: number };
    assert.deepEqual(outputs["connection"], {
      value: `redis://default:${password}@${endpoint}:${port}`,
      secret: true,
    });
  });

  it("rotates once for a new version, and not without one", async () => {
    await stack.up();
    assert.equal(platform.database("db-1").resets, 1);
    await stack.setConfig("rotation", JSON.stringify({ databaseId: "db-1", version: 2 }));
    const { changes } = await stack.up();
    assert.deepEqual(changes, { same: 1, update: 1 });
    assert.equal(platform.database("db-1").resets, 2);
  });

  it("fails if the response to a reset is lost, and resets again in the next up", async () => {
    await stack.setConfig("rotation", JSON.stringify({ databaseId: "db-1", version: 3 }));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await assert.rejects(stack.up(), /The password may have been changed/);
    const { outputs } = await stack.up();
    assert.match(String(outputs["connection"]?.value), new RegExp(platform.database("db-1").password));
  });
});
