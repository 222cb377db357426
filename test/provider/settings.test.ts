import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsError } from "../../provider/api/errors";
import { environmentName, nameOf, type SettingName, settingNames, Settings } from "../../provider/settings";
import { caFile } from "../faults/certificates";

const settings = (given: Partial<Record<SettingName, string>>) => new Settings((name) => given[name]);
const directory = mkdtempSync(join(tmpdir(), "rekey-settings-"));
const noCertificate = join(directory, "key.pem");
writeFileSync(noCertificate, "-----BEGIN PRIVATE KEY-----\n");

/** Each setting by its name in the environment, with what may be written and what comes of it. */
const valid: Readonly<Record<SettingName, readonly (readonly [written: string, value: unknown])[]>> = {
  platform: [["upstash", "upstash"]],
  baseUrl: [
    ["https://platform.test", "https://platform.test"],
    ["https://platform.test/", "https://platform.test"],
    ["https://platform.test:8443/a/b//", "https://platform.test:8443/a/b"],
    [" HTTPS://Platform.test/x \n", "https://platform.test/x"],
    ["https://platform.test?", "https://platform.test"],
    ["http://localhost:8080", "http://localhost:8080"],
    ["http://127.0.0.1", "http://127.0.0.1"],
    ["http://127.1.2.3:1", "http://127.1.2.3:1"],
    ["http://[::1]:8080/", "http://[::1]:8080"],
  ],
  queueUrl: [["https://queue.test/", "https://queue.test"]],
  username: [
    ["ops@example.com", "ops@example.com"],
    ["ö p", "ö p"],
  ],
  password: [["p:ä ß", "p:ä ß"]],
  queueToken: [["ey.J-_~+/=", "ey.J-_~+/="]],
  resetPasswordPath: [
    ["/v2/redis/reset-password/{id}", "/v2/redis/reset-password/{id}"],
    ["/{id}/x", "/{id}/x"],
  ],
  flowControlResetAction: [
    ["reset", "reset"],
    ["resetRate", "resetRate"],
  ],
  deadlineSeconds: [
    ["60", 60],
    ["0.5", 0.5],
    ["86400", 86_400],
  ],
  maxConcurrency: [
    ["1", 1],
    ["100", 100],
  ],
  requestsPerSecond: [
    ["10", 10],
    ["0.1", 0.1],
  ],
  maxResetsPerRun: [
    ["0", 0],
    ["3", 3],
  ],
  proxy: [
    ["http://user:word@proxy.test:3128", "http://user:word@proxy.test:3128"],
    ["https://p.test", "https://p.test"],
  ],
  caFile: [[caFile, readFileSync(caFile, "utf8")]],
};

const environment: Readonly<Record<SettingName, string>> = {
  platform: "REKEY_PLATFORM",
  baseUrl: "REKEY_BASE_URL",
  queueUrl: "REKEY_QUEUE_URL",
  username: "REKEY_USERNAME",
  password: "REKEY_PASSWORD",
  queueToken: "REKEY_QUEUE_TOKEN",
  resetPasswordPath: "REKEY_RESET_PASSWORD_PATH",
  flowControlResetAction: "REKEY_FLOW_CONTROL_RESET_ACTION",
  deadlineSeconds: "REKEY_DEADLINE_SECONDS",
  maxConcurrency: "REKEY_MAX_CONCURRENCY",
  requestsPerSecond: "REKEY_REQUESTS_PER_SECOND",
  maxResetsPerRun: "REKEY_MAX_RESETS_PER_RUN",
  proxy: "REKEY_PROXY",
  caFile: "REKEY_CA_FILE",
};

