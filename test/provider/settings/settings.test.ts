import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsError } from "../../../provider/domain/errors";
import { Settings } from "../../../provider/settings/settings";
import {
  environmentName,
  settingKey,
  type SettingName,
  settingNames,
  settingOf,
} from "../../../provider/settings/table";
import { caFile } from "../../faults/certificates";
import { skip } from "../../support/skip";

type Written = Partial<Record<SettingName, string>>;

const settings = (given: Written) => new Settings((name) => given[name]);
const directory = mkdtempSync(join(tmpdir(), "rekey-settings-"));
const noCertificate = join(directory, "key.pem");
writeFileSync(noCertificate, "-----BEGIN PRIVATE KEY-----\n");

/** The same values as they are written. */
const same = (...values: string[]) => Object.fromEntries(values.map((value) => [value, value]));

/** What may be written for each setting, and the value that is read. */
const valid: Readonly<Record<SettingName, Readonly<Record<string, unknown>>>> = {
  platform: same("upstash"),
  baseUrl: {
    "https://platform.test/": "https://platform.test",
    "https://platform.test:8443/a/b//": "https://platform.test:8443/a/b",
    " HTTPS://Platform.test/x \n": "https://platform.test/x",
    "https://platform.test?": "https://platform.test",
    "http://[::1]:8080/": "http://[::1]:8080",
    ...same("https://platform.test", "http://localhost:8080", "http://127.0.0.1", "http://127.1.2.3:1"),
  },
  queueUrl: { "https://queue.test/": "https://queue.test" },
  username: same("ops@example.com", "ö p"),
  password: same("p:ä ß"),
  queueToken: same("ey.J-_~+/="),
  queueUserId: same("a b/c"),
  resetPasswordPath: same("/v2/redis/reset-password/{id}", "/{id}/x"),
  databasePath: same("/v2/redis/database/{id}", "none"),
  databaseListPath: same("/v2/redis/databases"),
  flowControlResetAction: same("reset", "resetRate"),
  databaseHost: same("{endpoint}", "{endpoint}.example.com", "db-{id}.internal", "10.0.0.1", "::1", "[2001:db8::1]"),
  deadlineSeconds: { "60": 60, "0.5": 0.5, "86400": 86_400 },
  maxConcurrency: { "1": 1, "100": 100 },
  requestsPerSecond: { "10": 10, "0.1": 0.1 },
  maxResetsPerRun: { "0": 0, "3": 3 },
  scheduledResets: same("on", "off"),
  proxy: same("http://user:word@proxy.test:3128", "https://p.test", "http://u:100%25@proxy.test"),
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
  ["databasePath", /query or a fragment/, "/v2?id={id}&key=canary", "/v2/{id}#canary"],
  ["databaseListPath", /query or a fragment/, "/v2?key=canary", "/v2#canary"],
  ["resetPasswordPath", /query or a fragment/, "/reset?id={id}", "/{id}?key=canary", "/reset#{id}"],
  ["resetPasswordPath", /\{id\} once/, "/v2/", "/{id}/{id}"],
  ["flowControlResetAction", /one word/, "", "reset-with:canary", "../x", "a/b"],
  ["deadlineSeconds", /above 0/, "0", "-1"],
  ["deadlineSeconds", /number of seconds/, "canary", "60s"],
  ["deadlineSeconds", /at most 86400 \(a day\)\. No request/, "86401"],
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
  [
    "proxy",
    /with a percent sign that is not written as %25/,
    "http://user:100%canary@proxy.test",
    "http://%@proxy.test",
    "http://user:%zz@proxy.test",
    "http://user:canary%@proxy.test",
  ],
  ["caFile", /ENOENT/, "", "-----BEGIN PRIVATE KEY-----\ncanary", join(directory, "none.pem")],
  ["caFile", /ERR_INVALID_ARG_VALUE/, "canary\0"],
  ["caFile", /not a file/, directory],
  ["caFile", /no PEM certificate/, noCertificate],
];

