import assert from "node:assert/strict";
import { plainCredentials, plainWarning } from "../../../provider/settings/plainCredentials";
import { Folder } from "../../support/folder";
import { Plugin } from "../../support/plugin";
import { secret } from "../../support/wire";

const provider = "urn:pulumi:dev::caches::pulumi:providers:rekey::default";
const password = "canary #1: 'it'";
const proxy = "http://user:canary@127.0.0.1:3128";

describe("the plugin: credentials in the file of the stack's configuration", () => {
  let folder: Folder;
  beforeEach(() => (folder = new Folder()).write("Pulumi.yaml", "name: caches\n"));
  afterEach(() => folder.remove());

  const found = (line: string, values: Readonly<Record<string, string>> = { password, proxy }, stack = "dev") => {
    folder.write("Pulumi.dev.yaml", `encryptionsalt: v1:x\nconfig:\n  rekey:username: you\n  ${line}\n`);
    return plainCredentials(folder.directory, stack, (name) => values[name]);
  };

  it("are found, however they are written", () => {
    for (const line of [
      `rekey:password: "canary #1: 'it'" # ours`,
      `rekey:password: 'canary #1: ''it'''`,
      `"rekey:password": "canary \\u00231: 'it'"\r`,
    ]) {
      assert.deepEqual(found(line), ["password"], line);
    }
    assert.deepEqual(found("rekey:password: plain # ours", { password: "plain" }), ["password"]);
    assert.deepEqual(found(`rekey:proxy: ${proxy}`), ["proxy"]);
  });

  it("are none if they are encrypted, others are in use, or they are not credentials", () => {
    assert.deepEqual(found("rekey:password:\n    secure: v1:abc"), []);
    assert.deepEqual(found("rekey:password: other"), []);
    assert.deepEqual(found("rekey:password: plain", {}), []);
    assert.deepEqual(found('rekey:password: "broken'), []);
    assert.deepEqual(found("rekey:password: plain", { password: "plain" }, "prod"), []);
    assert.deepEqual(found("other:password: plain", { password: "plain" }), []);
    assert.deepEqual(found("rekey:proxy: http://proxy:3128", { proxy: "http://proxy:3128" }), []);
    folder.remove();
    assert.deepEqual(
      plainCredentials(folder.directory, "dev", () => "plain"),
      [],
    );
  });

  it("are a warning of the default provider, without the value", () => {
    folder.write("Pulumi.dev.yaml", "config:\n  rekey:password: canary\n");
    const former = process.cwd();
    process.chdir(folder.directory);
    try {
      for (const [urn, warnings] of [
        [provider, [`default: warning: ${plainWarning("password")}`]],
        [provider.replace("default", "second"), []],
      ] as const) {
        const plugin = new Plugin();
        plugin.configure(urn, { password: secret("canary"), username: "you" });
        assert.deepEqual(plugin.said, warnings);
      }
    } finally {
      process.chdir(former);
    }
    assert.match(plainWarning("password"), /`pulumi config set --secret rekey:password`/);
  });
});
