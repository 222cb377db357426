import assert from "node:assert/strict";
import { Search } from "@upstash/search";
import { Index } from "@upstash/vector";
import { fails, plainOutputs, resourceNamed, type State, succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine } from "../support/onEngines";
import { assertFields } from "../support/results";

const outputsAreFormer = /Until an `up` succeeds, `pulumi stack output` may show former values/;

/** The stack output of this name, as `pulumi stack output` shows it. */
function stackOutput({ deployment: { resources = [] } }: State, name: string): unknown {
  const stack = resources.find(({ urn }) => urn.includes("::pulumi:pulumi:Stack::"));
  return plainOutputs(stack ?? assert.fail())[name];
}

/** One spec for each kind of rotation. The slow files hold their details. */
onEveryEngine("Each feature, once", (engine) => {
  const rotations = (version: number) => `
const { PasswordRotation } = require("pulumi-rekey");
const reset = new PasswordRotation("reset", { databaseId: "db-reset", version: ${version} });
const adopted = new PasswordRotation("adopted", { databaseId: "db-adopted", initialRotation: false });
const scheduled = new PasswordRotation("scheduled", { databaseId: "db-scheduled", rotateEvery: "30d" });
exports.outcomes = [reset.outcome, adopted.outcome, scheduled.outcome];
exports.reason = reset.rotationReason;
exports.password = reset.password;`;

  it("PasswordRotation resets once for a trigger, adopts, has a schedule, and recovers from a lost response", async () => {
    const ids = ["db-reset", "db-adopted", "db-scheduled"];
    const { platform, project, stack } = await fixture(engine, rotations(1), {
      databases: ids,
      credentials: "always",
    });
    const assertResets = (...expected: number[]) => {
      const counts = ids.map((id) => platform.database(id).resets);
      assert.deepEqual(counts, expected);
    };
    const outcomes = ["reset", "adopted", "reset"];
    assert.deepEqual((await stack.preview()).changes, { create: 4 });
    assert.equal(platform.requests.length, 0, "a preview sends nothing");

    const first = await succeeds(stack.up());
    assert.deepEqual(first.outputs["password"], { value: platform.database("db-reset").password, secret: true });
    assert.deepEqual(valuesOf(first)["outcomes"], outcomes);
    assert.deepEqual((await stack.up()).changes, { same: 4 });
    assertResets(1, 0, 1);

    project.rewrite(rotations(2));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await fails(stack.up(), /may have been changed/, outputsAreFormer);
    const state = await stack.exportState(true);
    assert.equal(stackOutput(state, "password"), valuesOf(first)["password"]);
    assert.notEqual(stackOutput(state, "password"), platform.database("db-reset").password);
    const saved = resourceNamed(state, "reset");
    assert.equal(saved?.outputs?.["outcome"], "unknown");
    assert.equal(saved.initErrors?.length, 1);
    assertResets(2, 0, 1);

    const recovered = valuesOf(await succeeds(stack.up()));
    assertFields(recovered, { outcomes, reason: "unconfirmed" });
    assert.equal(recovered["password"], platform.database("db-reset").password);
    assert.deepEqual((await stack.up()).changes, { same: 4 });
    await succeeds(stack.destroy());
    assertResets(3, 0, 1);
  });

  const fleetOf = (version: number) => `
const { PasswordRotationFleet } = require("pulumi-rekey");
const databases = { one: { databaseId: "db-1", version: ${version} }, two: "db-2", three: "db-3" };
const fleet = new PasswordRotationFleet("caches", { databases, version: 1 });
exports.outcomes = fleet.databases.apply((all) => Object.fromEntries(Object.entries(all).map(([name, { outcome }]) => [name, outcome])));
exports.failed = fleet.failed;`;

  it("PasswordRotationFleet resets what is requested, saves the others if one fails, and resets that one later", async () => {
    const ids = ["db-1", "db-2", "db-3"];
    const { platform, project, stack } = await fixture(engine, fleetOf(1), { databases: ids });
    const resets = () => ids.map((id) => platform.database(id).resets);
    platform.failNext({ path: "/v2/keyvalue/reset-password/db-2", status: 422, body: `{"error":"id: is locked"}` });
    await fails(stack.up(), /"caches": 1 of 3 databases failed:[^]*two: .*422: id: is locked/, outputsAreFormer);
    assert.deepEqual(resets(), [1, 0, 1]);

    const { outcomes, failed } = valuesOf(await succeeds(stack.up()));
    assert.deepEqual({ outcomes, failed }, { outcomes: { one: "reset", two: "reset", three: "reset" }, failed: [] });
    project.rewrite(fleetOf(2));
    await succeeds(stack.up());
    assert.deepEqual(resets(), [2, 1, 1]);
  });

  const indexes = (version: number) => `
const { SearchTokenRotation, VectorTokenRotation } = require("pulumi-rekey");
const vectors = new VectorTokenRotation("vectors", { indexId: "idx-vectors", version: ${version} });
const search = new SearchTokenRotation("search", { indexId: "idx-search", version: ${version} });
exports.vectors = [vectors.restUrl, vectors.token];
exports.search = [search.restUrl, search.token];`;

  it("VectorTokenRotation and SearchTokenRotation replace the tokens of indexes, also if a response is lost", async () => {
    const { platform, project, stack } = await fixture(engine, indexes(1), { credentials: "read" });
    const infos = (outputs: Readonly<Record<string, unknown>>) => {
      const [vectors, search] = [outputs["vectors"], outputs["search"]] as [string, string][];
      if (!vectors || !search) throw new Error("an output is missing");
      return [
        new Index({ url: vectors[0], token: vectors[1], retry: false }).info(),
        new Search({ url: search[0], token: search[1], retry: false }).info(),
      ];
    };
    const isRefused = (request: Promise<unknown>) => assert.rejects(request, /Authorization: missing or wrong/);
    const first = valuesOf(await succeeds(stack.up()));
    await Promise.all(infos(first));
    assert.deepEqual((await stack.up()).changes, { same: 3 });

    project.rewrite(indexes(2));
    platform.failNext({ path: /vector.*reset-password/, dropConnection: "after-apply" });
    const second = valuesOf(await succeeds(stack.up()));
    await Promise.all(infos(second));
    await Promise.all(infos(first).map(isRefused));
    assert.equal(platform.resetCount, 4);
    assert.deepEqual((await stack.up()).changes, { same: 3 });
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 4);
  });
});
