import assert from "node:assert/strict";
import { type Fault, type Platform } from "../../local/index";
import { fails, plainOutputs, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { requestsOf } from "../support/hostedRotation";
import { onEngines, onEveryEngine, fixture } from "../support/onEngines";
import { databasePath } from "../support/resources";

/** Rotations by the ids of their databases, each with a consumer that stores its password. */
const rotations = (databases: Readonly<Record<string, string>>, more = "") => `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const provider = {
  create: async (inputs) => ({ id: "consumer", outs: inputs }),
  update: async (id, olds, news) => ({ outs: news }),
};
class Consumer extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props, { additionalSecretOutputs: ["password"] }); }
}
for (const [databaseId, args] of Object.entries({ ${Object.entries(databases)
  .map(([id, args]) => `"${id}": { ${args} }`)
  .join(", ")} })) {
  const rotation = new PasswordRotation(databaseId, { databaseId, ...args });
  exports[databaseId] = new Consumer("consumer of " + databaseId, { password: rotation.password }).password;
  ${more}
}`;

/** Faults of the next reset of each database. */
function failResets(platform: Platform, faults: Readonly<Record<string, Fault>>): void {
  for (const [id, fault] of Object.entries(faults)) {
    platform.failNext({ ...fault, path: `/v2/keyvalue/reset-password/${id}` });
  }
}

function requestCounts(platform: Platform, ids: readonly string[]) {
  const counts = (id: string) => ({ posts: requestsOf(platform, id, "POST"), gets: requestsOf(platform, id, "GET") });
  return Object.fromEntries(ids.map((id) => [id, counts(id)]));
}

function passwordsOf(platform: Platform, ids: readonly string[]) {
  return Object.fromEntries(ids.map((id) => [id, platform.database(id).password]));
}

onEveryEngine("Reading", (engine) => {
  const readable = async (source: string, databases: readonly string[], deadlineSeconds: number) => {
    const made = await fixture(engine, source, { databases, credentials: "read", databasePath });
    await made.stack.setConfig("rekey:databasePath", databasePath);
    await made.stack.setConfig("rekey:deadlineSeconds", String(deadlineSeconds));
    return made;
  };

  it("one up is enough if each reset was applied: consumers have the platform's passwords", async () => {
    const ids = ["plain", "cut", "late"];
    const program = (version: number) =>
      rotations({
        ...Object.fromEntries(ids.map((id) => [id, `version: ${version}`])),
        adopted: "initialRotation: false",
      });
    const { platform, project, stack } = await readable(program(1), [...ids, "adopted"], 5);
    await succeeds(stack.preview());
    assert.equal(platform.requests.length, 0);
    const all = [...ids, "adopted"];
    assert.deepEqual(valuesOf(await succeeds(stack.up())), passwordsOf(platform, all));
    const twice = { posts: 1, gets: 2 };
    assert.deepEqual(requestCounts(platform, all), {
      plain: twice,
      cut: twice,
      late: twice,
      adopted: { posts: 0, gets: 1 },
    });
    project.rewrite(program(2));
    failResets(platform, {
      cut: { dropConnection: "after-apply" },
      late: { dropConnection: "after-apply", applyAfterMs: 3_000 },
    });
    const second = await succeeds(stack.up());
    assert.deepEqual(valuesOf(second), passwordsOf(platform, all));
    assert.match(second.printed, /"cut" was not confirmed .* but a read shows other credentials than before it/);
    const { late, ...counts } = requestCounts(platform, all);
    const total = { posts: 2, gets: 4 };
    assert.deepEqual(counts, { plain: total, cut: total, adopted: { posts: 0, gets: 1 } });
    assert.equal(late?.posts, 2);
    const { length } = platform.requests;
    await succeeds(stack.preview());
    assert.equal((await succeeds(stack.up())).changes["update"], undefined);
    await succeeds(stack.destroy());
    assert.equal(platform.requests.length, length);
  });

  it("a reset that was not applied is sent once more by the next up", async () => {
    const { platform, stack } = await readable(rotations({ cut: "version: 1" }), ["cut"], 1);
    failResets(platform, { cut: { dropConnection: "before-apply" } });
    await fails(stack.up(), /may have been changed.*The next `up` reads the database first/s);
    assert.equal(requestsOf(platform, "cut", "POST"), 1);
    await succeeds(stack.refresh());
    assert.equal(requestsOf(platform, "cut", "POST"), 1);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), passwordsOf(platform, ["cut"]));
    assert.equal(requestsOf(platform, "cut", "POST"), 2);
  });

  it("a change outside reaches consumers by refresh and up, and by up --refresh; it resets nothing", async () => {
    const source = rotations({ cache: "version: 1", adopted: "initialRotation: false" });
    const { platform, stack } = await readable(source, ["cache", "adopted"], 5);
    await succeeds(stack.up());
    const { length } = platform.requests;
    const change = async () => {
      await platform.changePassword("cache");
      platform.changeRecord("cache", { type: "pro" });
    };
    await change();
    const { printed } = await succeeds(stack.refresh());
    assert.match(printed, /"cache" was changed outside of Rekey: password, restToken, readOnlyRestToken, type\./);
    assert.doesNotMatch(printed, /"adopted"/);
    const saved = plainOutputs(resourceNamed(await stack.exportState(true), "cache") ?? assert.fail());
    assert.equal(saved["password"], platform.database("cache").password);
    assert.deepEqual(valuesOf(await succeeds(stack.up())), passwordsOf(platform, ["cache", "adopted"]));
    assert.equal(platform.requests.length, length + 2);
    await change();
    const refreshed = await succeeds(stack.up({ refresh: true }));
    assert.deepEqual(valuesOf(refreshed), passwordsOf(platform, ["cache", "adopted"]));
    assert.equal(platform.requests.length, length + 4);
    assert.equal(platform.resetCount, 1);
  });

  it("a verification tries what was read: at the adoption, and after a change outside", async () => {
    const verified = "exports.verified = new PasswordVerification(databaseId, { rotation }).verified;";
    const { platform, stack } = await readable(rotations({ cache: "initialRotation: false" }, verified), ["cache"], 5);
    assert.equal(valuesOf(await succeeds(stack.up()))["verified"], true);
    await platform.changePassword("cache");
    assert.equal(valuesOf(await succeeds(stack.up({ refresh: true })))["verified"], true);
    assert.equal(platform.resetCount, 0);
  });
});

