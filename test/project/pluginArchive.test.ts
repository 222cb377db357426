import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { extract, list } from "tar";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { skip } from "../support/skip";
import { writePluginArchives } from "../e2e/pluginArchive";
import { packageVersion } from "../../provider/domain/ownPackage";

const maxBytes = 5 * 1024 * 1024;
const systems = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64", "windows-arm64"];

// That it serves the engine: test/e2e/plugin.slow.test.ts, "The native plugin, installed".
describe("The plugin's archives", function () {
  const folder = new Folder();
  const shell = process.platform === "win32";
  const executable = folder.path(shell ? "pulumi-resource-rekey.cmd" : "pulumi-resource-rekey");
  let archives: string[];
  let archive: string;
  let checksums: string;

  before(async () => {
    archives = await writePluginArchives(folder.path("first"));
    checksums = archives.pop() ?? assert.fail();
    archive = archives[0] ?? assert.fail();
    await extract({ file: archive, cwd: folder.directory });
  });
  after(() => folder.remove());

  it("have the names that the engine asks for, the same bytes each time, at most 5 MB, and checksums", async () => {
    const names = systems.map((system) => `pulumi-resource-rekey-v${packageVersion()}-${system}.tar.gz`);
    assert.deepEqual(
      archives.map((path) => basename(path)),
      names,
    );
    const again = await writePluginArchives(folder.path("second"));
    const sums = archives.map((path, index) => {
      const bytes = readFileSync(path);
      assert.ok(bytes.equals(readFileSync(again[index] ?? "")), path);
      assert.ok(bytes.length <= maxBytes, `${path}: ${bytes.length} bytes`);
      return `${createHash("sha256").update(bytes).digest("hex")}  ${basename(path)}\n`;
    });
    assert.equal(readFileSync(checksums, "utf8"), sums.join(""));
  });

  it("ask for Node if there is none", () => {
    // `where` is there on Windows, and nothing on other systems.
    const path = shell ? join(process.env["SystemRoot"] ?? "", "System32") : folder.path("empty");
    const { status, stderr } = spawnSync(executable, { env: { PATH: path }, shell, encoding: "utf8" });
    assert.equal(status, 1);
    assert.match(
      stderr.trim(),
      /^The plugin of Rekey needs Node 20\.19\+ or 22\.12\+, and node is not on PATH\. No request was made\. Install .*\.$/,
    );
  });

  for (const [version, isSupported] of Object.entries({
    ...{ "0.12.18": false, "18.20.8": false, "20.18.3": false, "21.7.3": false, "22.11.0": false },
    ...{ "20.19.0": true, "22.12.0": true, "23.0.0": true, "24.0.0": true },
  })) {
    it(`${isSupported ? "run with" : "refuse"} Node ${version}`, () => {
      const preload = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
      const args = ["--require", folder.write("version.cjs", preload), folder.path("pulumi-resource-rekey")];
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
      const refused = `The plugin of Rekey needs Node 20.19+ or 22.12+, and the node on PATH is ${version}. No request was made. `;
      assert.equal(status, 1);
      assert.equal(stderr.startsWith(refused), !isSupported, stderr);
    });
  }

  it("run through a symbolic link", function () {
    if (shell) skip(this, "Windows needs a privilege to create one");
    const link = folder.path("link");
    symlinkSync(executable, link);
    assert.match(spawnSync(link, { encoding: "utf8" }).stderr, /^pulumi-resource-rekey is a plugin/);
  });

  it("have an executable for each system, the licenses of all libraries, and no path of this machine", () => {
    const modes: Record<string, number | undefined> = {};
    void list({ file: archive, sync: true, onReadEntry: ({ path, mode }) => (modes[path] = mode) });
    assert.deepEqual(modes, {
      "pulumi-resource-rekey": 0o755,
      "pulumi-resource-rekey.cmd": 0o644,
      "plugin.js": 0o644,
      "package.json": 0o644,
      "LICENSES.txt": 0o644,
    });
    const texts = Object.keys(modes).map((name) => readFileSync(folder.path(name), "utf8"));
    for (const path of [projectRoot, homedir()]) assert.ok(!texts.some((text) => text.includes(path)), path);
    const licenses = (texts.at(-1) ?? "").split(/^(?===== )/m);
    const bundled = ["agent-base", "https-proxy-agent", "age-encryption", "@noble/ciphers", "@noble/post-quantum"];
    const missing = bundled.filter((name) => !licenses.some((one) => one.startsWith(`==== ${name} `)));
    assert.deepEqual(missing, []);
    const granted = /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License/;
    for (const license of licenses) assert.match(license, granted);
  });
});
