import assert from "node:assert/strict";
import { fails, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

onEngines("A program", (engine) => {
  it("loses the package together with its resources without an error", async () => {
    const { platform, project, stack } = await scene(
      engine,
      `const { FlowControlReset, PasswordRotation } = require("pulumi-rekey");
       new PasswordRotation("cache", { databaseId: "db-quickstart" });
       new FlowControlReset("orders", { flowControlKey: "orders" });`,
    );
    await succeeds(stack.up());
    const { length } = platform.requests;
    project.rewrite("");
    project.uninstall("pulumi-rekey");
    const { succeeded, changes, printed } = await stack.up();
    assert.deepEqual([succeeded, changes], [true, { delete: 2, same: 1 }], printed);
    assert.equal(platform.requests.length, length);
  });

  it("is told what to install where the provider host will not find the package", async () => {
    const { platform, project, stack } = await scene(
      engine,
      `const { PasswordRotation } = require(${JSON.stringify(require.resolve("pulumi-rekey"))});
       new PasswordRotation("cache", { databaseId: "db-quickstart" });`,
    );
    project.uninstall("pulumi-rekey");
    await fails(stack.up(), /will not find pulumi-rekey from .*\n.*npm install --prefix .* pulumi-rekey/);
    assert.equal(platform.requests.length, 0);
  });
});
