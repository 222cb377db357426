import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsError } from "../../../provider/platform/errors";
import { Settings } from "../../../provider/settings/settings";
import { environmentName, nameOf, type SettingName, settingNames } from "../../../provider/settings/table";
import { caFile } from "../../faults/certificates";

const settings = (given: Partial<Record<SettingName, string>>) => new Settings((name) => given[name]);
const directory = mkdtempSync(join(tmpdir(), "rekey-settings-"));
const noCertificate = join(directory, "key.pem");
writeFileSync(noCertificate, "-----BEGIN PRIVATE KEY-----\n");

/** What may be written for each setting, and the value that is read. */
const valid: Readonly<Record<SettingName, Readonly<Record<string, unknown>>>> = {
  platform: { upstash: "upstash" },
  baseUrl: {
    "https://platform.test": "https://platform.test",
    "https://platform.test/": "https://platform.test",
    "https://platform.test:8443/a/b//": "https://platform.test:8443/a/b",
    " HTTPS://Platform.test/x \n": "https://platform.test/x",
    "https://platform.test?": "https://platform.test",
    "http://localhost:8080": "http://localhost:8080",
    "http://127.0.0.1": "http://127.0.0.1",
    "http://127.1.2.3:1": "http://127.1.2.3:1",
    "http://[::1]:8080/": "http://[::1]:8080",
  },
  queueUrl: { "https://queue.test/": "https://queue.test" },
  username: { "ops@example.com": "ops@example.com", "ö p": "ö p" },
  password: { "p:ä ß": "p:ä ß" },
  queueToken: { "ey.J-_~+/=": "ey.J-_~+/=" },
  queueUserId: { "a b/c": "a b/c" },
  resetPasswordPath: { "/v2/redis/reset-password/{id}": "/v2/redis/reset-password/{id}", "/{id}/x": "/{id}/x" },
  databasePath: { "/v2/redis/database/{id}": "/v2/redis/database/{id}", none: "none" },
  databaseListPath: { "/v2/redis/databases": "/v2/redis/databases" },
  flowControlResetAction: { reset: "reset", resetRate: "resetRate" },
  databaseHost: {
    "{endpoint}": "{endpoint}",
    "{endpoint}.example.com": "{endpoint}.example.com",
    "db-{id}.internal": "db-{id}.internal",
    "10.0.0.1": "10.0.0.1",
    "::1": "::1",
    "[2001:db8::1]": "[2001:db8::1]",
  },
  deadlineSeconds: { "60": 60, "0.5": 0.5, "86400": 86_400 },
  maxConcurrency: { "1": 1, "100": 100 },
  requestsPerSecond: { "10": 10, "0.1": 0.1 },
  maxResetsPerRun: { "0": 0, "3": 3 },
  scheduledResets: { on: "on", off: "off" },
  proxy: { "http://user:word@proxy.test:3128": "http://user:word@proxy.test:3128", "https://p.test": "https://p.test" },
  caFile: { [caFile]: readFileSync(caFile, "utf8") },
};

