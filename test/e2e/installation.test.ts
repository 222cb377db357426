import assert from "node:assert/strict";
import { fails, succeeds } from "../support/engine";
import { onEngines, rotating, scene } from "../support/onEngines";

onEngines("A program", (engine) => {
  it("loses the package together with its resources without an error", async () => {
    const { platform, project, stack } = await scene(
      engine,
      `${rotating()} new (require("pulumi-rekey").FlowControlReset)("orders", { flowControlKey: "orders" });`,
    );
    await succeeds(stack.up());
    const { length } = platform.requests;
    project.rewrite("");
    project.uninstall("pulumi-rekey");
    assert.deepEqual((await succeeds(stack.up())).changes, { delete: 2, same: 1 });
    assert.equal(platform.requests.length, length);
  });

  it("fails with what to install if the provider host will not find the package", async () => {
    const source = rotating().replace(`"pulumi-rekey"`, JSON.stringify(require.resolve("pulumi-rekey")));
    const { platform, project, stack } = await scene(engine, source);
    project.uninstall("pulumi-rekey");
    await fails(stack.up(), /npm install --prefix .* pulumi-rekey/);
    assert.equal(platform.requests.length, 0);
  });
});
