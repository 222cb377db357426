import assert from "node:assert/strict";
import { type Engine, succeeds, valuesOf } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

const program = (version: number): string => `
const { PasswordRotation, PasswordVerification } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version: ${version} });
const verification = new PasswordVerification("proof", { rotation });
for (const name of ["verified", "formerRefused"]) exports[name] = verification[name];
exports.connectionUrl = rotation.connectionUrl;`;

onEngines("PasswordVerification with the listener of the local platform", (engine: Engine) => {
  it("shows that the new password works and the former one does not", async () => {
    const { platform, project, stack } = await scene(engine, program(1), { credentialsInResponse: "always" });
    const first = await succeeds(stack.up());
    const { verified, formerRefused, connectionUrl } = valuesOf(first);
    assert.deepEqual([verified, formerRefused], [true, undefined]);
    const { password, record } = platform.database("db-quickstart");
    assert.equal(connectionUrl, `redis://:${password}@127.0.0.1:${String(record["port"])}`);
    assert.equal(first.outputs["connectionUrl"]?.secret, true);
    project.rewrite(program(2));
    assert.equal(valuesOf(await succeeds(stack.up()))["formerRefused"], true);
    assert.equal(platform.resetCount, 2);
  });
});
