import assert from "node:assert/strict";
import { type PlatformOptions } from "../../local/index";
import {
  type Engine,
  fails,
  resourceNamed,
  type Result,
  type StateResource,
  succeeds,
  valuesOf,
} from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";

/** A program with one fleet of the given arguments. */
function fleetOf(args: string, { more = "", name = "caches", options = {} } = {}): string {
  return `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const ids = (count) => Array.from({ length: count }, (_, nth) => "db-" + nth);
const named = (count, more = {}) => ({ ...Object.fromEntries(ids(count).map((id) => ["the " + id, id])), ...more });
const own = { "the db-7": { databaseId: "db-7", version: 2 } };
const fleet = new PasswordRotationFleet("${name}", { ${args} }, ${JSON.stringify(options)});
const summary = fleet.databases.apply((databases) => Object.values(databases).map(({ outcome }) => outcome));
exports.outcomes = summary.apply((all) => Object.fromEntries(all.map((one) => [one, all.filter((other) => other === one).length])));
exports.passwords = fleet.credentials.apply((credentials) => Object.values(credentials).map(({ password }) => password));
exports.failed = fleet.failed;
${more}`;
}

/** A resource that uses the fleet's outputs. */
const consuming = `
const provider = {
  create: async (inputs) => ({ id: "consumer", outs: inputs }),
  update: async (id, olds, news) => ({ outs: news }),
};
class Consumer extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
exports.consumed = new Consumer("consumer", { failed: fleet.failed }).failed;`;

const databases = (count: number): string[] => Array.from({ length: count }, (_, nth) => `db-${nth}`);
const pathOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;

/** A fixture that counts requests. @param count how many databases `db-…` the platform has */
async function fleetFixture(engine: Engine, source: string, count: number, options: PlatformOptions = {}) {
  const made = await fixture(engine, source, { databases: databases(count), ...options });
  let before = 0;
  const assertSent = (expected: number, what?: string): void => {
    const { length } = made.platform.requests;
    assert.equal(length - before, expected, what);
    before = length;
  };
  return { ...made, assertSent };
}

const outcomesOf = (result: Result): unknown => valuesOf(result)["outcomes"];
const isShard = ({ urn }: StateResource): boolean => urn.includes(":PasswordRotationShard::");

onEngines("PasswordRotationFleet", (engine) => {
  it("resets what is requested, once, whatever the databases are called and in whatever order", async () => {
    const { platform, project, stack, assertSent } = await fleetFixture(
      engine,
      fleetOf("databases: ids(40), version: 1"),
      50,
      { credentials: "always" },
    );
    await succeeds(stack.preview());
    assertSent(0, "preview");
    const first = await succeeds(stack.up());
    assert.deepEqual(outcomesOf(first), { reset: 40 });
    assertSent(40);
    const { passwords, outcomes } = first.outputs;
    const expected = databases(40).map((id) => platform.database(id).password);
    assert.deepEqual([...(passwords?.value as string[])].sort(), expected.sort());
    assert.deepEqual(
      { passwords: passwords?.secret, outcomes: outcomes?.secret },
      { passwords: true, outcomes: false },
    );

    for (const { args, sent } of [
      { args: "databases: ids(40), version: 1", sent: 0 },
      { args: 'databases: ids(40), version: "1", triggers: {}', sent: 0 },
      { args: "databases: ids(40).reverse(), version: 1", sent: 0 },
      { args: "databases: named(40), version: 1", sent: 0 },
      { args: "databases: named(40, own), version: 1", sent: 1 },
      { args: "databases: named(40, own), version: 2", sent: 40 },
      { args: "databases: named(43, own), version: 2", sent: 3 },
      { args: "databases: named(39, own), version: 2", sent: 0 },
      // db-39 was removed from the fleet: it is new again.
      { args: "databases: named(40, own), version: 2", sent: 1 },
      { args: 'databases: ids(40).filter((id) => id !== "db-7")', sent: 0 },
    ]) {
      project.rewrite(fleetOf(args));
      await succeeds(stack.up());
      assertSent(sent, args);
    }
    assert.equal(platform.database("db-7").resets, 3);
    for (const { name, aliases, count } of [
      { name: "stores", aliases: [{ name: "caches" }], count: 0 },
      { name: "others", aliases: [], count: 39 },
    ]) {
      project.rewrite(fleetOf('databases: ids(40).filter((id) => id !== "db-7")', { name, options: { aliases } }));
      await succeeds(stack.up());
      assertSent(count, `the fleet is now called ${name}`);
    }
    await succeeds(stack.refresh());
    await succeeds(stack.destroy());
    assertSent(0, "refresh and destroy");
  });

  it("sends one request to reset one of 1,000, and none when there is nothing to do", async () => {
    const source = (version: number) =>
      fleetOf(`databases: { ...named(1000), one: { databaseId: "single", version: ${version} } }`);
    const { project, stack, assertSent } = await fleetFixture(engine, source(1), 0, {
      databases: [...databases(1_000), "single"],
    });
    assert.deepEqual(outcomesOf(await succeeds(stack.up())), { reset: 1_001 });
    assertSent(1_001);
    assert.equal((await stack.up()).changes["update"], undefined);
    assertSent(0);
    project.rewrite(source(2));
    assert.match((await stack.preview()).printed, /"caches" resets 1 .*: "single"/);
    assert.equal((await succeeds(stack.up())).changes["update"], 1);
    assertSent(1);
    const { resources = [] } = (await stack.exportState()).deployment;
    assert.equal(resources.filter(isShard).length, 16);
  });

  it("saves the others if some fail, fails the run by name, and resets only those in the next run", async () => {
    const source = fleetOf("databases: named(30), version: 1", { more: consuming });
    const { platform, stack, assertSent } = await fleetFixture(engine, source, 30, { credentials: "always" });
    platform.failNext({ path: pathOf("db-3"), status: 422, body: `{"error":"id: is locked"}` });
    platform.failNext({ path: pathOf("db-17"), dropConnection: "after-apply" });
    await fails(
      stack.up(),
      /"caches": 2 of 30 databases failed:/,
      /the db-3: .*422: id: is locked.*not changed/,
      /the db-17: .*may have been changed/,
    );
    assertSent(30);
    const state = await stack.exportState();
    assert.ok(state.deployment.resources?.every(({ initErrors }) => (initErrors ?? []).length === 0));
    const consumed = resourceNamed(state, "consumer")?.outputs?.["failed"];
    assert.deepEqual(consumed, ["the db-3", "the db-17"], "what uses the fleet's outputs is not held back");
    await succeeds(stack.preview());
    assertSent(0);
    const fixed = valuesOf(await succeeds(stack.up()));
    assertSent(2);
    const { outcomes, failed } = fixed;
    assert.deepEqual(
      { outcomes, failed, consumed: fixed["consumed"] },
      { outcomes: { reset: 30 }, failed: [], consumed: [] },
    );
    assert.ok((fixed["passwords"] as string[]).includes(platform.database("db-17").password));
    assert.equal((await stack.up()).changes["update"], undefined);
    assertSent(0);
  });
});
