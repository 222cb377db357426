import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { fails, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

/** A consumer that keeps the password it was given, and cannot be updated while the file `broken` is there. */
const source = `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation } = require("pulumi-rekey");
const provider = {
  create: async (inputs) => ({ id: "consumer", outs: inputs }),
  update: async (id, olds, news) => {
    if (require("fs").existsSync(news.broken)) throw new Error("the consumer is away");
    return { outs: news };
  },
};
class Consumer extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props, { additionalSecretOutputs: ["password"] }); }
}
const version = new pulumi.Config().get("version");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version });
const consumer = new Consumer("consumer", { password: rotation.password, broken: process.cwd() + "/broken" });
exports.rotated = rotation.password;
exports.consumed = consumer.password;`;

onEngines("A consumer of the password", (engine) => {
  it("gets the new one in the same up; where that fails, the next up goes on with it alone", async () => {
    const { platform, project, stack } = await scene(engine, source, { credentialsInResponse: "always" });
    const broken = project.path("broken");
    const password = (): unknown => platform.database("db-quickstart").password;
    const consumed = (result: { outputs: Record<string, { value: unknown }> }): unknown =>
      result.outputs["consumed"]?.value;

    const first = await stack.up();
    assert.equal(consumed(first), password());
    writeFileSync(broken, "");
    await stack.setConfig("version", "2");
    await fails(stack.up(), /the consumer is away/);
    assert.equal(platform.resetCount, 2);
    rmSync(broken);
    const again = await succeeds(stack.up());
    assert.equal(consumed(again), password());
    assert.equal(platform.resetCount, 2);
  });
});
