import assert from "node:assert/strict";
import { type Platform } from "../../local/index";
import { fails, succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine } from "../support/onEngines";

const queueUserId = "00000000-0000-4000-8000-000000000001";

const program = (version: number, more = "") => `
const rekey = require("pulumi-rekey");
const args = { version: ${version}, ${more} };
const rotations = {
  vectors: new rekey.VectorTokenRotation("vectors", { indexId: "idx-vectors", ...args }),
  search: new rekey.SearchTokenRotation("search", { indexId: "idx-search", ...args }),
  queue: new rekey.QueueTokenRotation("queue", { queueUserId: "${queueUserId}", ...args }),
};
for (const [name, rotation] of Object.entries(rotations)) {
  const { verified, formerRefused } = new rekey.PasswordVerification(name, { rotation, withinSeconds: 1 });
  exports[name] = { verified, formerRefused };
}`;
const all = (outputs: object) => ({ vectors: outputs, search: outputs, queue: outputs });

/** The requests that try tokens so far. */
const triesOf = ({ requests }: Platform) =>
  requests.filter(({ path }) => path.endsWith("/info") || path.endsWith("/globalParallelism")).length;

onEveryEngine("PasswordVerification of tokens", (engine) => {
  const start = async (source: string) => {
    const made = await fixture(engine, source, { credentials: "read" });
    await made.stack.removeConfig("rekey:queueToken");
    await made.stack.setConfig("rekey:queueUserId", queueUserId);
    return made;
  };

  it("shows that the new ones are accepted and the former ones refused", async () => {
    const { platform, project, stack } = await start(program(1));
    assert.deepEqual(valuesOf(await succeeds(stack.up())), all({ verified: true }));
    const tries = triesOf(platform);
    assert.deepEqual((await stack.up()).changes?.["update"] ?? 0, 0);
    assert.equal(triesOf(platform), tries, "an up without changes");
    project.rewrite(program(2));
    assert.deepEqual(valuesOf(await succeeds(stack.up())), all({ verified: true, formerRefused: true }));
    project.rewrite(program(3));
    platform.failNext({ path: /vector.*reset-password/, keepFormerPassword: true });
    await fails(stack.up(), /vector index "idx-vectors" is not verified: a former token is still accepted/);
    assert.equal(platform.resetCount, 9);
    await fails(stack.up(), /a former token is still accepted/);
    assert.equal(platform.resetCount, 9);
  });

  it("reads those that are not saved", async () => {
    const { platform, project, stack } = await start(program(1, "saveCredentials: false"));
    for (const version of [1, 2]) {
      project.rewrite(program(version, "saveCredentials: false"));
      assert.deepEqual(valuesOf(await succeeds(stack.up())), all({ verified: true, formerRefused: true }));
      assert.equal((await stack.preview()).changes?.["update"] ?? 0, 0);
      const tokens = [platform.vectorIndexes, platform.searchIndexes, platform.queueUsers]
        .flatMap((owners) => [...owners.values()])
        .map(({ token }) => token);
      const state = JSON.stringify(await stack.exportState(true));
      assert.ok(tokens.length === 3 && !tokens.some((token) => state.includes(token)));
    }
  });
});
