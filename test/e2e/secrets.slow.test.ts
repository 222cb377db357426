import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { leaksOf } from "../support/canaries";
import { textsBelow } from "../support/files";
import { fails, localEngine, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";
import { Project } from "../support/project";

const management = "canary-management-7c1f";
const queue = "canary-queue-91ab";

onEngines("Secrets", (engine) => {
  it("stand in no state file and in nothing that is printed", async () => {
    const { platform, project, stack } = await scene(
      engine,
      `const { FlowControlReset, PasswordRotation } = require("pulumi-rekey");
       const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version: require("node:fs").readFileSync("version", "utf8") });
       new FlowControlReset("orders", { flowControlKey: "orders", version: "canary-version-55d0" });
       exports.password = rotation.password;
       exports.token = rotation.restToken;
       exports.all = rotation;`,
      { username: "admin", password: management, queueToken: queue, credentialsInResponse: "always" },
    );
    const setVersion = (version: string): void => writeFileSync(project.path("version"), version);
    setVersion("1");
    const passwords = [platform.database("db-quickstart").password];
    const first = await stack.up();
    passwords.push(platform.database("db-quickstart").password);
    assert.deepEqual(first.outputs["password"], { value: passwords[1], secret: true });
    setVersion("2");
    platform.failNext({
      path: /reset-password/,
      status: 500,
      body: JSON.stringify({ error: `Basic ${management} ${queue}` }),
    });
    const results = [first, await stack.preview(), await stack.refresh(), await stack.up()];
    const exported = await stack.exportState();
    const provider = exported.deployment.resources?.find(({ urn }) =>
      urn.includes("::pulumi:providers:pulumi-nodejs::"),
    );
    for (const key of ["rekey:password", "rekey:queueToken"]) {
      const saved = provider?.inputs?.[key] as { ciphertext?: string } | undefined;
      assert.ok(saved?.ciphertext, `${key} is saved with the configuration, encrypted`);
    }
    const state = JSON.stringify(exported);
    results.push(await stack.destroy());
    const { password, restToken } = platform.database("db-quickstart");
    const canaries = { management, queue, ...Object.fromEntries(passwords.entries()), password, restToken };
    const shown = [...results.map(({ printed }) => printed), state, ...textsBelow(project.directory)].join("\n");
    assert.deepEqual(leaksOf(shown, canaries), []);
  });

  it("are not shown when an input that holds one is refused", async () => {
    const canary = "canary-version-7a90";
    const { project, stack } = await scene(engine, "");
    for (const bad of [`version: secret({ a: "${canary}" })`, `triggers: { a: secret({ b: "${canary}" }) }`]) {
      project.rewrite(`const { PasswordRotation } = require("pulumi-rekey");
        const { secret } = require("@pulumi/pulumi");
        new PasswordRotation("cache", { databaseId: "db-quickstart", ${bad} });`);
      const { printed } = await fails(stack.preview(), /has a problem: (version|triggers) must /);
      assert.deepEqual(leaksOf(printed, { canary }), []);
    }
  });

  it("are asked for by name, both ways of setting them given, when they are needed", async () => {
    const project = new Project(`new (require("pulumi-rekey").PasswordRotation)("cache", { databaseId: "db" });`);
    const stack = await engine.open(project.directory);
    assert.equal((await stack.preview()).succeeded, true, "a preview needs no credentials");
    const { printed } = await stack.up();
    assert.match(printed, /rekey:baseUrl is not set\. /);
    const command = engine === localEngine ? "rekey-local config set" : "pulumi config set";
    assert.ok(printed.includes(`. Run \`${command} rekey:baseUrl …\`, or set REKEY_BASE_URL`), printed);
    await succeeds(stack.destroy());
    project.remove();
  });
});
