import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { SettingsError } from "../../provider/platform/errors";
import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import { PlatformClient } from "../../provider/platformClient";
import { Settings } from "../../provider/settings/settings";
import { environmentName, nameOf, type SettingName, settingNames } from "../../provider/settings/table";
import { Folder } from "../support/folder";
import { assertNothingPolluted } from "./assertions";
import { hostileNames, hostileValues } from "./hostile";
import { fuzz, timeoutFor } from "./settings";

const anyText = fc.oneof(
  fc.constantFrom(...hostileValues, ...hostileNames, "Infinity", "0x1f", "1_000", "١", "1,5", " 5", "1e2"),
  fc.constantFrom(
    "http://127.0.0.1:1",
    "http://[::1",
    "//x",
    "http:",
    "https://%",
    "file:///etc/passwd",
    "javascript:1",
  ),
  fc.constantFrom("https://a@b", "https://x?y", "https://x#", "http://localhost.evil.test", "http://127.0.0.1.test"),
  fc.constantFrom("/{id}", "{id}", "/{id}/{id}", "/dev/null", "/", ".", "\u0000", "a\r\nHost: x", ":", "a:b"),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.double().map(String),
  fc.webUrl(),
);

describe("fuzz: settings", () => {
  it("are usable, or refused with both names and without a secret, whatever is written", () => {
    fc.assert(
      fc.property(fc.constantFrom(...settingNames), anyText, fc.boolean(), (name, written, configured) => {
        const given = (key: string): string | undefined => (configured && key === name ? written : undefined);
        const environment = configured ? {} : { [environmentName(name)]: written };
        assertSettled(name, written, new Settings(given, environment));
        assertNothingPolluted();
      }),
      fuzz(3_000),
    );
  }).timeout(timeoutFor(3_000));

  it("make a client, or are refused, whatever is written in all of them", () => {
    const values = Object.fromEntries(settingNames.map((name) => [name, fc.option(anyText)]));
    const all = fc.record(values, { requiredKeys: [] });
    fc.assert(
      fc.property(all, (written: Record<string, string | null | undefined>) => {
        const client = new PlatformClient(new Settings((name) => written[name] ?? undefined));
        for (const part of [() => client.operations(databasePassword), () => client.flowControl]) {
          try {
            assert.equal(typeof part(), "object");
          } catch (error) {
            assert.ok(error instanceof SettingsError, String(error));
          }
        }
      }),
      fuzz(1_000),
    );
  }).timeout(timeoutFor(1_000));

  it("refuse a file of certificates that is not a regular file: reading a pipe or a device never ends", function () {
    if (process.platform === "win32") {
      console.log("      skipped: this system has no named pipes in folders");
      this.skip();
    }
    const folder = new Folder();
    const pipe = folder.path("pipe");
    spawnSync("mkfifo", [pipe]);
    for (const caFile of [pipe, "/dev/zero", folder.directory, folder.path("none")]) {
      // In another process: it could not be interrupted here.
      const source = `new (require("./provider/settings/settings").Settings)(() => ${JSON.stringify(caFile)}).get("caFile")`;
      const args = ["-r", "ts-node/register/transpile-only", "-e", source];
      const { stderr } = spawnSync(process.execPath, args, { timeout: 200_000, encoding: "utf8" });
      assert.match(stderr, /SettingsError: rekey:caFile /, caFile);
    }
    folder.remove();
  });
});

function assertSettled(name: SettingName, written: string, settings: Settings): void {
  const started = process.cpuUsage();
  try {
    const value = settings.get(name);
    assert.ok(["string", "number", "undefined"].includes(typeof value));
    if (typeof value === "number") assert.ok(Number.isFinite(value) && value >= 0, String(value));
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    assert.ok(error.message.startsWith(`${nameOf(name)} `), error.message);
    assert.ok(error.message.includes(environmentName(name)), error.message);
    const isSecret = name === "password" || name === "queueToken";
    if (isSecret && written.length > 8) assert.ok(!error.message.includes(written), "a secret is shown");
  }
  assert.ok(process.cpuUsage(started).user < 2_000_000, "it took too long");
}
