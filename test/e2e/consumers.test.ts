import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { fails, succeeds, valuesOf } from "../support/engine";
import { fixture, onEngines, rotating } from "../support/onEngines";

/** A consumer that stores the password, and cannot be updated while there is a file `broken`. */
const source = (version: number) => `${rotating(`version: ${version}`)}
const pulumi = require("@pulumi/pulumi");
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
const inputs = { password: rotation.password, broken: process.cwd() + "/broken" };
exports.consumed = new Consumer("consumer", inputs).password;`;

onEngines("A consumer of the password", (engine) => {
  it("gets the new one in the same up; if that fails, the next up updates the consumer alone", async () => {
    const { platform, project, stack } = await fixture(engine, source(1), { credentials: "always" });
    const assertConsumed = async () => {
      const { consumed } = valuesOf(await succeeds(stack.up()));
      assert.equal(consumed, platform.database("db-quickstart").password);
    };
    await assertConsumed();
    const broken = project.write("broken", "");
    project.rewrite(source(2));
    await fails(stack.up(), /the consumer is away/);
    assert.equal(platform.resetCount, 2);
    rmSync(broken);
    await assertConsumed();
    assert.equal(platform.resetCount, 2);
  });
});
