import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { findProject, fullKey, readProject, StackFile } from "../../../local/engine/config";
import { checkExported, readDeployment, type ResourceState } from "../../../local/engine/format";
import { takeLock } from "../../../local/engine/lock";
import { Crypter } from "../../../local/engine/secrets";
import { readState, Snapshot, writeSynced } from "../../../local/engine/state";
import { Folder } from "../../support/folder";
import { runSource } from "../support/source";

let folder: Folder;
let directory: string;
/** To be called in each suite: a new folder for each test. */
function inFolder(): void {
  beforeEach(() => ({ directory } = folder = new Folder()));
  afterEach(() => folder.remove());
}

const write = (name: string, text: string): string => folder.write(name, text);

describe("the local engine's lock", () => {
  inFolder();

  it("keeps a second operation out until it is released", () => {
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

  it("is respected if it comes from another machine", () => {
    const path = write("stack.lock", JSON.stringify({ pid: 1, host: "elsewhere" }));
    assert.throws(() => takeLock(path), /locked by process 1 on elsewhere.*remove/s);
  });
});

describe("the local engine's state file", () => {
  inFolder();

  let crypter: Crypter;
  let path: string;
  before(async () => (crypter = await Crypter.create("x")));
  beforeEach(() => (path = join(directory, "dev.json")));

  const thing = (id: string): ResourceState => {
    return { urn: `urn:${id}`, type: "pulumi-nodejs:dynamic/m:T", custom: true, id, inputs: {}, outputs: {} };
  };
  const saved = () => readDeployment(checkExported(readState(path), "the state"), crypter);

  it("is replaced as a whole, and leaves nothing else in its folder", async () => {
    path = join(directory, "a/b/dev.json");
    await writeSynced(path, "{}");
    await writeSynced(path, '{"version":3}');
    assert.deepEqual(readState(path), { version: 3 });
    assert.deepEqual(readdirSync(join(directory, "a/b")), ["dev.json"]);
    assert.equal(readState(join(directory, "none.json")), undefined);
    writeFileSync(path, "{");
    assert.throws(() => readState(path), /dev\.json cannot be read: .*JSON/);
  });

  it("keeps interrupted creates alone, until they are cleared", async () => {
    const interrupted = (["creating", "deleting"] as const).map((type) => ({ type, resource: thing(type) }));
    const snapshot = new Snapshot({ resources: [], pending: interrupted }, crypter, path);
    await snapshot.save();
    assert.deepEqual(
      saved().pending.map(({ resource }) => resource.id),
      ["creating"],
    );
    snapshot.clearInterrupted();
    await snapshot.save();
    assert.deepEqual(saved().pending, []);
  });

  it("follows a resource that was renamed", async () => {
    const old = thing("old");
    const references = (urn: string) => ({ dependencies: [urn], propertyDependencies: { x: [urn] }, parent: urn });
    const user = { ...thing("user"), ...references("urn:old") };
    const snapshot = new Snapshot({ resources: [old, user], pending: [] }, crypter, path);
    snapshot.put(thing("new"), old);
    await snapshot.save();
    const { dependencies, propertyDependencies, parent } = saved().resources[1]!;
    assert.deepEqual({ dependencies, propertyDependencies, parent }, references("urn:new"));
  });

  it("shares one write among changes that come together", async () => {
    const snapshot = new Snapshot({ resources: [], pending: [] }, crypter, path);
    const saves = Array.from({ length: 100 }, (_, i) => {
      snapshot.put(thing(String(i)));
      return snapshot.save();
    });
    assert.ok(new Set(saves).size <= 2);
    await Promise.all(saves);
    assert.equal(saved().resources.length, 100);
  });

  it("leaves no copies behind, however often a write is killed", async () => {
    const writer = `const { writeSynced } = require("./local/engine/state");
      (async () => { for (;;) { await writeSynced(${JSON.stringify(path)}, "x".repeat(1e7)); console.log("written"); } })();`;
    for (let kill = 0; kill < 5; kill++) {
      const child = runSource(writer);
      await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await writeSynced(path, "{}");
    assert.deepEqual(readdirSync(directory), ["dev.json"]);
  });

  it("reports that it cannot be written", async () => {
    const file = write("file", "");
    path = join(file, "dev.json");
    await assert.rejects(writeSynced(path, "{}"), /the state cannot be written/);
    assert.throws(() => takeLock(join(file, "dev.lock")), /the state folder cannot be written/);
    const advised = new Snapshot({ resources: [], pending: [] }, crypter, path, "Ask the owner.");
    await assert.rejects(advised.save(), /the state cannot be written.* Ask the owner\.$/s);
  });

  it("is refused if it refers to what is missing, names one thing twice, or needs a real engine", () => {
    const read = (resources: Partial<ResourceState>[], version = 3): unknown => {
      const named = resources.map((about) => ({ type: "t", ...about }));
      return readDeployment(checkExported({ version, deployment: { resources: named } }, "the state"), crypter);
    };
    assert.throws(() => read([{ urn: "a", dependencies: ["b"] }, { urn: "b" }]), /a refers to b/);
    assert.throws(() => read([{ urn: "a" }, { urn: "a" }]), /twice/);
    assert.throws(() => read([], 4), /version 4 is not supported.*pulumi/);
    assert.throws(
      () => read([{ urn: "a", type: "aws:s3:Bucket", custom: true }]),
      /a, a resource of a package, is not supported/,
    );
    assert.throws(() => read([{ urn: "a", external: true }]), /`external`.* is not supported/);
    read([{ urn: "a" }, { urn: "a", delete: true }]);
  });
});

describe("the local engine's project and settings", () => {
  inFolder();

  const project = (more = "") => readProject(dirname(write("Pulumi.yaml", `name: p\nruntime: nodejs\n${more}`)));

  it("finds what to run, and in which folder", () => {
    write("src/index.ts", "");
    const options = "{ typescript: false, nodeargs: --a  --b }";
    const main = `main: src/index.ts\nruntime: { name: nodejs, options: ${options} }`;
    const cases = {
      "runtime: nodejs": { programDirectory: directory, entryPoint: ".", typescript: true },
      [main]: { programDirectory: join(directory, "src"), entryPoint: "index.ts", typescript: false },
      "main: .\nruntime: nodejs": { programDirectory: directory, entryPoint: ".", typescript: true },
    };
    for (const [text, expected] of Object.entries(cases)) {
      write("Pulumi.yaml", `name: p\n${text}`);
      const found = readProject(directory);
      assert.deepEqual({ ...found, ...expected }, found);
    }
    assert.equal(findProject(directory), directory);
    assert.throws(() => project("main: nowhere.ts"), /`main` .*nowhere.ts/);
    write("Pulumi.yaml", "name: p\nruntime: python");
    assert.throws(() => readProject(directory), /"python" is not supported by the local engine.*CLI/);
    for (const key of ["stackConfigDir", "plugins", "packages"]) {
      assert.throws(() => project(`${key}: x`), new RegExp(`\`${key}\` in .* is not supported`));
    }
  });

  it("reads settings as text, with the project's defaults", async () => {
    const crypter = await Crypter.create("x");
    const hidden = crypter.encrypt("hidden");
    const settings = `  p:a: 1.10\n  other:key: true\n  p:deep:\n    list: [1, { secure: ${hidden} }]\n`;
    const path = write("Pulumi.dev.yaml", `config:\n${settings}`);
    const file = new StackFile(path, project("config:\n  a: 1\n  b: { default: two }\n  x:y: [1]"));
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
    const path = write("Pulumi.dev.yaml", "secretsprovider: awskms://alias/key\n");
    assert.throws(() => new StackFile(path, project()), /awskms:\/\/alias\/key is not supported/);
  });

  it("writes settings in the CLI's format, and leaves the rest of the file unchanged", () => {
    const path = write("Pulumi.dev.yaml", "# a comment\nconfig:\n  other:key: kept # unchanged\n");
    const file = new StackFile(path, project());
    file.setSalt("v1:salt");
    file.set("plain", "hello");
    file.set("p:token", { secure: "v1:sealed" });
    file.set("ns:number", "007");
    file.save();
    assert.match(readFileSync(path, "utf8"), /# a comment\n.*other:key: kept # unchanged\n/s);
    const again = new StackFile(path, project());
    assert.equal(again.salt, "v1:salt");
    assert.deepEqual([again.remove("token"), again.remove("token")], [true, false]);
    assert.deepEqual(again.settings(undefined)["ns:number"], { value: "007", secret: false });
  });

  for (const empty of ["", "config:\n", "config: {}\n"]) {
    it(`has nothing to remove from ${JSON.stringify(empty)}, and adds to it`, () => {
      const file = new StackFile(write("Pulumi.dev.yaml", empty), project());
      assert.ok(!file.remove("a"));
      file.set("a", "b");
      assert.deepEqual(file.settings(undefined)["p:a"], { value: "b", secret: false });
    });
  }

  it("adds the project's name to a key without a namespace", () => {
    const keys = ["a", "ns:a", "ns:config:a"].map((key) => fullKey("p", key));
    assert.deepEqual(keys, ["p:a", "ns:a", "ns:a"]);
    for (const bad of ["", "a:", ":a", "a:b:c"]) assert.throws(() => fullKey("p", bad), /not a configuration key/, bad);
  });
});
