import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { Host, providerTexts } from "../../../support/host";
import { configurationFor, counterReset, keyLimits, rotation } from "../../../support/resources";
import { assertFields, expectKind } from "../../../support/results";
import { type Properties, revealed, secretNames, unknown } from "../../../support/wire";

const id = "db-quickstart";
const secrets = ["account", "appliedTrigger", "otherFields", "password", "readOnlyRestToken", "restToken"];
const [v1, v2] = [rotation(id, { version: "1" }), rotation(id, { version: "2" })];

describe("provider host", () => {
  let platform: Platform;
  let host: Host;
  const start = async () => (host = await Host.start({ config: configurationFor(platform) }));
  before(async () => {
    const databases = [{ database_id: id, db_request_limit: 9223372036854775808n, unheard_of: 7 }];
    platform = await startPlatform({ databases, credentials: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    await start();
  });
  afterEach(() => host.stop());
  after(() => platform.close());

  const create = async (inputs: Properties) => expectKind("done", await host.create(inputs)).outs;
  const update = async (outs: Properties, inputs: Properties, of = id) =>
    expectKind("done", await host.update(of, revealed(outs), inputs)).outs;

  it("creates with one reset, and saves the new state of the platform", async () => {
    const outs = revealed(await create(v1));
    assert.equal(platform.resetCount, 1);
    const { password, restToken } = platform.database(id);
    assertFields(outs, { password, restToken, __provider: v1.__provider });
    assertFields(outs, { outcome: "reset", rotationReason: "created", rotationCount: 1 });
    assertFields(outs, { problems: [], exactIntegers: { dbRequestLimit: "9223372036854775808" } });
    assert.equal((outs.record as Properties).databaseId, id);
    assert.deepEqual(JSON.parse(outs.otherFields as string), { unheard_of: 7 });
  });

  it("marks every secret on create, update, an update that keeps the password, and read", async () => {
    const created = await create(v1);
    const updated = await update(created, v2);
    const kept = await update(updated, v2);
    const read = await host.read(id, revealed(kept));
    assert.deepEqual(secretNames(created), secrets);
    const replaced = [...secrets, "formerMarks"].sort();
    for (const outs of [updated, kept, read.outs]) assert.deepEqual(secretNames(outs), replaced);
    assert.equal(platform.resetCount, 2);
    assert.deepEqual(revealed(read.outs), revealed(updated));
  });

  it("warns of a saved state of another account, and sends nothing", async () => {
    const outs = revealed(await create(v1));
    await host.stop();
    host = await Host.start({ config: { ...configurationFor(platform), "rekey:username": "other@example.com" } });
    assert.deepEqual(await host.diff(id, outs, v1), { changes: "none", replaces: [] });
    assert.match(host.stderr, /^warning: Database "db-quickstart" was last reset .* another baseUrl or username/m);
    assert.equal(platform.requests.length, 1);
  });

  const target = { databaseId: id, name: id, rotationCount: 1 };
  const fleet = { fleet: "urn:pulumi:test::test::rekey:index:PasswordRotationFleet::fleet", shard: "00" };
  const { passwordRotationShard, passwordVerification } = providerTexts;
  const ofEachType: Readonly<Record<string, { of: string; inputs: Properties; changed?: Properties }>> = {
    PasswordRotation: { of: id, inputs: v1, changed: v2 },
    PasswordRotationShard: { of: "00", inputs: { ...fleet, databases: [id], __provider: passwordRotationShard } },
    PasswordVerification: {
      of: id,
      inputs: { subject: id, targets: JSON.stringify([target]), __provider: passwordVerification },
    },
    FlowControlReset: { of: "orders", inputs: counterReset("orders"), changed: counterReset("orders", { version: 2 }) },
    FlowControlLimits: {
      of: "orders",
      inputs: keyLimits("orders", { parallelism: 3 }),
      changed: keyLimits("orders", { parallelism: 4 }),
    },
  };
  for (const [type, { of, inputs, changed }] of Object.entries(ofEachType)) {
    it(`updates a ${type} of the plugin once without a request, so that it can be read and removed`, async () => {
      const created = await create(inputs);
      const { __provider, ...ofPlugin } = revealed(created);
      const before = platform.requests.length;
      assert.deepEqual(await host.diff(of, ofPlugin, inputs), { changes: "some", replaces: [] });
      const outs = await update(ofPlugin, inputs, of);
      assert.deepEqual(outs, created);
      assert.equal((await host.diff(of, revealed(outs), inputs)).changes, "none");
      assert.equal(platform.requests.length, before);
    });
    if (changed === undefined) continue;
    it(`changes a ${type} of the plugin as planned`, async () => {
      const { __provider, ...ofPlugin } = revealed(await create(inputs));
      const sent = () => platform.requests.filter(({ method }) => method === "POST").length;
      const before = sent();
      const outs = revealed(await update(ofPlugin, changed, of));
      assert.equal(outs.__provider, __provider);
      assert.equal(sent(), before + 1);
      assert.equal((await host.diff(of, outs, changed)).changes, "none");
    });
  }

  it("accepts and returns unknown inputs, and still refuses those that are known and wrong", async () => {
    for (const inputs of [
      rotation(unknown, { version: unknown, initialRotation: unknown, owner: unknown }),
      rotation(id, { triggers: { image: unknown } }),
      counterReset(unknown, { version: unknown }),
    ]) {
      assert.deepEqual(await host.check(inputs), { failures: [], inputs });
    }
    const { failures } = await host.check(rotation(unknown, { rotateEvery: "soon" }));
    assert.match(failures.map(({ reason }) => reason).join("\n"), /^rotateEvery .*$/);
  });
});
