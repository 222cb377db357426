import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { CreateRequest, GetSchemaRequest } from "@pulumi/pulumi/proto/provider_pb";
import { extract, list } from "tar";
import { Empty } from "../../local/engine/proto";
import { startPlatform } from "../../local/platform/index";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { writePluginArchive } from "../support/pluginArchive";
import { argsFor, defaultProvider, urnOf } from "../support/pluginService";
import { FakeEngine } from "../support/pluginWire";
import { ProviderClient } from "../support/providerClient";
import { fromStruct, toStruct } from "../support/wire";
import { packageVersion } from "../../provider/runtime";

const maxBytes = 5 * 1024 * 1024;

describe("The plugin's archive", function () {
  this.timeout(120_000);
  const folder = new Folder();
  let archive: string;

  before(async () => {
    archive = await writePluginArchive(folder.path("first"));
    await extract({ file: archive, cwd: folder.directory });
  });
  after(() => folder.remove());

  it("has the same bytes each time, and at most 5 MB", async () => {
    const again = await writePluginArchive(folder.path("second"));
    assert.ok(readFileSync(archive).equals(readFileSync(again)));
    assert.ok(statSync(archive).size <= maxBytes, `${statSync(archive).size} bytes`);
  });

  it("has an executable for each system, the licenses of all libraries, and no path of this machine", () => {
    const modes: Record<string, number | undefined> = {};
    void list({ file: archive, sync: true, onReadEntry: ({ path, mode }) => (modes[path] = mode) });
    assert.deepEqual(modes, {
      "pulumi-resource-rekey": 0o755,
      "pulumi-resource-rekey.cmd": 0o644,
      "package.json": 0o644,
      "LICENSES.txt": 0o644,
    });
    const texts = Object.keys(modes).map((name) => readFileSync(folder.path(name), "utf8"));
    for (const path of [projectRoot, homedir()]) assert.ok(!texts.some((text) => text.includes(path)), path);
    assert.match(texts.at(-1) ?? "", /==== axios [\s\S]*Permission is hereby granted/);
  });

  it("serves the engine outside of the repository", async () => {
    const platform = await startPlatform({ databases: ["db-quickstart"] });
    const engine = await FakeEngine.start();
    const child = spawn(process.execPath, ["pulumi-resource-rekey", engine.address], { cwd: folder.directory });
    const plugin = await ProviderClient.of(child);
    try {
      const info = await plugin.call(calls.getPluginInfo, new Empty());
      assert.equal(info.getVersion(), packageVersion());
      const schema = await plugin.call(calls.getSchema, new GetSchemaRequest());
      assert.equal((JSON.parse(schema.getSchema()) as { name: string }).name, "rekey");
      await plugin.configure(defaultProvider, argsFor(platform));
      const inputs = toStruct({ databaseId: "db-quickstart" });
      const create = new CreateRequest().setUrn(urnOf("PasswordRotation")).setProperties(inputs);
      const created = await plugin.call(calls.create, create);
      assert.equal(fromStruct(created.getProperties())["outcome"], "reset");
      assert.equal(platform.resetCount, 1);
    } finally {
      plugin.close();
      child.kill();
      engine.stop();
      await platform.close();
    }
  });
});
