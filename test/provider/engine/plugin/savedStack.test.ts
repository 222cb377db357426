import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { plainOutputs, type State } from "../../../support/engine";
import { projectRoot } from "../../../support/host";
import { Plugin, urnOf } from "../../../support/pluginService";
import { PluginRun } from "../../../support/pluginRun";
import { reference } from "../../../support/wire";

const fixture = join(projectRoot, "test/fixtures/commit-43daa59/native/stack.json");
const text = readFileSync(fixture, "utf8").replaceAll("urn:pulumi:dev::program::", "urn:pulumi:test::project::");
const { deployment } = JSON.parse(text) as State;
const saved = (deployment.resources ?? []).flatMap((resource) => {
  const { urn, id = "", inputs = {} } = resource;
  const type = /::rekey:index:(?:\w+\$rekey:index:)?(\w+)::/.exec(urn)?.[1];
  if (type === undefined) return [];
  return [{ type, urn, id, inputs: plainOutputs({ urn, outputs: inputs }), outputs: plainOutputs(resource) }];
});
const custom = saved.filter(({ id }) => id !== "");

describe("A stack that the native plugin of an earlier commit saved", () => {
  let platform: Platform;
  before(async () => {
    platform = await startPlatform();
  });
  after(() => platform.close());

  it("has a resource of each type", () => {
    const types = [...new Set(saved.map(({ type }) => type))].sort();
    assert.deepEqual(types, [
      "FlowControlReset",
      "PasswordRotation",
      "PasswordRotationFleet",
      "PasswordRotationShard",
      "PasswordVerification",
      "PasswordVerificationTargets",
    ]);
  });

  for (const { type, urn, id, inputs, outputs } of custom) {
    it(`leaves ${type} ${id.split("::").at(-1)} unchanged`, async () => {
      const plugin = Plugin.for(platform);
      assert.deepEqual(await plugin.check(urn, inputs), []);
      assert.deepEqual(await plugin.diff(urn, id, outputs, inputs), { changes: false, replaces: [] });
      assert.deepEqual(Object.keys((await plugin.read(urn, id, outputs, inputs)).outputs), Object.keys(outputs));
      assert.equal(platform.requests.length, 0);
    });
  }

  it("leaves the children of components unchanged", async () => {
    const states = new Map(custom.map(({ type, urn, outputs }) => [urnOf(type, urn.split("::").at(-1)), outputs]));
    const run = new PluginRun(Plugin.for(platform), states);
    const databases = { a: { databaseId: "fleet-a" }, b: { databaseId: "fleet-b", version: 2 } };
    const { urn } = await run.construct("PasswordRotationFleet", "fleet", {
      databases,
      version: 1,
      includeRecords: true,
    });
    await run.construct("PasswordVerification", "fleet", { fleet: reference(urn) });
    assert.equal(platform.requests.length, 0);
  });
});
