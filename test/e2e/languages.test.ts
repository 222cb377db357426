import assert from "node:assert/strict";
import { Program } from "../support/program";
import { endScenes, onEngines, scene } from "./onEngines";

const programs: Record<string, () => Program> = {
  "JavaScript, ES modules": () =>
    new Program(
      `import * as pulumi from "@pulumi/pulumi";
       import { getFlowControlKeys, PasswordRotation } from "pulumi-rekey";
       const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart" });
       export const endpoint = rotation.endpoint;
       export const keys = (await getFlowControlKeys()).length;`,
      "index.js",
      { type: "module" },
    ),
  TypeScript: () =>
    new Program(
      `import * as pulumi from "@pulumi/pulumi";
       import { getFlowControlKeysOutput, PasswordRotation, PasswordRotationArgs } from "pulumi-rekey";
       const args: PasswordRotationArgs = { databaseId: "db-quickstart", triggers: { month: 11 } };
       const rotation = new PasswordRotation("cache", args);
       export const endpoint: pulumi.Output<string | undefined> = rotation.endpoint;
       export const keys: pulumi.Output<number> = getFlowControlKeysOutput().apply((keys) => keys.length);`,
      "index.ts",
    ),
};

onEngines("A program", (engine) => {
  after(endScenes);

  for (const [language, make] of Object.entries(programs)) {
    it(`runs in ${language}`, async () => {
      const { platform, stack } = await scene(engine, make());
      const { outputs, printed } = await stack.up();
      const endpoint = platform.database("db-quickstart").record["endpoint"];
      assert.deepEqual([outputs["endpoint"]?.value, outputs["keys"]?.value], [endpoint, 2], printed);
      assert.equal(platform.resetCount, 1);
    });
  }

  it("loses the package together with its resources without an error", async () => {
    const { platform, program, stack } = await scene(
      engine,
      `const { FlowControlReset, PasswordRotation } = require("pulumi-rekey");
       new PasswordRotation("cache", { databaseId: "db-quickstart" });
       new FlowControlReset("orders", { flowControlKey: "orders" });`,
    );
    assert.equal((await stack.up()).succeeded, true);
    const { length } = platform.requests;
    program.rewrite("");
    program.uninstall("pulumi-rekey");
    const { succeeded, changes, printed } = await stack.up();
    assert.deepEqual([succeeded, changes], [true, { delete: 2, same: 1 }], printed);
    assert.equal(platform.requests.length, length);
  });

  it("is told what to install where the provider host will not find the package", async () => {
    const { platform, program, stack } = await scene(
      engine,
      `const { PasswordRotation } = require(${JSON.stringify(require.resolve("pulumi-rekey"))});
       new PasswordRotation("cache", { databaseId: "db-quickstart" });`,
    );
    program.uninstall("pulumi-rekey");
    const { succeeded, printed } = await stack.up();
    assert.equal(succeeded, false);
    assert.match(printed, /will not find pulumi-rekey from .*\n.*npm install --prefix .* pulumi-rekey/);
    assert.equal(platform.requests.length, 0);
  });
});
