import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { findProject, fullKey, readProject, StackFile } from "../../../local/engine/config";
import { checkExported, readDeployment, type ResourceState } from "../../../local/engine/format";
import { takeLock } from "../../../local/engine/lock";
import { Crypter } from "../../../local/engine/secrets";
import { readState, Snapshot, writeSynced } from "../../../local/engine/state";
import { reveal, secret } from "../../../local/engine/values";
import { Folder } from "../../support/folder";

let folder: Folder;
let directory: string;
/** To be called in each suite: a folder of its own for each test. */
function inFolder(): void {
  beforeEach(() => ({ directory } = folder = new Folder()));
  afterEach(() => folder.remove());
}

const write = (name: string, text: string): string => folder.write(name, text);

describe("the local engine's lock", () => {
  inFolder();

  it("keeps a second one out until it is released", () => {
    const path = join(directory, "new/stack.lock");
    const release = takeLock(path);
    assert.throws(() => takeLock(path), new RegExp(`locked by process ${process.pid} on `));
    release();
    takeLock(path)();
    assert.deepEqual(readdirSync(join(directory, "new")), []);
  });

  it("is not held by a process that ended, nor by a later one with its number", () => {
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    const path = write("stack.lock", JSON.stringify({ pid, host: hostname() }));
    takeLock(path)();
    if (process.platform !== "linux") return;
    write("stack.lock", JSON.stringify({ pid: process.pid, host: hostname(), began: "1" }));
    takeLock(path)();
  });

  it("is respected when it comes from another machine", () => {
    const path = write("stack.lock", JSON.stringify({ pid: 1, host: "elsewhere" }));
    assert.throws(() => takeLock(path), /locked by process 1 on elsewhere.*remove/s);
  });
});