const invalid: readonly (readonly [SettingName, string, RegExp])[] = [
  ["baseUrl", "", /is not a URL/],
  ["baseUrl", "platform.test", /is not a URL/],
  ["baseUrl", "ftp://platform.test", /must begin with https:/],
  ["baseUrl", "http://platform.test", /credentials would travel in plain text/],
  ["baseUrl", "http://127.0.0.1.evil.test", /plain text/],
  ["baseUrl", "http://localhost.evil.test", /plain text/],
  ["baseUrl", "http://10.0.0.1", /plain text/],
  ["baseUrl", "https://user:canary@platform.test", /must not hold credentials/],
  ["baseUrl", "user:canary", /must begin with https:/],
  ["baseUrl", "http://user:canary", /is not a URL/],
  ["baseUrl", "https//user:canary", /is not a URL/],
  ["baseUrl", "http://platform.test/canary", /plain text/],
  ["baseUrl", "https://platform.test/?a=canary", /must not hold a query or a fragment/],
  ["baseUrl", "https://platform.test/#canary", /must not hold a query or a fragment/],
  ["queueUrl", "http://queue.test", /plain text/],
  ["username", "", /must not be empty/],
  ["username", "ops:canary", /must not hold a colon/],
  ["username", "a\nb", /line breaks/],
  ["password", "", /must not be empty/],
  ["password", "canary\r\nX-Evil: 1", /line breaks/],
  ["queueToken", "", /must not be empty/],
  ["queueToken", "canary\n", /line breaks/],
  ["queueToken", "canary €", /must be visible ASCII/],
  ["resetPasswordPath", "v2/{id}", /must begin with \//],
  ["resetPasswordPath", "https://user:canary/{id}", /must begin with \//],
  ["resetPasswordPath", "/{id}/{id}?key=canary", /must hold \{id\} once/],
  ["resetPasswordPath", "/v2/", /must hold \{id\} once/],
  ["resetPasswordPath", "/{id}/{id}", /must hold \{id\} once/],
  ["flowControlResetAction", "", /must be one word/],
  ["flowControlResetAction", "reset-with:canary", /must be one word/],
  ["flowControlResetAction", "../x", /must be one word/],
  ["flowControlResetAction", "a/b", /must be one word/],
  ["deadlineSeconds", "0", /must be above 0/],
  ["deadlineSeconds", "-1", /must be above 0/],
  ["deadlineSeconds", "soon", /must be a number of seconds/],
  ["deadlineSeconds", "60s", /must be a number of seconds/],
  ["deadlineSeconds", "86401", /at most 86400/],
  ["maxConcurrency", "0", /at least 1/],
  ["maxConcurrency", "1.5", /whole number/],
  ["maxConcurrency", "", /must be a number/],
  ["requestsPerSecond", "0", /above 0/],
  ["requestsPerSecond", "Infinity", /must be a number/],
  ["maxResetsPerRun", "-1", /must not be negative/],
  ["maxResetsPerRun", "2.5", /whole number/],
  ["maxResetsPerRun", "", /must be a number/],
  ["maxResetsPerRun", " ", /must be a number/],
  ["proxy", "proxy:3128", /must be an http or https URL/],
  ["proxy", "u:canary", /must be an http or https URL/],
  ["proxy", "http://u:canary", /must be an http or https URL/],
  ["proxy", "u:canary@proxy.test", /must be an http or https URL/],
  ["proxy", "u:canary@proxy.test:3128", /must be an http or https URL/],
  ["proxy", "socks5://user:canary@proxy.test", /must be an http or https URL/],
  ["caFile", "", /must not be empty/],
  ["caFile", "-----BEGIN PRIVATE KEY-----\ncanary", /cannot be read \(ENOENT\)/],
  ["caFile", "canary\0", /cannot be read \(ERR_INVALID_ARG_VALUE\)/],
  ["caFile", join(directory, "none.pem"), /cannot be read \(ENOENT\)/],
  ["caFile", directory, /cannot be read \(EISDIR\)/],
  ["caFile", noCertificate, /holds no certificate in PEM/],
];

const numbers: readonly string[] = ["deadlineSeconds", "maxConcurrency", "requestsPerSecond", "maxResetsPerRun"];

describe("settings", () => {
  after(() => rmSync(directory, { recursive: true }));

  for (const [name, rows] of Object.entries(valid) as [SettingName, (typeof valid)[SettingName]][]) {
    for (const [written, value] of rows) {
      it(`${name} may be ${JSON.stringify(written)}`, () => {
        assert.equal(settings({ [name]: written }).get(name), value);
        assert.equal(settings({ [name]: written }).require(name), value);
      });
    }
  }

  for (const [name, written, reason] of invalid) {
    it(`${name} may not be ${JSON.stringify(written)}`, () => {
      for (const read of ["get", "require"] as const) {
        assert.throws(
          () => settings({ [name]: written })[read](name),
          (error) => {
            assert.ok(error instanceof SettingsError);
            assert.match(error.message, reason);
            assert.ok(error.message.startsWith(`rekey:${name} `) && error.message.includes(environment[name]));
            assert.ok(!error.message.includes("canary"), error.message);
            // Anything else may hold a credential.
            assert.equal(error.message.includes(` (it is ${JSON.stringify(written)})`), numbers.includes(name));
            return true;
          },
        );
      }
    });
  }

  it("has these, and each is named in the configuration and in the environment", () => {
    assert.deepEqual([...settingNames].sort(), Object.keys(environment).sort());
    for (const name of settingNames) {
      assert.equal(nameOf(name), `rekey:${name}`);
      assert.equal(environmentName(name), environment[name]);
    }
  });

  it("that are missing hurt only who requires them, who is told both ways to set them", () => {
    const none = settings({});
    for (const name of settingNames) {
      assert.equal(none.get(name), undefined);
      const secret = name === "password" || name === "queueToken" ? "--secret " : "";
      assert.throws(() => none.require(name), {
        message: `rekey:${name} is not set. Nothing was sent, and nothing was changed. Run \`pulumi config set ${secret}rekey:${name} …\`, or set ${environment[name]} in the environment.`,
      });
    }
  });

  it("are looked up in the configuration, else in the environment; an empty variable is none", () => {
    const configuration: Readonly<Record<string, string>> = { baseUrl: "a", username: "" };
    const variables = { REKEY_BASE_URL: "b", REKEY_QUEUE_URL: "c", REKEY_PROXY: "", REKEY_USERNAME: "d" };
    const found = new Settings((name) => configuration[name], variables);
    const names = ["baseUrl", "queueUrl", "proxy", "username", "caFile"] as const;
    assert.deepEqual(
      names.map((name) => found.find(name)?.value),
      ["a", "c", undefined, "", undefined],
    );
  });

  it("tell what must never be shown, usable or not", () => {
    const { secrets } = settings({ username: "ops", password: "bad\nword", queueToken: "tök" });
    assert.deepEqual([...secrets].sort(), ["bad\nword", "tök"]);
    assert.deepEqual(settings({ username: "ops" }).secrets, []);
    assert.deepEqual(settings({ proxy: "http://u:p%40ss@proxy.test" }).secrets, ["p%40ss"]);
    assert.deepEqual(settings({ proxy: "http://token@proxy.test" }).secrets, []);
    assert.deepEqual(settings({ proxy: "u:word" }).secrets, []);
  });

  for (const [address, proxy, refused] of [
    ["http://127.0.0.1:8080", "http://proxy.test:3128", true],
    ["http://[::1]:8080", "https://10.0.0.1:3128", true],
    ["http://127.0.0.1:8080", "http://127.0.0.2:3128", false],
    ["http://localhost:8080", "http://[::1]:3128", false],
    ["https://api.example.com", "http://proxy.test:3128", false],
  ] as const) {
    it(`${refused ? "refuses" : "allows"} ${address} through ${proxy}`, () => {
      const one = settings({ proxy });
      if (!refused) return assert.equal(one.proxyFor(address), proxy);
      assert.throws(() => one.proxyFor(address), /rekey:proxy is not on this machine.*in plain text.*Nothing was sent/);
    });
  }
});
