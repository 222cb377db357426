import assert from "node:assert/strict";
import { SettingsError } from "../../../provider/domain/errors";
import { environmentOfProvider, Settings } from "../../../provider/settings/settings";
import { environmentName, type SettingName, settingNames } from "../../../provider/settings/table";

type Written = Partial<Record<SettingName, string>>;

const credentials = { UPSTASH_EMAIL: "ops@example.com", UPSTASH_API_KEY: "canary-key" };

/** Settings of a stack with the given configuration, and the preset unless the configuration has another. */
const upstash = (configuration: Written = {}, environment: NodeJS.ProcessEnv = credentials) =>
  new Settings((name) => ({ platform: "upstash", ...configuration })[name], environment);

const valuesOf = (settings: Settings, names: readonly string[]) =>
  Object.fromEntries((names as SettingName[]).map((name) => [name, settings.get(name)]));

function assertMissing(settings: Settings, name: SettingName, ...says: string[]): void {
  assert.equal(settings.get(name), undefined);
  assert.throws(
    () => settings.require(name),
    (error: unknown) => {
      assert.ok(error instanceof SettingsError && error.code === "REKEY_SETTING_MISSING");
      assert.ok(!error.message.includes("canary"), error.message);
      for (const text of [`rekey:${name}`, "not set", ...says]) assert.ok(error.message.includes(text), error.message);
      return true;
    },
  );
}

