import assert from "node:assert/strict";
import { reveal } from "../../../../provider/records/properties";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { plainOutputs, type State } from "../../../support/engine";
import { Plugin, PluginRun } from "../../../support/plugin";
import { methodsOf, resetIds, SavedStack, unconfirmedIds } from "../../../support/savedStacks";
import { type Properties, reference, urnOf } from "../../../support/wire";
import { databasePath } from "../../../support/resources";

const stack = new SavedStack("native");

/** The resources of the plugin in a state, with plain values, in the project of `PluginRun`. */
function resourcesIn(state: State) {
  const text = JSON.stringify(state).replaceAll("urn:pulumi:dev::program::", "urn:pulumi:test::project::");
  return ((JSON.parse(text) as State).deployment.resources ?? []).flatMap((resource) => {
    const { urn, id = "", inputs = {} } = resource;
    const type = /::rekey:index:(?:\w+\$rekey:index:)?(\w+)::/.exec(urn)?.[1];
    if (type === undefined) return [];
    return [{ type, urn, id, inputs: plainOutputs({ urn, outputs: inputs }), outputs: plainOutputs(resource) }];
  });
}

/** Outputs without marks. The order in a shard's secrets does not matter. */
function opened(outputs: Properties): Properties {
  const { secrets, ...others } = reveal(outputs) as Properties;
  return { ...others, ...(secrets !== undefined && { secrets: JSON.parse(secrets as string) as unknown }) };
}

/** What a refresh adds to outputs of an earlier version. */
const addedOutputs = ({ rotateEvery }: Properties) => (rotateEvery === undefined ? [] : ["nextRotationAt"]);

/** Refreshed outputs without what is added to those of an earlier version. */
function withoutAdded(read: Properties, saved: Properties, inputs: Properties): Properties {
  const added = Object.keys(read).filter((name) => !(name in saved));
  assert.deepEqual(added, addedOutputs(inputs));
  return Object.fromEntries(Object.entries(read).filter(([name]) => name in saved));
}

const all = resourcesIn(stack.stateAt({ url: "http://127.0.0.1", username: "owner@example.com" }));
const custom = all.filter(({ id }) => id !== "");

describe("A stack that the native plugin of an earlier commit saved", () => {
  let platform: Platform;
  beforeEach(async () => {
    platform = await startPlatform(stack.platformOptions);
  });
  afterEach(() => platform.close());

  const savedOf = (wanted: string) =>
    resourcesIn(stack.stateAt(platform)).find(({ urn }) => urn === wanted) ?? assert.fail(wanted);

  it("has a resource of each type", () => {
    const types = [...new Set(all.map(({ type }) => type))].sort();
    assert.deepEqual(types, [
      "FlowControlLimits",
      "FlowControlReset",
      "PasswordRotation",
      "PasswordRotationFleet",
      "PasswordRotationShard",
      "PasswordVerification",
      "PasswordVerificationTargets",
    ]);
  });

  for (const { type, urn, id } of custom) {
    const name = `${type} ${urn.split("::").at(-1)}`;
    if (type === "PasswordRotation" && unconfirmedIds.includes(id)) {
      for (const path of ["none", databasePath]) {
        it(`resets ${name} once, whose last reset was not confirmed, with databasePath ${path}`, async () => {
          const plugin = Plugin.for(platform, { databasePath: path });
          const { inputs, outputs } = savedOf(urn);
          assert.deepEqual(reveal((await plugin.read(urn, id, outputs, inputs)).outputs), outputs);
          assert.equal((await plugin.diff(urn, id, outputs, inputs)).changes, true);
          assert.deepEqual(resetIds(platform), []);
          const { outputs: confirmed } = await plugin.change(urn, id, outputs, inputs);
          assert.equal((await plugin.diff(urn, id, confirmed, inputs)).changes, false);
          assert.deepEqual(resetIds(platform), [id]);
        });
      }
      continue;
    }

    it(`leaves ${name} unchanged`, async () => {
      const plugin = Plugin.for(platform);
      const { inputs, outputs } = savedOf(urn);
      assert.deepEqual(await plugin.check(urn, inputs), []);
      assert.deepEqual(await plugin.diff(urn, id, outputs, inputs, inputs), { changes: false, replaces: [] });
      assert.equal(platform.requests.length, 0);
      const { outputs: read } = await plugin.read(urn, id, outputs, inputs);
      assert.deepEqual(withoutAdded(reveal(read) as Properties, outputs, inputs), outputs);
      assert.deepEqual(await plugin.diff(urn, id, read, inputs, inputs), { changes: false, replaces: [] });
      assert.deepEqual(methodsOf(platform), type === "FlowControlLimits" ? ["GET"] : []);
      assert.deepEqual(plugin.said, []);
    });

    it(`keeps ${name} if the platform shows the same, or reads what is missing`, async () => {
      const plugin = Plugin.for(platform, { databasePath });
      const { inputs, outputs } = savedOf(urn);
      const { changes } = await plugin.diff(urn, id, outputs, inputs);
      const isOpen = JSON.stringify(outputs).includes("baseline");
      assert.equal(changes, isOpen);
      const { outputs: read } = await plugin.read(urn, id, outputs, inputs);
      if (isOpen) {
        const { outputs: updated } = await plugin.change(urn, id, outputs, inputs);
        const database = type === "PasswordRotation" ? id : "fleet-d";
        for (const text of [read, updated].map((one) => JSON.stringify(one))) {
          assert.ok(text.includes(platform.database(database).password));
          assert.ok(!text.includes("baseline"));
        }
      } else if (id === "adopted") {
        assert.equal(reveal(read["password"]), platform.database(id).password);
      } else {
        assert.deepEqual(withoutAdded(opened(read), opened(outputs), inputs), opened(outputs));
      }
      assert.equal((await plugin.diff(urn, id, read, inputs)).changes, false);
      assert.ok(!methodsOf(platform).includes("POST"));
    });
  }

  it("leaves the children of components unchanged", async () => {
    const saved = resourcesIn(stack.stateAt(platform)).filter(({ id }) => id !== "");
    const states = new Map(saved.map(({ type, urn, outputs }) => [urnOf(type, urn.split("::").at(-1)), outputs]));
    const run = new PluginRun(Plugin.for(platform), states);
    const databases = { a: { databaseId: "fleet-a" }, b: { databaseId: "fleet-b", version: 2 } };
    const { urn } = await run.construct("PasswordRotationFleet", "fleet", {
      databases,
      version: 1,
      includeRecords: true,
    });
    await run.construct("PasswordVerification", "fleet", { fleet: reference(urn) });
    const plain = { c: { databaseId: "fleet-c" }, d: { databaseId: "fleet-d" } };
    await run.construct("PasswordRotationFleet", "plain", { databases: plain, version: 2 });
    assert.equal(platform.requests.length, 0);
  });
});