/** `REKEY_BASE_URL` for `baseUrl`. */
const variableOf = (name: string) => `REKEY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** What may not be written, after what the error must say. */
const invalid: readonly (readonly [name: SettingName, reason: RegExp, ...written: string[]])[] = [
  ["baseUrl", /is not a URL/, "", "platform.test", "http://user:canary", "https//user:canary"],
  ["baseUrl", /begin with https:/, "ftp://platform.test", "user:canary"],
  ["baseUrl", /plain text/, "http://platform.test/canary", "http://10.0.0.1", "http://127.0.0.1.evil.test"],
  ["baseUrl", /contain credentials/, "https://user:canary@platform.test"],
  ["baseUrl", /query or a fragment/, "https://platform.test/?a=canary", "https://platform.test/#canary"],
  ["queueUrl", /plain text/, "http://queue.test"],
  ["databaseHost", /host name or an IP/, "", "a b", "a:1", "user:canary@h", "{name}.x", "a\nb", "a..b", "fe80::1%eth0"],
  ["queueUserId", /empty/, "", " "],
  ["queueUserId", /path cannot contain/, "..", "."],
  ["username", /empty/, ""],
  ["username", /colon/, "ops:canary"],
  ["username", /line breaks/, "a\nb"],
  ["password", /empty/, ""],
  ["password", /line breaks/, "canary\r\nX-Evil: 1"],
  ["queueToken", /empty/, ""],
  ["queueToken", /line breaks/, "canary\n"],
  ["queueToken", /visible ASCII/, "canary €"],
  ["databasePath", /begin with \/|none/, "v2/{id}", "NONE"],
  ["databaseListPath", /begin with \//, "v2/databases", "https://user:canary@platform.test/v2"],
  ["databaseListPath", /empty/, ""],
  ["resetPasswordPath", /begin with \//, "v2/{id}", "https://user:canary/{id}"],
  ["resetPasswordPath", /\{id\} once/, "/{id}/{id}?key=canary", "/v2/", "/{id}/{id}"],
  ["flowControlResetAction", /one word/, "", "reset-with:canary", "../x", "a/b"],
  ["deadlineSeconds", /above 0/, "0", "-1"],
  ["deadlineSeconds", /number of seconds/, "canary", "60s"],
  ["deadlineSeconds", /at most 86400 \(a day\)\. Nothing/, "86401"],
  ["maxConcurrency", /at least 1/, "0"],
  ["maxConcurrency", /whole number/, "1.5"],
  ["maxConcurrency", /be a number/, "", "canary"],
  ["requestsPerSecond", /above 0/, "0"],
  ["requestsPerSecond", /be a number/, "Infinity", "canary"],
  ["maxResetsPerRun", /negative/, "-1"],
  ["maxResetsPerRun", /whole number/, "2.5"],
  ["maxResetsPerRun", /be a number/, "", " ", "canary"],
  ["scheduledResets", /must be "on" or "off"/, "", "false", "OFF", "canary"],
  ["proxy", /http or https URL/, "proxy:3128", "u:canary", "http://u:canary", "socks5://user:canary@proxy.test"],
  ["caFile", /ENOENT/, "", "-----BEGIN PRIVATE KEY-----\ncanary", join(directory, "none.pem")],
  ["caFile", /ERR_INVALID_ARG_VALUE/, "canary\0"],
  ["caFile", /not a file/, directory],
  ["caFile", /no PEM certificate/, noCertificate],
];

describe("settings", () => {
  after(() => rmSync(directory, { recursive: true }));

  for (const name of settingNames) {
    for (const [written, value] of Object.entries(valid[name])) {
      it(`${name} may be ${JSON.stringify(written)}`, () => {
        assert.equal(settings({ [name]: written }).require(name), value);
      });
    }
  }

  for (const [name, reason, ...values] of invalid) {
    for (const written of values) {
      it(`${name} may not be ${JSON.stringify(written)}`, () => {
        assert.throws(
          () => settings({ [name]: written }).get(name),
          (error) => {
            assert.ok(error instanceof SettingsError);
            assert.match(error.message, reason);
            assert.ok(error.message.startsWith(`rekey:${name} `) && error.message.includes(variableOf(name)));
            assert.ok(!error.message.includes("canary"), error.message);
            return true;
          },
        );
      });
    }
  }

  it("refuse a file of certificates that is a pipe or a device: reading one never ends", function () {
    if (process.platform === "win32") {
      console.log("      skipped: this system has no named pipes in folders");
      return this.skip();
    }
    const pipe = join(directory, "pipe");
    spawnSync("mkfifo", [pipe]);
    for (const caFile of [pipe, "/dev/zero"]) {
      // In another process: it could not be interrupted here.
      const source = `new (require("./provider/settings/settings").Settings)(() => ${JSON.stringify(caFile)}).get("caFile")`;
      const args = ["-r", "ts-node/register/transpile-only", "-e", source];
      const { stderr } = spawnSync(process.execPath, args, { timeout: 200_000, encoding: "utf8" });
      assert.match(stderr, /SettingsError: rekey:caFile /, caFile);
    }
  });

  it("that are missing fail only the calls that require them, and the error names both ways to set them", () => {
    const none = settings({});
    for (const name of settingNames) {
      assert.deepEqual([nameOf(name), environmentName(name)], [`rekey:${name}`, variableOf(name)]);
      assert.equal(none.get(name), undefined);
      const secret = name === "password" || name === "queueToken" ? "--secret " : "";
      assert.throws(() => none.require(name), {
        message: new RegExp(`rekey:${name}\\b.* not set.*Nothing[^]*set ${secret}rekey:${name} .*${variableOf(name)}`),
      });
    }
  });

  const set = (name: string, variable = variableOf(name)) =>
    `Run \`pulumi config set ${name === "password" ? "--secret " : ""}rekey:${name} …\`, or set ${variable} in the environment.`;
  const own = (name: string) => `Set ${name} in the arguments of the provider "second".`;
  const usesPreset = "which sets addresses and paths.";
  for (const { title, given, name, provider, message } of [
    {
      title: "are reported all at once, the preset first",
      given: { password: "p" },
      name: "baseUrl",
      message: `rekey:baseUrl and rekey:username are not set. … For upstash, run \`pulumi config set rekey:platform upstash\`, ${usesPreset} ${set("baseUrl")} ${set("username")}`,
    },
    {
      title: "are those of the provider, if it has arguments",
      given: {},
      name: "queueUrl",
      provider: "second",
      message: `rekey:queueUrl and rekey:queueToken are not set. … For upstash, set platform to upstash, ${usesPreset} ${own("queueUrl")} ${own("queueToken")}`,
    },
    {
      title: "are the usual variables of the preset",
      given: { platform: "upstash" },
      name: "username",
      message: `rekey:username and rekey:password are not set. … ${set("username", "UPSTASH_EMAIL")} ${set("password", "UPSTASH_API_KEY")}`,
    },
    {
      title: "do not include a token that is read",
      given: { queueUserId: "u", baseUrl: "https://a.test", username: "u", password: "p" },
      name: "queueUrl",
      message: `rekey:queueUrl is not set. … For upstash, run \`pulumi config set rekey:platform upstash\`, ${usesPreset} ${set("queueUrl")}`,
    },
  ] satisfies readonly { title: string; given: object; name: SettingName; provider?: string; message: string }[]) {
    it(`that a service needs ${title}`, () => {
      const all: Partial<Record<SettingName, string>> = given;
      const nothing = "Nothing was sent, and nothing was changed.";
      assert.throws(() => new Settings((one) => all[one], {}, provider).require(name), {
        message: `${message.replace("…", nothing)} [REKEY_SETTING_MISSING]`.replace(/^(.*? set\. )…/, `$1${nothing}`),
      });
    });
  }

  it("are read from the configuration, else from the environment, if the variable is not empty", () => {
    const configuration: Readonly<Record<string, string>> = { baseUrl: "a", username: "" };
    const variables = { REKEY_BASE_URL: "b", REKEY_QUEUE_URL: "c", REKEY_PROXY: "", REKEY_USERNAME: "d" };
    const found = new Settings((name) => configuration[name], variables);
    const names = ["baseUrl", "queueUrl", "proxy", "username", "caFile"] as const;
    const values = Object.fromEntries(names.map((name) => [name, found.find(name)?.value]));
    const expected = { baseUrl: "a", queueUrl: "c", proxy: undefined, username: "", caFile: undefined };
    assert.deepEqual(values, expected);
  });

  it("list what must never be shown, valid or not", () => {
    const { secrets } = settings({ username: "ops", password: "bad\nword", queueToken: "tök" });
    assert.deepEqual([...secrets].sort(), ["bad\nword", "tök"]);
    assert.deepEqual(settings({ username: "ops" }).secrets, []);
    assert.deepEqual(settings({ proxy: "http://u:p%40ss@proxy.test" }).secrets, ["p%40ss"]);
    assert.deepEqual(settings({ proxy: "http://token@proxy.test" }).secrets, []);
    assert.deepEqual(settings({ proxy: "u:word" }).secrets, []);
  });

  for (const { address, proxy, refused } of [
    { address: "http://127.0.0.1:8080", proxy: "http://proxy.test:3128", refused: true },
    { address: "http://[::1]:8080", proxy: "https://10.0.0.1:3128", refused: true },
    { address: "http://127.0.0.1:8080", proxy: "http://127.0.0.2:3128", refused: false },
    { address: "http://localhost:8080", proxy: "http://[::1]:3128", refused: false },
    { address: "https://api.example.com", proxy: "http://proxy.test:3128", refused: false },
  ] as const) {
    it(`${refused ? "refuses" : "allows"} ${address} through ${proxy}`, () => {
      const one = settings({ proxy });
      if (!refused) return assert.equal(one.proxyFor(address), proxy);
      assert.throws(() => one.proxyFor(address), /rekey:proxy is not on this machine.*in plain text.*Nothing was sent/);
    });
  }
});