describe("rekey:platform", () => {
  const own = { REKEY_USERNAME: "u", REKEY_PASSWORD: "p", REKEY_QUEUE_TOKEN: "t", REKEY_QUEUE_URL: "https://q.test" };
  const configured = { username: "v", password: "w", queueToken: "x", queueUrl: "https://r.test" };
  const rows: Readonly<Record<string, readonly [Written, NodeJS.ProcessEnv, expected: Written]>> = {
    "sets the addresses and paths of upstash": [
      {},
      {},
      {
        baseUrl: "https://api.upstash.com",
        queueUrl: "https://qstash.upstash.io",
        resetPasswordPath: "/v2/redis/reset-password/{id}",
        databasePath: "/v2/redis/database/{id}",
        databaseListPath: "/v2/redis/databases",
        flowControlResetAction: "reset",
      },
    ],
    "leaves each of them to be set by itself": [
      { baseUrl: "https://a.test" },
      {},
      { baseUrl: "https://a.test", queueUrl: "https://qstash.upstash.io" },
    ],
    "reads the usual variables": [{}, credentials, { username: "ops@example.com", password: "canary-key" }],
    "reads Rekey's own first": [
      {},
      { ...credentials, ...own },
      { username: "u", password: "p", queueToken: "t", queueUrl: "https://q.test" },
    ],
    "reads the configuration before both": [configured, { ...credentials, ...own }, configured],
    "takes an empty variable as unset": [
      {},
      { ...credentials, UPSTASH_API_KEY: "" },
      { username: "ops@example.com", password: undefined as never },
    ],
    "reads the usual variables if only the queue has an address of one's own": [
      { queueUrl: "https://q.test" },
      credentials,
      { username: "ops@example.com", password: "canary-key" },
    ],
    "reads no variable of the vendor's queue": [
      {},
      { QSTASH_URL: "https://qstash.test", QSTASH_TOKEN: "canary-token" },
      { queueUrl: "https://qstash.upstash.io", queueToken: undefined as never },
    ],
  };
  for (const [what, [configuration, environment, expected]] of Object.entries(rows)) {
    it(what, () => assert.deepEqual(valuesOf(upstash(configuration, environment), Object.keys(expected)), expected));
  }

  it("may be set in the environment, and is needed to read those variables and to redact them", () => {
    const byVariable = new Settings(() => undefined, { REKEY_PLATFORM: "upstash" });
    assert.equal(byVariable.get("baseUrl"), "https://api.upstash.com");
    const none = new Settings(() => undefined, credentials);
    const unset = { username: undefined, password: undefined };
    assert.deepEqual(valuesOf(none, Object.keys(unset)), unset);
    assert.deepEqual(none.secrets, []);
  });

  it("redacts the usual secrets, even if they are not used", () => {
    const { secrets } = upstash({ password: "own", queueToken: "own-token", baseUrl: "https://a.test" });
    assert.deepEqual([...secrets].sort(), ["canary-key", "own", "own-token"]);
  });

  const ownAddresses = [
    "https://platform.test",
    "http://127.0.0.1:8080",
    "https://api.upstash.com",
    "https://qstash.upstash.io.evil.test",
    "https://api.upstash.com@evil.test",
    "not a URL",
  ];
  for (const address of ownAddresses) {
    it(`keeps the usual credentials from ${address}, if it is set`, () => {
      for (const [settings, setting] of [
        [upstash({ baseUrl: address }), "rekey:baseUrl"],
        [upstash({}, { ...credentials, REKEY_BASE_URL: address }), "REKEY_BASE_URL"],
      ] as const) {
        const why = (variable: string) => `${variable} is not used, because ${setting} is set`;
        assertMissing(settings, "username", why("UPSTASH_EMAIL"), "REKEY_USERNAME");
        assertMissing(settings, "password", why("UPSTASH_API_KEY"), "REKEY_PASSWORD");
      }
    });
  }

  it("names QSTASH_TOKEN, which is not read, if the token of the queue is missing", () => {
    const says = "rekey:queueToken is not set: QSTASH_TOKEN is set, but Rekey does not read it. ";
    for (const platform of ["upstash", undefined]) {
      const settings = upstash({ platform: platform as never, queueUrl: "https://q.test" }, { QSTASH_TOKEN: "canary" });
      assertMissing(settings, "queueToken", says, "set REKEY_QUEUE_TOKEN in the environment");
    }
  });

  /** What belongs to a run or a machine, and not to an account or its platform. */
  const ofRun = ["deadlineSeconds", "maxConcurrency", "requestsPerSecond", "maxResetsPerRun", "scheduledResets"];
  const ofMachine = ["proxy", "caFile"];
  const ofManagement = [
    "baseUrl",
    "username",
    "password",
    "resetPasswordPath",
    "databasePath",
    "databaseListPath",
    "databaseHost",
  ];
  const ofQueue = ["queueUrl", "queueToken", "flowControlResetAction"];
  const ofBoth = ["platform", "queueUserId"];
  const everyVariable = Object.fromEntries(settingNames.map((name) => [environmentName(name), "of the environment"]));
  for (const [names, withheld] of [
    [
      ["baseUrl", "username", "password"],
      [...ofBoth, ...ofManagement],
    ],
    [
      ["queueUrl", "queueToken"],
      [...ofBoth, ...ofQueue],
    ],
    [ofBoth, [...ofBoth, ...ofManagement, ...ofQueue]],
    [[...ofRun, ...ofMachine, "databaseHost", "databasePath", "flowControlResetAction"], []],
  ] as const) {
    it(`withholds ${withheld.length} variables from an explicit provider that sets one of ${names.join(", ")}`, () => {
      for (const own of names) {
        const usable = environmentOfProvider((name) => (name === own ? "own" : undefined), everyVariable);
        const isWithheld = (name: SettingName) => usable[environmentName(name)] === undefined;
        assert.deepEqual(settingNames.filter(isWithheld).sort(), [...withheld].sort(), own);
      }
    });
  }

  it("names the usual variable if it is missing or cannot be used", () => {
    assertMissing(upstash({}, {}), "password", "set UPSTASH_API_KEY in the environment");
    const settings = upstash({}, { UPSTASH_EMAIL: "a:b" });
    assert.throws(() => settings.get("username"), /set UPSTASH_EMAIL in the environment.*REKEY_SETTING_INVALID/);
  });

  for (const [platform, says] of [
    ["upstahs", /^rekey:platform is not a known platform \(did you mean upstash\?\)\. /],
    ["Upstas", /^rekey:platform is not a known platform \(did you mean upstash\?\)\. /],
    ["redis.com", /^rekey:platform is not a known platform \(known: upstash\)\. /],
    ["", /^rekey:platform is not a known platform \(known: upstash\)\. /],
    ["constructor", /^rekey:platform is not a known platform \(known: upstash\)\. /],
  ] as const) {
    it(`must not be ${JSON.stringify(platform)}: the error names the known platforms, whichever setting is read`, () => {
      for (const name of ["platform", "baseUrl", "password"] as const) {
        const assertSays = ({ code, message }: SettingsError) => {
          assert.equal(code, "REKEY_SETTING_INVALID");
          assert.match(message, says);
          return true;
        };
        assert.throws(() => upstash({ platform }).get(name), assertSays);
      }
    });
  }
});