describe("the local engine's state file", () => {
  inFolder();

  const thing = (name: string, about: Partial<ResourceState> = {}): ResourceState => {
    return {
      urn: `urn:${name}`,
      type: "pulumi-nodejs:dynamic/m:T",
      custom: true,
      id: name,
      inputs: {},
      outputs: {},
      ...about,
    };
  };

  it("is replaced as a whole, and leaves nothing beside it", async () => {
    const path = join(directory, "a/b/dev.json");
    await writeSynced(path, "{}");
    await writeSynced(path, '{"version":3}');
    assert.deepEqual(readState(path), { version: 3 });
    assert.deepEqual(readdirSync(join(directory, "a/b")), ["dev.json"]);
    assert.equal(readState(join(directory, "none.json")), undefined);
    writeFileSync(path, "{");
    assert.throws(() => readState(path), /the state file .*dev\.json cannot be read: it is not valid JSON\. /);
  });

  it("names what is being done, and keeps interrupted creates until somebody clears them", async () => {
    const path = join(directory, "dev.json");
    const crypter = await Crypter.create("x");
    const saved = () => readDeployment(checkExported(readState(path), "the state"), crypter);
    const old = thing("old", { inputs: { token: secret("s3cret") } });
    const pending = [
      { type: "creating" as const, resource: thing("lost") },
      { type: "deleting" as const, resource: thing("x") },
    ];
    const snapshot = new Snapshot({ resources: [old], pending }, crypter, path);
    const fresh = thing("new", { id: undefined });
    const end = await snapshot.begin("creating", fresh);
    assert.deepEqual(
      saved().pending.map(({ type, resource }) => [type, resource.urn]),
      [
        ["creating", "urn:lost"],
        ["creating", "urn:new"],
      ],
    );
    end();
    snapshot.change(fresh, { id: "made" });
    snapshot.put(fresh);
    await snapshot.save();
    assert.deepEqual(
      saved().resources.map(({ urn, id }) => [urn, id]),
      [
        ["urn:new", "made"],
        ["urn:old", "old"],
      ],
    );
    assert.equal(saved().pending.length, 1);
    assert.deepEqual(reveal(saved().resources[1]?.inputs ?? {}), { token: "s3cret" });
    assert.ok(!readFileSync(path, "utf8").includes("s3cret"));
    snapshot.clearInterrupted();
    await snapshot.save();
    assert.equal(saved().pending.length, 0);
  });

  it("follows a resource that was renamed", async () => {
    const path = join(directory, "dev.json");
    const crypter = await Crypter.create("x");
    const old = thing("old");
    const user = thing("user", {
      dependencies: ["urn:old"],
      propertyDependencies: { x: ["urn:old"] },
      parent: "urn:old",
    });
    const snapshot = new Snapshot({ resources: [old, user], pending: [] }, crypter, path);
    snapshot.put(thing("new"), old);
    await snapshot.save();
    const { resources } = readDeployment(checkExported(readState(path), "the state"), crypter);
    assert.deepEqual(resources[1]?.dependencies, ["urn:new"]);
    assert.deepEqual(resources[1]?.propertyDependencies, { x: ["urn:new"] });
    assert.equal(resources[1]?.parent, "urn:new");
  });

  it("shares one write among changes that come together", async () => {
    const crypter = await Crypter.create("x");
    const snapshot = new Snapshot({ resources: [], pending: [] }, crypter, join(directory, "dev.json"));
    const saves = Array.from({ length: 100 }, (_, i) => {
      snapshot.put(thing(String(i)));
      return snapshot.save();
    });
    assert.ok(new Set(saves).size <= 2);
    await Promise.all(saves);
    assert.equal(checkExported(readState(join(directory, "dev.json")), "the state").deployment.resources.length, 100);
  });

  it("leaves no copies behind, however often a write is killed", async () => {
    const path = join(directory, "dev.json");
    const writer = `const { writeSynced } = require(${JSON.stringify(require.resolve("../../../local/engine/state"))});
      (async () => { for (;;) { await writeSynced(${JSON.stringify(path)}, "x".repeat(1e7)); console.log("written"); } })();`;
    for (let kill = 0; kill < 5; kill++) {
      const child = spawn(process.execPath, ["-r", "ts-node/register/transpile-only", "-e", writer]);
      await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await writeSynced(path, "{}");
    assert.deepEqual(readdirSync(directory), ["dev.json"]);
  });

  it("says so when it cannot be written", async () => {
    const file = write("file", "");
    await assert.rejects(writeSynced(join(file, "dev.json"), "{}"), /the state cannot be written/);
    assert.throws(() => takeLock(join(file, "dev.lock")), /the state folder cannot be written/);
    const crypter = await Crypter.create("x");
    const advice = "Ask the database's owner.";
    const snapshot = new Snapshot({ resources: [], pending: [] }, crypter, join(file, "dev.json"), advice);
    await assert.rejects(snapshot.save(), /the state cannot be written.* Ask the database's owner\.$/s);
  });

  it("is refused when it refers to what is not there, names one thing twice, or needs a real engine", async () => {
    const crypter = await Crypter.create("x");
    const read = (resources: Partial<ResourceState>[], version = 3): unknown => {
      const named = resources.map((about) => ({ type: "t", ...about }));
      return readDeployment(checkExported({ version, deployment: { resources: named } }, "the state"), crypter);
    };
    assert.throws(() => read([{ urn: "a", dependencies: ["b"] }, { urn: "b" }]), /a refers to b/);
    assert.throws(() => read([{ urn: "a" }, { urn: "a" }]), /twice/);
    assert.throws(() => read([], 4), /version 4 is not supported.*pulumi/);
    assert.throws(() => read([{ urn: "a", type: "aws:s3:Bucket", custom: true }]), /a, .*is not supported/);
    assert.throws(() => read([{ urn: "a", external: true }]), /`external` of a in the state is not supported/);
    read([{ urn: "a" }, { urn: "a", delete: true }]);
  });
});

describe("the local engine's project and settings", () => {
  inFolder();

  it("knows what to run, and where", () => {
    const cases: [string, { programDirectory: string; entryPoint: string; typescript: boolean }][] = [
      ["name: p\nruntime: nodejs", { programDirectory: directory, entryPoint: ".", typescript: true }],
      [
        "name: p\nmain: src/index.ts\nruntime:\n  name: nodejs\n  options: { typescript: false, nodeargs: --a  --b }",
        { programDirectory: join(directory, "src"), entryPoint: "index.ts", typescript: false },
      ],
      ["name: p\nmain: .\nruntime: nodejs", { programDirectory: directory, entryPoint: ".", typescript: true }],
    ];
    write("src/index.ts", "");
    for (const [text, expected] of cases) {
      write("Pulumi.yaml", text);
      const project = readProject(directory);
      assert.deepEqual({ ...project, ...expected }, project);
    }
    assert.equal(findProject(directory), directory);
    write("Pulumi.yaml", "name: p\nmain: nowhere.ts\nruntime: nodejs");
    assert.throws(() => readProject(directory), /`main` could not be read: .*nowhere.ts/);
    write("Pulumi.yaml", "name: p\nruntime: python");
    assert.throws(() => readProject(directory), /the runtime "python" is not supported by the local engine/);
    for (const key of ["stackConfigDir", "plugins", "packages"]) {
      write("Pulumi.yaml", `name: p\nruntime: nodejs\n${key}: x`);
      assert.throws(() => readProject(directory), new RegExp(`\`${key}\` in .* is not supported by the local engine`));
    }
  });

  it("reads settings as text, with the project's own beneath them", async () => {
    write("Pulumi.yaml", "name: p\nruntime: nodejs\nconfig:\n  a: 1\n  b: { default: two }\n  x:y: [1]");
    const path = write(
      "Pulumi.dev.yaml",
      "config:\n  p:a: 1.10\n  other:key: true\n  p:deep:\n    list: [1, { secure: SEALED }]\n",
    );
    const crypter = await Crypter.create("x");
    writeFileSync(path, readFileSync(path, "utf8").replace("SEALED", crypter.encrypt("hidden")));
    const file = new StackFile(path, readProject(directory));
    assert.deepEqual(file.settings(crypter), {
      "p:a": { value: "1.10", secret: false },
      "p:b": { value: "two", secret: false },
      "x:y": { value: "[1]", secret: false },
      "other:key": { value: "true", secret: false },
      "p:deep": { value: '{"list":[1,"hidden"]}', secret: true },
    });
    assert.ok(file.hasSecrets);
  });

  it("refuses secrets providers other than the passphrase, by name", () => {
    write("Pulumi.yaml", "name: p\nruntime: nodejs");
    const path = write("Pulumi.dev.yaml", "secretsprovider: awskms://alias/key\n");
    const expected = /the secrets provider awskms:\/\/alias\/key is not supported by the local engine/;
    assert.throws(() => new StackFile(path, readProject(directory)), expected);
  });

  it("writes settings in the CLI's format, and leaves the rest of the file alone", () => {
    write("Pulumi.yaml", "name: p\nruntime: nodejs");
    const path = write("Pulumi.dev.yaml", "# a comment\nconfig:\n  other:key: kept # as it is\n");
    const file = new StackFile(path, readProject(directory));
    file.setSalt("v1:salt");
    file.set("plain", "hello");
    file.set("p:token", { secure: "v1:sealed" });
    file.set("ns:number", "007");
    file.save();
    const text = readFileSync(path, "utf8");
    assert.match(text, /# a comment\n/);
    assert.match(text, /other:key: kept # as it is\n/);
    const again = new StackFile(path, readProject(directory));
    assert.equal(again.salt, "v1:salt");
    assert.ok(again.remove("token"));
    assert.ok(!again.remove("token"));
    assert.deepEqual(again.settings(undefined)["ns:number"], { value: "007", secret: false });
    assert.ok(existsSync(path));
  });

  for (const empty of ["", "config:\n", "config: {}\n"]) {
    it(`has nothing to remove from ${JSON.stringify(empty)}, and adds to it`, () => {
      write("Pulumi.yaml", "name: p\nruntime: nodejs");
      const file = new StackFile(write("Pulumi.dev.yaml", empty), readProject(directory));
      assert.ok(!file.remove("a"));
      file.set("a", "b");
      assert.deepEqual(file.settings(undefined)["p:a"], { value: "b", secret: false });
    });
  }

  it("gives a name alone to the project", () => {
    assert.equal(fullKey("p", "a"), "p:a");
    assert.equal(fullKey("p", "ns:a"), "ns:a");
    assert.equal(fullKey("p", "ns:config:a"), "ns:a");
    for (const bad of ["", "a:", ":a", "a:b:c"]) assert.throws(() => fullKey("p", bad), /not a configuration key/, bad);
  });
});
