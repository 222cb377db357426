// Tests the program in sessions.ts in memory, with a local platform: without an account, and without the `pulumi` CLI.
// `describe`, `it`, `before` and `after` are mocha's. With node:test, import them from "node:test"; with vitest, use
// beforeAll and afterAll instead of before and after.
import assert from "node:assert/strict";
import { MemoryStack, type Platform, startPlatform } from "rekey-local";
import { sessions } from "./sessions";

describe("The sessions program", () => {
  let platform: Platform;
  let stack: MemoryStack;

  before(async () => {
    platform = await startPlatform({ databases: ["db-1"], credentials: "always" });
    stack = new MemoryStack(sessions, {
      rotation: JSON.stringify({ databaseId: "db-1", version: 1 }),
      "rekey:baseUrl": platform.url,
      "rekey:username": platform.username,
      "rekey:password": { secret: platform.password },
    });
  });

  after(() => platform.close());

  it("hands its consumers the password that the platform made", async () => {
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
    stack.config["rotation"] = JSON.stringify({ databaseId: "db-1", version: 2 });
    const { changes } = await stack.up();
    assert.deepEqual(changes, { same: 1, update: 1 });
    assert.equal(platform.database("db-1").resets, 2);
  });

  it("fails if the response to a reset is lost, and resets again in the next up", async () => {
    stack.config["rotation"] = JSON.stringify({ databaseId: "db-1", version: 3 });
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await assert.rejects(stack.up(), /The password may have been changed/);
    const { outputs } = await stack.up();
    assert.match(String(outputs["connection"]?.value), new RegExp(platform.database("db-1").password));
  });
});