const fleetIds = Array.from({ length: 200 }, (_, nth) => `db-${nth}`);
const fleet = `
const { PasswordRotationFleet } = require("pulumi-rekey");
const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(fleetIds)}, version: 1 });
exports.passwords = fleet.credentials.apply((all) => Object.fromEntries(Object.entries(all).map(([id, { password }]) => [id, password])));`;

onEngines("Reading a fleet of 200", (engine) => {
  for (const { credentials, gets } of [
    { credentials: "always", gets: 200 + 60 },
    { credentials: "read", gets: 200 + 200 },
  ] as const) {
    it(`it is whole after one up if 30 % of the responses are lost after the reset: ${credentials}`, async () => {
      let concurrent = 0;
      const { platform, stack } = await fixture(engine, fleet, {
        databases: fleetIds,
        credentials,
        databasePath,
        onRequest: () => {
          const underWay = platform.requests.filter(({ status }) => status === undefined).length;
          concurrent = Math.max(concurrent, underWay + 1);
        },
      });
      await stack.setConfig("rekey:databasePath", databasePath);
      const lost = fleetIds.filter((_, nth) => nth % 10 < 3);
      failResets(platform, Object.fromEntries(lost.map((id) => [id, { dropConnection: "after-apply" }])));
      const up = await succeeds(stack.up());
      const counts = {
        posts: platform.requests.filter(({ method }) => method === "POST").length,
        all: platform.requests.length,
      };
      assert.deepEqual(counts, { posts: 200, all: 200 + gets });
      assert.deepEqual(valuesOf(up)["passwords"], passwordsOf(platform, fleetIds));
      // The CLI prints a line twice. There are 16 shards.
      const lines = new Set(up.printed.match(/"caches": \d+ not confirmed by the platform, but applied.*/g));
      assert.ok(lines.size > 0 && lines.size <= 16, [...lines].join("\n"));

      for (const id of ["db-1", "db-2"]) await platform.changePassword(id);
      await stack.setConfig("rekey:maxConcurrency", "3");
      assert.equal((await succeeds(stack.up())).changes["update"], undefined);
      assert.equal(platform.requests.length, counts.all);
      const before = platform.requests.length;
      // Requests whose response was lost are under way permanently.
      const lostCount = (concurrent = lost.length);
      platform.failNext({ method: "GET", delayMs: 20, times: 200 });
      const refreshed = await succeeds(stack.refresh());
      const reads = platform.requests.slice(before);
      assert.deepEqual(reads.map(({ path }) => path.split("/").at(-1)).sort(), [...fleetIds].sort());
      assert.ok(reads.every(({ method }) => method === "GET"));
      assert.equal(concurrent - lostCount, 3);
      assert.match(refreshed.printed, /"caches": [12] changed outside of Rekey: "db-[12]"/);
      assert.deepEqual(valuesOf(await succeeds(stack.up()))["passwords"], passwordsOf(platform, fleetIds));
      assert.equal(platform.requests.length, before + 200);
    });
  }
});