describe("settings", () => {
  after(() => rmSync(directory, { recursive: true }));

  for (const name of settingNames) {
    it(`${name} may be ${Object.keys(valid[name]).join(", ")}`, () => {
      for (const [written, value] of Object.entries(valid[name])) {
        assert.equal(settings({ [name]: written }).require(name), value, written);
      }
    });
  }

  for (const [name, reason, ...values] of invalid) {
    it(`${name} may not be ${values.map((value) => JSON.stringify(value)).join(", ")}`, () => {
      for (const written of values) {
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
      }
    });
  }

  it("refuse a file of certificates that is a pipe or a device: reading one never ends", function () {
    if (process.platform === "win32") skip(this, "this system has no named pipes in folders");
    const pipe = join(directory, "pipe");
    spawnSync("mkfifo", [pipe]);
    // In another process: it could not be interrupted here.
    const source = `new (require("./provider/settings/settings").Settings)(() => ${JSON.stringify(pipe)}).get("caFile")`;
    const args = ["-r", "ts-node/register/transpile-only", "-e", source];
    const { stderr } = spawnSync(process.execPath, args, { timeout: 200_000, encoding: "utf8" });
    assert.match(stderr, /SettingsError: rekey:caFile is not a file/);
  });

  it("that are missing fail only the calls that require them, and the error names both ways to set them", () => {
    const none = settings({});
    for (const name of settingNames) {
      assert.deepEqual([settingKey(name), environmentName(name)], [`rekey:${name}`, variableOf(name)]);
      const { default: value } = settingOf(name);
      assert.equal(none.get(name), value);
      if (value !== undefined) continue;
      const secret = name === "password" || name === "queueToken" ? "--secret " : "";
      assert.throws(() => none.require(name), {
        message: new RegExp(
          `rekey:${name}\\b.* not set.*No request[^]*set ${secret}rekey:${name} .*${variableOf(name)}`,
        ),
      });
    }
  });

  const set = (name: string, variable = variableOf(name)) =>
    `Run \`pulumi config set ${name === "password" ? "--secret " : ""}rekey:${name} …\`, or set ${variable} in the environment.`;
  const own = (name: string) => `Set ${name} in the arguments of the provider "second".`;
  const usesPreset = "which sets addresses and paths.";
  const byCommand = `run \`pulumi config set rekey:platform upstash\`, ${usesPreset}`;
  /** What is set, a setting that is required, which ones are named as not set, and the advice. */
  const missing: readonly (readonly [
    Written,
    SettingName,
    provider: string | undefined,
    is: string,
    advice: string,
  ])[] = [
    [
      { password: "p" },
      "baseUrl",
      undefined,
      "rekey:baseUrl and rekey:username are not set",
      `For upstash, ${byCommand} ${set("baseUrl")} ${set("username")}`,
    ],
    [
      {},
      "queueUrl",
      "second",
      "rekey:queueUrl and rekey:queueToken are not set",
      `For upstash, set platform to upstash, ${usesPreset} ${own("queueUrl")} ${own("queueToken")}`,
    ],
    [
      { platform: "upstash" },
      "username",
      undefined,
      "rekey:username and rekey:password are not set",
      `${set("username", "UPSTASH_EMAIL")} ${set("password", "UPSTASH_API_KEY")}`,
    ],
    [
      { queueUserId: "u", baseUrl: "https://a.test", username: "u", password: "p" },
      "queueUrl",
      undefined,
      "rekey:queueUrl is not set",
      `For upstash, ${byCommand} ${set("queueUrl")}`,
    ],
  ];
  for (const [given, name, provider, is, advice] of missing) {
    it(`are missing all at once: ${is}`, () => {
      const message = `${is}. No request was made, and nothing was changed. ${advice} [REKEY_SETTING_MISSING]`;
      assert.throws(() => new Settings((one) => given[one], {}, provider).require(name), { message });
    });
  }

  it("are read from the configuration, else from the environment, if the variable is not empty", () => {
    const configuration: Written = { baseUrl: "a", username: "" };
    const variables = { REKEY_BASE_URL: "b", REKEY_QUEUE_URL: "c", REKEY_PROXY: "", REKEY_USERNAME: "d" };
    const found = new Settings((name) => configuration[name], variables);
    const expected = { baseUrl: "a", queueUrl: "c", proxy: undefined, username: "", caFile: undefined };
    for (const [name, value] of Object.entries(expected)) assert.equal(found.find(name as SettingName)?.value, value);
  });

  it("in the stack's configuration that cannot be used can be removed: environment variables do not replace them", () => {
    const environment = { REKEY_PASSWORD: "p", UPSTASH_API_KEY: "k", REKEY_QUEUE_TOKEN: "t" };
    const empty = new Settings((name) => (({ password: "", queueToken: "a b" }) as Written)[name], environment);
    const advice = (name: string, variable: string) =>
      `Run \`pulumi config set --secret rekey:${name} …\`, or \`pulumi config rm rekey:${name}\` to use ${variable}. [`;
    const says = (text: string) => (error: Error) => error.message.includes(text);
    assert.throws(() => empty.get("password"), says(advice("password", "REKEY_PASSWORD")));
    assert.throws(() => empty.get("queueToken"), says(advice("queueToken", "REKEY_QUEUE_TOKEN")));
    const ofProvider = new Settings(() => "", {}, "second");
    assert.throws(() => ofProvider.get("password"), says('Set password in the arguments of the provider "second". ['));
  });

  it("list what must never be shown, valid or not", () => {
    const rows: readonly (readonly [Written, ...secrets: string[]])[] = [
      [{ username: "ops", password: "bad\nword", queueToken: "tök" }, "bad\nword", "tök"],
      [{ username: "ops" }],
      [{ proxy: "http://u:p%40ss@proxy.test" }, "p%40ss"],
      [{ proxy: "http://token@proxy.test" }],
      [{ proxy: "u:word" }],
    ];
    for (const [given, ...secrets] of rows) assert.deepEqual([...settings(given).secrets].sort(), secrets);
  });
});
