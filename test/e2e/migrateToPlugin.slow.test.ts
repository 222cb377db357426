import assert from "node:assert/strict";
import { pulumiCli, resourceNamed, succeeds } from "../support/engine";
import { fixture, onEngine } from "../support/onEngines";
import { HomeWithPlugin, whyNoPrograms } from "../support/pluginArchive";
import { Project } from "../support/project";

const databases = ["db-sessions", "db-carts", "db-users", "db-orders", "db-emails"];

/** The package for Node. @param options of each resource; `type` is the name of its type */
const dynamic = (options: string) => `
const { FlowControlReset, PasswordRotation, PasswordRotationFleet, PasswordVerification } = require("pulumi-rekey");
const options = (type) => (${options});
const one = new PasswordRotation("sessions", { databaseId: "db-sessions", version: 1 }, options("PasswordRotation"));
new PasswordVerification("sessions", { rotation: one });
new FlowControlReset("orders", { flowControlKey: "orders", version: 1 }, options("FlowControlReset"));
const fleet = new PasswordRotationFleet("fleet", {
  version: 1,
  databases: { carts: { databaseId: "db-carts" }, users: { databaseId: "db-users", version: 2 } },
});
const list = new PasswordRotationFleet("list", { databases: ["db-orders", "db-emails"] });
exports.password = one.password;
exports.credentials = fleet.credentials;
exports.listed = list.credentials;
`;

const formerTypes = '{ aliases: [{ type: "rekey:index:" + type }] }';
const dynamicType = "pulumi-nodejs:dynamic/rekey:PasswordRotation";

/** The same resources of the native plugin. */
const native = `
name: program
runtime: yaml
resources:
  sessions:
    type: rekey:PasswordRotation
    properties: { databaseId: db-sessions, version: 1 }
  verification:
    type: rekey:PasswordVerification
    name: sessions
    properties: { rotation: "\${sessions}" }
  orders:
    type: rekey:FlowControlReset
    properties: { flowControlKey: orders, version: 1 }
  fleet:
    type: rekey:PasswordRotationFleet
    properties:
      version: 1
      databases:
        carts: { databaseId: db-carts }
        users: { databaseId: db-users, version: 2 }
  list:
    type: rekey:PasswordRotationFleet
    properties:
      databases: { db-orders: { databaseId: db-orders }, db-emails: { databaseId: db-emails } }
outputs:
  password: \${sessions.password}
  credentials: \${fleet.credentials}
  listed: \${list.credentials}
`;

const manifest = `name: program\nmain: index.js\nruntime: { name: nodejs, options: { typescript: false } }\n`;

const cli = { ...pulumiCli, unavailable: whyNoPrograms("pulumi-language-yaml") };
onEngine(cli, "A stack moves from the package for Node to the plugin and back", (engine) => {
  let home: HomeWithPlugin;
  before(async () => void (home = await HomeWithPlugin.make()));
  after(() => home.remove());

  it("without a reset and with the same outputs", async () => {
    const project = new Project(dynamic("{}"));
    const options = { databases, credentials: "always" } as const;
    const { platform, stack } = await fixture(engine, project, options, home.environment);
    const first = await succeeds(stack.up());
    const { length } = platform.requests;
    assert.equal(platform.resetCount, databases.length);

    // The plugin saves the connection URL, and its verification is a component over what was verified.
    const others = Number(first.changes["create"]) - 1;
    const toPlugin = { same: others, update: 1, create: 1 };
    const back = { same: others, create: 1, delete: 2 };
    const unchanged = { same: others + 1 };
    const steps = [
      { what: "to the plugin", manifest: native, program: "", type: "rekey:index:PasswordRotation", changes: toPlugin },
      { what: "and back", manifest, program: dynamic(formerTypes), type: dynamicType, changes: back },
      { what: "without aliases", manifest, program: dynamic("{}"), type: dynamicType, changes: unchanged },
    ];
    for (const { what, manifest, program, type, changes } of steps) {
      project.write("Pulumi.yaml", manifest);
      project.rewrite(program);
      const preview = await succeeds(stack.preview());
      const up = await succeeds(stack.up());
      assert.deepEqual({ preview: preview.changes, up: up.changes }, { preview: changes, up: changes }, what);
      assert.deepEqual(up.outputs, first.outputs, what);
      assert.match(resourceNamed(await stack.exportState(), "sessions")?.urn ?? "", new RegExp(`::${type}::`), what);
      assert.equal(platform.requests.length, length, what);
    }
    await succeeds(stack.refresh());

    project.write("Pulumi.yaml", native.replace("db-sessions, version: 1", "db-sessions, version: 2"));
    await succeeds(stack.up());
    project.write("Pulumi.yaml", manifest);
    const changed = dynamic(formerTypes).replace('"db-sessions", version: 1', '"db-sessions", version: 2');
    project.rewrite(changed);
    assert.deepEqual((await succeeds(stack.up())).changes, back);
    assert.equal(platform.resetCount, databases.length + 1);
    const { length: sent } = platform.requests;
    await succeeds(stack.refresh());
    assert.equal(platform.requests.length, sent);
    project.rewrite(changed.replace('"db-sessions", version: 2', '"db-sessions", version: 3'));
    await succeeds(stack.up());
    assert.equal(platform.resetCount, databases.length + 2);
    await succeeds(stack.destroy());
  });

  it("from the plugin, which created it: one update that sends nothing, then refresh and destroy work", async () => {
    const project = new Project("");
    project.write("Pulumi.yaml", native);
    const options = { databases, credentials: "always" } as const;
    const { platform, stack } = await fixture(engine, project, options, home.environment);
    await succeeds(stack.up());
    const { length } = platform.requests;
    project.write("Pulumi.yaml", manifest);
    project.rewrite(dynamic(formerTypes));
    const moved = await succeeds(stack.up());
    assert.ok((moved.changes["update"] ?? 0) > 0, JSON.stringify(moved.changes));
    assert.equal((await succeeds(stack.up())).changes["update"], undefined);
    await succeeds(stack.refresh());
    await succeeds(stack.destroy());
    assert.deepEqual({ resets: platform.resetCount, sent: platform.requests.length }, { resets: 5, sent: length });
  });
});
