import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { Host } from "../../support/host";
import { configurationFor, counterReset, rotation } from "../../support/resources";
import { expectKind } from "../../support/results";
import { type Properties, revealed, unknown } from "../../support/wire";

const id = "db-quickstart";

const unknownInputs: [name: string, inputs: Properties][] = [
  ["databaseId", rotation(unknown)],
  ["version", rotation(id, { version: unknown })],
  ["triggers", rotation(id, { triggers: unknown })],
  ["one trigger", rotation(id, { triggers: { image: unknown } })],
  ["rotateEvery", rotation(id, { rotateEvery: unknown })],
  ["initialRotation", rotation(id, { initialRotation: unknown })],
  ["owner", rotation(id, { owner: unknown })],
  ["flowControlKey", counterReset(unknown)],
  ["version of a counter reset", counterReset("orders", { version: unknown })],
];

describe("provider host: values that are not known yet", () => {
  let platform: Platform;
  let host: Host;
  before(async () => {
    platform = await startPlatform();
    host = await Host.start({ config: configurationFor(platform) });
  });
  after(async () => {
    await host.stop();
    await platform.close();
  });

  for (const [name, inputs] of unknownInputs) {
    it(`check lets an unknown ${name} pass, and gives it back`, async () => {
      const checked = await host.check(inputs);
      assert.deepEqual(checked.failures, []);
      assert.deepEqual(checked.inputs, inputs);
    });
  }

  it("check still refuses what is known and wrong", async () => {
    const { failures } = await host.check(rotation(unknown, { rotateEvery: "soon" }));
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.reason ?? "", /^rotateEvery cannot be used/);
  });

  it("diff says that an unknown trigger may change something, and sends nothing", async () => {
    const outs = revealed(expectKind("done", await host.create(rotation(id, { version: "1" }))).outs);
    const sent = platform.requests.length;
    for (const inputs of [rotation(unknown, { version: "1" }), rotation(id, { version: unknown })]) {
      assert.deepEqual(await host.diff(id, outs, inputs), { changes: "some", replaces: [] });
    }
    assert.equal((await host.diff(id, outs, rotation(id, { version: "1", initialRotation: unknown }))).changes, "none");
    assert.equal(platform.requests.length, sent);
  });
});
