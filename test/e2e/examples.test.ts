import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { pages } from "../docs/page";
import { examples } from "../support/project";
import { type Registration, startMocks } from "../support/pulumiMocks";

/** A trigger with a default: removing its setting would be a change, and so a reset. */
const defaulted =
  /\b(version|triggers|incident)\b.*(\?\?|\|\||\bor\b|\bdefault:)|get\w*\(\s*["'](version|incident)["']\s*,/i;

describe("Programs that users copy", () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js|py|go|cs|ya?ml)$/.test(name))
    .map((name) => ({ place: `examples/${name}`, code: readFileSync(join(examples, name), "utf8") }));
  const programs = [...files, ...pages.flatMap(({ blocks }) => blocks)];

  it("give no trigger a default, which would become a reset if its setting is removed", () => {
    assert.ok(programs.length > 50, String(programs.length));
    const found = programs.flatMap(({ place, code }) =>
      code.split("\n").flatMap((line) => (defaulted.test(line) ? [`${place}: ${line.trim()}`] : [])),
    );
    assert.deepEqual(found, []);
  });

  for (const line of [
    'version: config.get("version") ?? "1",',
    "version=config.get('version') or 1,",
    'conf.get("version", "1")',
    "version: { type: string, default: a }",
  ]) {
    it(`the check finds \`${line}\``, () => assert.match(line, defaulted));
  }
});

/** What the platform sent, as the engine has it after the reset. */
const sent = { password: "new-password", endpoint: "cache.example.com", port: 6379, rotatedAt: "2026-11-21T02:17:00Z" };

/** Runs an example against a mocked engine. @returns the one resource that is not the rotation */
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

// The real packages of these two providers; those of the others are too large to install for a test.
describe("The examples that hand the password over", () => {
  it("give GitHub Actions the address with the new password, as a secret", async () => {
    const { type, inputs } = await registeredBy("github-secret");
    assert.match(type, /:ActionsSecret$/);
    const { value, ...mark } = inputs["value"] as { value: string };
    assert.equal(value, "rediss://:new-password@cache.example.com:6379");
    assert.equal(Object.keys(mark).length, 1, "it is marked as a secret");
  });

  it("tell Pulumi ESC where to read the password, and not the password", async () => {
    const text = JSON.stringify((await registeredBy("pulumi-esc")).inputs);
    assert.match(text, /fn::open::pulumi-stacks.*project\/stack/);
    assert.doesNotMatch(text, /new-password/);
  });
});
