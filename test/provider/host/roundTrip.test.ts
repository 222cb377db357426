import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { Host } from "../../support/host";
import { configurationFor, counterReset, rotation } from "../../support/resources";
import { expectKind } from "../../support/results";
import { type Properties, revealed, secretNames } from "../../support/wire";

const id = "db-quickstart";
const secrets = ["appliedTrigger", "otherFields", "password", "readOnlyRestToken", "restToken"];

describe("provider host: a resource's life", () => {
  let platform: Platform;
  let host: Host;
  before(async () => {
    const databases = [{ database_id: id, db_request_limit: 9223372036854775808n, unheard_of: 7 }];
    platform = await startPlatform({ databases, credentialsInResponse: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    host = await Host.start({ config: configurationFor(platform) });
  });
  afterEach(() => host.stop());
  after(() => platform.close());

  it("checks without a request", async () => {
    const { failures, inputs } = await host.check(rotation(id, { version: "1" }));
    assert.deepEqual(failures, []);
    assert.deepEqual(inputs, rotation(id, { version: "1" }));
    assert.equal(platform.requests.length, 0);
  });

  it("creates with one reset, and saves what the platform now has", async () => {
    const { outs } = expectKind("done", await host.create(rotation(id, { version: "1" })));
    assert.equal(platform.resetCount, 1);
    const plain = revealed(outs);
    assert.equal(plain.password, platform.database(id).password);
    assert.equal(plain.restToken, platform.database(id).restToken);
    assert.equal(plain.outcome, "reset");
    assert.equal(plain.rotationReason, "created");
    assert.equal(plain.rotationCount, 1);
    assert.equal((plain.record as Properties).databaseId, id);
    assert.deepEqual(plain.exactIntegers, { dbRequestLimit: "9223372036854775808" });
    assert.deepEqual(JSON.parse(plain.otherFields as string), { unheard_of: 7 });
    assert.deepEqual(plain.problems, []);
    assert.equal(plain.__provider, rotation(id).__provider);
  });

  it("marks every secret each time: on create, update, an update that keeps, read", async () => {
    const created = expectKind("done", await host.create(rotation(id, { version: "1" })));
    const updated = expectKind("done", await host.update(id, revealed(created.outs), rotation(id, { version: "2" })));
    const kept = expectKind("done", await host.update(id, revealed(updated.outs), rotation(id, { version: "2" })));
    const read = await host.read(id, revealed(kept.outs));
    for (const { outs } of [created, updated, kept, read]) assert.deepEqual(secretNames(outs), secrets);
    assert.equal(platform.resetCount, 2);
    assert.deepEqual(revealed(read.outs), revealed(updated.outs));
  });

  it("tells a changed trigger from anything else", async () => {
    const outs = revealed(expectKind("done", await host.create(rotation(id, { version: 1 }))).outs);
    const changesWith = async (more: Properties) => (await host.diff(id, outs, rotation(id, more))).changes;
    assert.equal(await changesWith({ version: 1 }), "none");
    assert.equal(await changesWith({ version: "1" }), "none");
    assert.equal(await changesWith({}), "none");
    assert.equal(await changesWith({ version: 1, initialRotation: false }), "none");
    assert.equal(await changesWith({ version: 2 }), "some");
    assert.equal(await changesWith({ version: 1, triggers: { a: "b" } }), "some");
    assert.deepEqual(await host.diff(id, outs, rotation("another")), { changes: "some", replaces: ["databaseId"] });
    assert.equal(platform.resetCount, 1);
  });

  it("updates with one reset, and counts it", async () => {
    const created = revealed(expectKind("done", await host.create(rotation(id, { version: "1" }))).outs);
    const updated = revealed(expectKind("done", await host.update(id, created, rotation(id, { version: "2" }))).outs);
    assert.equal(updated.rotationCount, 2);
    assert.equal(updated.rotationReason, "trigger");
    assert.equal(updated.password, platform.database(id).password);
    assert.notEqual(updated.password, created.password);
  });

  it("reads and deletes without a request", async () => {
    const { outs } = expectKind("done", await host.create(rotation(id)));
    const before = platform.requests.length;
    const read = await host.read(id, revealed(outs));
    assert.equal(read.id, id);
    assert.deepEqual(revealed(read.outs), revealed(outs));
    await host.delete(id, revealed(outs));
    assert.equal(platform.requests.length, before);
  });

  it("resets the counters of a flow-control key, and shows them before and after", async () => {
    const { outs } = expectKind("done", await host.create(counterReset("orders", { version: "1" })));
    const { before, after, resetCount } = outs as Record<string, Properties>;
    assert.equal(resetCount, 1);
    assert.notEqual(before?.parallelismCount, 0);
    assert.equal(after?.parallelismCount, 0);
    assert.deepEqual(secretNames(outs), ["appliedTrigger"]);
    const posts = () => platform.requests.filter(({ method }) => method === "POST").length;
    assert.equal(posts(), 1);
    expectKind("done", await host.update("orders", revealed(outs), counterReset("orders", { version: "1" })));
    assert.equal(posts(), 1);
    expectKind("done", await host.update("orders", revealed(outs), counterReset("orders", { version: "2" })));
    assert.equal(posts(), 2);
  });
});
