import assert from "node:assert/strict";
import { type Platform } from "../../local/index";
import { leaksOf } from "../support/canaries";
import { fails, resourceNamed, type Result, type StateResource, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

/** A program with one fleet of the given arguments. */
function fleetOf(args: string, more = ""): string {
  return `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const ids = (count) => Array.from({ length: count }, (_, nth) => "db-" + nth);
const named = (count, more = {}) => ({ ...Object.fromEntries(ids(count).map((id) => ["the " + id, id])), ...more });
const fleet = new PasswordRotationFleet("caches", { ${args} });
const summary = fleet.databases.apply((databases) => Object.values(databases).map(({ outcome }) => outcome));
exports.outcomes = summary.apply((all) => Object.fromEntries(all.map((one) => [one, all.filter((other) => other === one).length])));
exports.names = fleet.databases.apply((databases) => Object.keys(databases).slice(0, 2));
exports.passwords = fleet.credentials.apply((credentials) => Object.values(credentials).map(({ password }) => password));
exports.failed = fleet.failed;
exports.last = fleet.lastRotated;
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

/** How many requests came since the last time. */
function counter(platform: Platform): () => number {
  let before = 0;
  return () => {
    const since = platform.requests.length - before;
    before = platform.requests.length;
    return since;
  };
}

const outcomesOf = ({ outputs }: Result): unknown => outputs["outcomes"]?.value;
const isShard = ({ urn }: StateResource): boolean => urn.includes(":PasswordRotationShard::");

onEngines("PasswordRotationFleet", (engine) => {
  it("resets what is asked for, once, whatever the databases are called and wherever they stand", async () => {
    const { platform, project, stack } = await scene(engine, fleetOf("databases: ids(40), version: 1"), {
      databases: databases(50),
      credentialsInResponse: "always",
    });
    const since = counter(platform);
    await succeeds(stack.preview());
    assert.equal(since(), 0, "preview");
    const first = await stack.up();
    assert.deepEqual([outcomesOf(first), since()], [{ reset: 40 }, 40], first.printed);
    const expected = databases(40).map((id) => platform.database(id).password);
    assert.deepEqual([...(first.outputs["passwords"]?.value as string[])].sort(), expected.sort());
    assert.equal(first.outputs["passwords"]?.secret, true);
    assert.equal(first.outputs["outcomes"]?.secret, false);

    for (const [what, args, requests] of [
      ["nothing to do", "databases: ids(40), version: 1", 0],
      ["the version written otherwise", `databases: ids(40), version: "1", triggers: {}`, 0],
      ["another order", "databases: ids(40).reverse(), version: 1", 0],
      ["names", "databases: named(40), version: 1", 0],
      [
        "another version for one",
        `databases: named(40, { "the db-7": { databaseId: "db-7", version: 2 } }), version: 1`,
        1,
      ],
      [
        "another version for all",
        `databases: named(40, { "the db-7": { databaseId: "db-7", version: 2 } }), version: 2`,
        40,
      ],
      ["three new ones", `databases: named(43, { "the db-7": { databaseId: "db-7", version: 2 } }), version: 2`, 3],
      ["four fewer", `databases: named(39, { "the db-7": { databaseId: "db-7", version: 2 } }), version: 2`, 0],
      [
        "one that was taken out before",
        `databases: named(40, { "the db-7": { databaseId: "db-7", version: 2 } }), version: 2`,
        1,
      ],
      ["no version for all", `databases: ids(40).filter((id) => id !== "db-7")`, 0],
    ] as const) {
      project.rewrite(fleetOf(args));
      await succeeds(stack.up());
      assert.equal(since(), requests, what);
    }
    assert.equal(platform.database("db-7").resets, 3);
    const renamed = `databases: ids(40).filter((id) => id !== "db-7")`;
    for (const [name, aliases, requests] of [
      ["stores", ["caches"], 0],
      ["others", [], 39],
    ] as const) {
      const options = JSON.stringify({ aliases: aliases.map((alias) => ({ name: alias })) });
      project.rewrite(fleetOf(renamed).replace(`"caches", { ${renamed} }`, `"${name}", { ${renamed} }, ${options}`));
      await succeeds(stack.up());
      assert.equal(since(), requests, `the fleet is now called ${name}`);
    }
    await succeeds(stack.refresh());
    await succeeds(stack.destroy());
    assert.equal(since(), 0, "refresh and destroy");
  }).timeout(900_000);

  it("sends one request to reset one of 1,000, and none when there is nothing to do", async () => {
    const args = (version: number) =>
      `databases: { ...named(1000), one: { databaseId: "single", version: ${version} } }`;
    const { platform, project, stack } = await scene(engine, fleetOf(args(1)), {
      databases: [...databases(1_000), "single"],
    });
    const since = counter(platform);
    const first = await stack.up();
    assert.deepEqual([outcomesOf(first), since()], [{ reset: 1_001 }, 1_001], first.printed.slice(0, 3_000));
    assert.equal((await stack.up()).changes["update"], undefined);
    assert.equal(since(), 0);
    project.rewrite(fleetOf(args(2)));
    const preview = await stack.preview();
    assert.match(
      preview.printed,
      /"caches", shard \d\d, \d+ in all: 1 to be reset because of a changed version or trigger: "single"\./,
    );
    const one = await stack.up();
    assert.deepEqual([since(), one.changes["update"]], [1, 1], one.printed.slice(0, 3_000));
    const { resources = [] } = (await stack.exportState()).deployment;
    assert.equal(resources.filter(isShard).length, 16);
  }).timeout(900_000);

  it("adopts without a reset, and resets each when it is due", async () => {
    const adopting = `databases: ids(5), initialRotation: false`;
    const { platform, project, stack } = await scene(engine, fleetOf(adopting), { databases: databases(6) });
    assert.deepEqual(outcomesOf(await stack.up()), { adopted: 5 });
    project.rewrite(fleetOf(`databases: ids(6), initialRotation: false, version: 1`));
    const up = await stack.up();
    assert.deepEqual([outcomesOf(up), platform.resetCount], [{ reset: 5, adopted: 1 }, 5], up.printed);
  }).timeout(900_000);

  it("saves the others where some fail, fails the run by name, and takes up only those", async () => {
    const source = fleetOf("databases: named(30), version: 1", consuming);
    const { platform, stack } = await scene(engine, source, {
      databases: databases(30),
      credentialsInResponse: "always",
    });
    const since = counter(platform);
    platform.failNext({ path: pathOf("db-3"), status: 422, body: `{"error":"id: is locked"}` });
    platform.failNext({ path: pathOf("db-17"), dropConnection: "after-apply" });
    await fails(
      stack.up(),
      /PasswordRotationFleet "caches": 2 of 30 databases failed:/,
      /the db-3: Could not .*answered 422: id: is locked.* The password was not changed/,
      /the db-17: Could not .*The password may have been changed/,
    );
    assert.equal(since(), 30);
    const state = await stack.exportState();
    assert.ok(state.deployment.resources?.every(({ initErrors }) => (initErrors ?? []).length === 0));
    const consumed = resourceNamed(state, "consumer")?.outputs?.["failed"];
    assert.deepEqual(consumed, ["the db-3", "the db-17"], "what uses the fleet's outputs is not held back");
    assert.equal((await stack.preview()).succeeded, true, "what is to be mended is no error in a preview");
    assert.equal(since(), 0);
    const mended = await stack.up();
    assert.deepEqual([mended.succeeded, since(), outcomesOf(mended)], [true, 2, { reset: 30 }], mended.printed);
    assert.deepEqual([mended.outputs["failed"]?.value, mended.outputs["consumed"]?.value], [[], []]);
    assert.ok((mended.outputs["passwords"]?.value as string[]).includes(platform.database("db-17").password));
    assert.equal((await stack.up()).changes["update"], undefined);
    assert.equal(since(), 0);
  }).timeout(900_000);

  it("is content again when what failed is no longer wanted", async () => {
    const { platform, project, stack } = await scene(engine, fleetOf("databases: ids(3), version: 1"), {
      databases: databases(3),
    });
    await stack.up();
    project.rewrite(fleetOf("databases: ids(3), version: 2"));
    platform.failNext({ path: /reset-password/, status: 403, times: 3 });
    assert.equal((await stack.up()).succeeded, false);
    project.rewrite(fleetOf("databases: ids(3), version: 1"));
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
  }).timeout(900_000);

  it("stops after maxFailures, over all shards, and goes on the next time", async () => {
    const source = fleetOf("databases: ids(60), maxFailures: 3, concurrency: 1");
    const { platform, stack } = await scene(engine, source, { databases: databases(60) });
    const since = counter(platform);
    platform.failNext({ path: /reset-password/, status: 500, times: 3 });
    await fails(stack.up(), /3 of 60 databases failed:[^]* 57 were not tried/);
    assert.equal(since(), 3);
    await succeeds(stack.up());
    assert.equal(since(), 60);
  }).timeout(900_000);

  it("refuses two owners of one database, and sends neither's reset", async () => {
    const { platform, project, stack } = await scene(engine, fleetOf("databases: ids(3)"), { databases: databases(3) });
    const others = `
      new PasswordRotation("one", { databaseId: "db-1" });
      new PasswordRotationFleet("others", { databases: ["db-2"] });`;
    project.rewrite(fleetOf("databases: ids(3)", others));
    for (const operation of [stack.preview, stack.up]) {
      await fails(operation(), /database "db-[12]" is already rotated by (urn:pulumi:|PasswordRotationShard )/);
    }
    assert.deepEqual([platform.database("db-1").resets, platform.database("db-2").resets], [0, 0]);
    project.rewrite(fleetOf(`databases: { a: "x", b: { databaseId: pulumi.output("x") } }`));
    const twice = await stack.preview();
    assert.match(twice.printed, /"caches": databases holds the database "x" twice: it is both "a" and "b"/);
  }).timeout(900_000);

  it("previews versions that are not known yet, and refuses ids that are not", async () => {
    const late = `
      const first = new PasswordRotation("first", { databaseId: "db-0" });
      const version = first.rotatedAt;`;
    const source = `${fleetOf("databases: []")} ${late}
      new PasswordRotationFleet("late", { databases: { a: { databaseId: "db-1", version }, b: "db-2" }, version: 1 });`;
    const { platform, project, stack } = await scene(engine, source, { databases: databases(4) });
    await succeeds(stack.preview());
    assert.equal(platform.requests.length, 0);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
    project.rewrite(`${source} const other = new PasswordRotation("other", { databaseId: "db-3" });
      new PasswordRotationFleet("unknown", { databases: { x: other.rotatedAt } });`);
    await fails(stack.preview(), /PasswordRotationFleet "unknown": databases\["x"\] is not known yet/);
  }).timeout(900_000);

  it("shows no secret in its state, outputs and errors", async () => {
    const version = "canary-version-8d1c";
    const source = fleetOf(
      `databases: pulumi.secret({ a: "db-0", b: { databaseId: "db-1", version: "${version}" }, c: "db-2" }), version: pulumi.secret("${version}")`,
    );
    const { platform, project, stack } = await scene(engine, source, {
      databases: databases(3),
      credentialsInResponse: "always",
      password: "canary-management-77ab",
    });
    const { password: management, queueToken } = platform;
    const canaries: Record<string, string> = { management, queueToken, version };
    const note = (when: string): void => {
      for (const id of databases(3)) {
        const { password, restToken, readOnlyRestToken } = platform.database(id);
        const found = { password, restToken, readOnlyRestToken };
        for (const [name, secret] of Object.entries(found)) canaries[`${when} ${id} ${name}`] = secret;
      }
    };
    const printed = [(await stack.up()).printed];
    note("first");
    const former = platform.database("db-1").password;
    project.rewrite(source.replaceAll(version, `${version}-2`));
    platform.failNext({ path: pathOf("db-1"), status: 409, body: { error: `${management} and ${former}` } });
    const failing = await stack.up();
    note("second");
    assert.match(failing.printed, /answered 409: \[message not shown: it may contain a secret\]/);
    printed.push(failing.printed, JSON.stringify(await stack.exportState()));
    assert.ok(printed.join().includes("db-1"));
    assert.deepEqual(leaksOf(printed.join("\n"), canaries), []);
  }).timeout(900_000);
});
