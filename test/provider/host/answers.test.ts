import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { Host } from "../../support/host";
import { configurationFor, rotation } from "../../support/resources";
import { expectKind } from "../../support/results";
import { revealed, secretNames } from "../../support/wire";

const id = "db-quickstart";

describe("provider host: answers", () => {
  let platform: Platform;
  let host: Host;
  before(async () => (platform = await startPlatform({ credentialsInResponse: "always" })));
  beforeEach(async () => {
    await platform.reset();
    host = await Host.start({ config: configurationFor(platform) });
  });
  afterEach(() => host.stop());
  after(() => platform.close());

  it("an init error carries the id, __provider and marked secrets, on create and on update", async () => {
    platform.failNext({ dropConnection: "after-apply" });
    const created = expectKind("init error", await host.create(rotation(id, { version: "1" })));
    assert.equal(created.id, id);
    assert.equal(created.outs.__provider, rotation(id).__provider);
    assert.equal(created.outs.outcome, "unknown");
    assert.deepEqual(secretNames(created.outs), ["attemptedTrigger"]);
    assert.equal(created.reasons.length, 1);
    assert.equal(created.reasons[0], created.message);

    await host.stop();
    host = await Host.start({ config: configurationFor(platform) });
    const done = expectKind("done", await host.update(id, revealed(created.outs), rotation(id, { version: "1" })));
    const outs = revealed(done.outs);
    platform.failNext({ dropConnection: "after-apply" });
    const updated = expectKind("init error", await host.update(id, outs, rotation(id, { version: "2" })));
    assert.equal(updated.outs.__provider, rotation(id).__provider);
    assert.equal(revealed(updated.outs).password, outs.password, "the former outputs are kept");
    assert.deepEqual(secretNames(updated.outs), [...secretNames(done.outs), "attemptedTrigger"].sort());
  });

  it("an init error too large for its trailer is saved as done, and said in the diagnostics", async () => {
    const created = expectKind("done", await host.create(rotation(id, { version: "1" })));
    const outs = { ...revealed(created.outs), otherFields: "x".repeat(40_000) };
    platform.failNext({ dropConnection: "after-apply" });
    const result = expectKind("done", await host.update(id, outs, rotation(id, { version: "2" })));
    assert.equal(result.outs.outcome, "unknown");
    assert.match(host.stderr, /may have been changed/);
  });

  it("holds neither undefined nor a bigint, whatever the platform sent", async () => {
    platform.failNext({ body: `{"database_id":"${id}","port":18446744073709551616,"a":null,"b":[1e999]}` });
    const { outs } = expectKind("done", await host.create(rotation(id)));
    assert.deepEqual(outs.exactIntegers, { port: "18446744073709551616" });
  });

  it("repeats the first result for a call that the engine repeats, and sends nothing", async () => {
    platform.failNext({ dropConnection: "after-apply" });
    const first = await host.create(rotation(id, { version: "1" }));
    assert.deepEqual(await host.create(rotation(id, { version: "1" })), first);
    assert.equal(platform.resetCount, 1);
  });
});
