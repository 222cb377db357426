import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { examples } from "../support/project";
import { type Registration, startMocks } from "../support/pulumiMocks";

/** What the platform sent, as the engine would have it after the reset. */
const sent = { password: "new-password", endpoint: "cache.example.com", port: 6379, rotatedAt: "2026-11-21T02:17:00Z" };

/** Runs an example against a mocked engine, and gives the one resource that is not the rotation. */
async function registeredBy(example: string): Promise<Registration> {
  const registered = await startMocks({
    outputs: (type) => (type.endsWith(":PasswordRotation") ? { ...sent, record: sent } : {}),
  });
  pulumi.runtime.setAllConfig({ "project:databaseId": "db-sessions", "project:repository": "shop" });
  require(join(examples, "hand-over", example));
  for (;;) {
    const found = registered.find(({ type }) => /^(github|pulumiservice):/.test(type));
    if (found !== undefined) return found;
    await sleep(10);
  }
}

// The real packages of these two providers; those of the others are too large to be installed for a test.
describe("The examples of handing over", () => {
  it("give GitHub Actions the address with the new password, as a secret", async () => {
    const { type, inputs } = await registeredBy("github-secret");
    assert.match(type, /:ActionsSecret$/);
    const { value, ...mark } = inputs["value"] as { value: string };
    assert.equal(value, "rediss://default:new-password@cache.example.com:6379");
    assert.equal(Object.keys(mark).length, 1, "it is marked as a secret");
  });

  it("give Pulumi ESC where to read the password, and not the password", async () => {
    const text = JSON.stringify((await registeredBy("pulumi-esc")).inputs);
    assert.match(text, /fn::open::pulumi-stacks/);
    assert.match(text, /project\/stack/);
    assert.doesNotMatch(text, /new-password/);
  });
});
