import assert from "node:assert/strict";
import { SettingsError } from "../../../provider/domain/errors";
import { environmentOfProvider, Settings } from "../../../provider/settings/settings";
import { environmentName, type SettingName, settingNames } from "../../../provider/settings/table";

type Written = Partial<Record<SettingName, string>>;

const credentials = { UPSTASH_EMAIL: "ops@example.com", UPSTASH_API_KEY: "canary-key", QSTASH_TOKEN: "canary-token" };
const east = { US_EAST_1_QSTASH_URL: "https://qstash-us-east-1.test", US_EAST_1_QSTASH_TOKEN: "canary-east" };
const regions = { ...credentials, QSTASH_URL: "https://qstash.test", ...east, QSTASH_REGION: "US_EAST_1" };
const { US_EAST_1_QSTASH_TOKEN: _token, ...withoutToken } = regions;

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
  const usual = { ...credentials, QSTASH_URL: "https://qstash-us-east-1.upstash.io" };
  const ofRegion = { queueUrl: east.US_EAST_1_QSTASH_URL, queueToken: "canary-east" };
  const byDefault = { queueUrl: "https://qstash.test", queueToken: "canary-token" };
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
    "reads the usual variables": [
      {},
      usual,
      { username: "ops@example.com", password: "canary-key", queueToken: "canary-token", queueUrl: usual.QSTASH_URL },
    ],
    "reads Rekey's own first": [
      {},
      { ...usual, ...own },
      { username: "u", password: "p", queueToken: "t", queueUrl: "https://q.test" },
    ],
    "reads the configuration before both": [configured, { ...usual, ...own }, configured],
    "takes an empty variable as unset": [
      {},
      { UPSTASH_API_KEY: "", QSTASH_URL: "" },
      { password: undefined as never, queueUrl: "https://qstash.upstash.io" },
    ],
    "reads the usual variables of a service if only the other one has an address of one's own": [
      { queueUrl: "https://q.test" },
      credentials,
      { username: "ops@example.com", password: "canary-key", queueToken: undefined as never },
    ],
    "uses QSTASH_TOKEN for any address in QSTASH_URL": [
      {},
      { ...credentials, QSTASH_URL: "https://qstash.test" },
      { queueToken: "canary-token" },
    ],
    "reads the variables of QSTASH_REGION, as the vendor's client": [{}, regions, ofRegion],
    "knows the region in another spelling": [{}, { ...regions, QSTASH_REGION: "us-east-1" }, ofRegion],
    "reads the others for another region": [{}, { ...regions, QSTASH_REGION: "EU_CENTRAL_1" }, byDefault],
    "reads the others for one that does not exist": [{}, { ...regions, QSTASH_REGION: "constructor" }, byDefault],
    "reads the region's address for a token of one's own": [
      {},
      { ...withoutToken, REKEY_QUEUE_TOKEN: "own" },
      { queueUrl: east.US_EAST_1_QSTASH_URL, queueToken: "own" },
    ],
    "removes the path of old addresses, as the vendor's client": [
      {},
      { QSTASH_URL: "https://qstash.upstash.io/v2/publish/", QSTASH_TOKEN: "x/v2/publish/" },
      { queueUrl: "https://qstash.upstash.io", queueToken: "x/v2/publish/" },
    ],
    "reads Rekey's own before those of the region": [
      {},
      { ...regions, REKEY_QUEUE_URL: "https://own.test", REKEY_QUEUE_TOKEN: "own" },
      { queueUrl: "https://own.test", queueToken: "own" },
    ],
  };
  for (const [what, [configuration, environment, expected]] of Object.entries(rows)) {
    it(what, () => assert.deepEqual(valuesOf(upstash(configuration, environment), Object.keys(expected)), expected));
  }

  it("may be set in the environment, and is needed to read those variables and to redact them", () => {
    const byVariable = new Settings(() => undefined, { REKEY_PLATFORM: "upstash" });
    assert.equal(byVariable.get("baseUrl"), "https://api.upstash.com");
    const none = new Settings(() => undefined, { ...regions, QSTASH_URL: "https://qstash.upstash.io" });
    const unset = { username: undefined, password: undefined, queueToken: undefined, queueUrl: undefined };
    assert.deepEqual(valuesOf(none, Object.keys(unset)), unset);
    assert.deepEqual(none.secrets, []);
  });

  it("redacts the usual secrets, including that of the region, even if they are not used", () => {
    const { secrets } = upstash({ password: "own", queueToken: "own-token", baseUrl: "https://a.test" }, regions);
    assert.deepEqual([...secrets].sort(), ["canary-east", "canary-key", "canary-token", "own", "own-token"]);
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
      const variables = { ...credentials, REKEY_BASE_URL: address, REKEY_QUEUE_URL: address };
      for (const [settings, baseUrl, queueUrl] of [
        [upstash({ baseUrl: address, queueUrl: address }), "rekey:baseUrl", "rekey:queueUrl"],
        [upstash({}, variables), "REKEY_BASE_URL", "REKEY_QUEUE_URL"],
      ] as const) {
        const why = (variable: string, setting: string = baseUrl) =>
          `${variable} is not used, because ${setting} is set`;
        assertMissing(settings, "username", why("UPSTASH_EMAIL"), "REKEY_USERNAME");
        assertMissing(settings, "password", why("UPSTASH_API_KEY"), "REKEY_PASSWORD");
        assertMissing(settings, "queueToken", why("QSTASH_TOKEN", queueUrl), "REKEY_QUEUE_TOKEN");
      }
    });
  }

  it("keeps the token from an address that overrides QSTASH_URL, also that of a region, and from a provider's own", () => {
    const elsewhere = { ...credentials, QSTASH_URL: "https://qstash.test" };
    assertMissing(upstash({ queueUrl: "https://q.test" }, elsewhere), "queueToken", "QSTASH_TOKEN");
    assertMissing(upstash({}, { ...elsewhere, REKEY_QUEUE_URL: "https://qstash.test" }), "queueToken", "QSTASH_TOKEN");
    const why = "US_EAST_1_QSTASH_TOKEN is not used, because rekey:queueUrl is set";
    assertMissing(upstash({ queueUrl: "https://q.test" }, regions), "queueToken", why);
    const provider = environmentOfProvider((name) => (({ queueUrl: "https://q.test" }) as Written)[name], regions);
    assert.deepEqual(
      Object.keys(provider).filter((name) => /QSTASH_(TOKEN|URL)$/.test(name)),
      [],
    );
  });

  it("needs all variables of a region of which one is set, and uses neither others nor the preset's address", () => {
    const incomplete = (variable: string) => `QSTASH_REGION is set, but ${variable} is not`;
    const noToken = upstash({}, withoutToken);
    assertMissing(noToken, "queueToken", incomplete("US_EAST_1_QSTASH_TOKEN"), "or set US_EAST_1_QSTASH_TOKEN");
    for (const US_EAST_1_QSTASH_URL of ["", undefined]) {
      const noUrl = upstash({}, { ...regions, US_EAST_1_QSTASH_URL });
      assertMissing(noUrl, "queueUrl", incomplete("US_EAST_1_QSTASH_URL"), "or set US_EAST_1_QSTASH_URL");
    }
  });

  const vendor = { ...credentials, QSTASH_URL: "https://qstash.test" };

  for (const QSTASH_DEV of ["true", "1", "True"]) {
    it(`uses no variable of the queue with QSTASH_DEV=${QSTASH_DEV}: the vendor's client uses a local server`, () => {
      const why = (variable: string) =>
        `${variable} is not used, because QSTASH_DEV makes the vendor's client use a local`;
      for (const environment of [vendor, regions]) {
        const settings = upstash({}, { ...environment, QSTASH_DEV });
        assertMissing(settings, "queueToken", why(`${environment === regions ? "US_EAST_1_" : ""}QSTASH_TOKEN`));
        assert.ok(!settings.find("queueUrl")?.variable);
        assert.equal(settings.get("password"), "canary-key");
      }
      const own = { queueUrl: "https://q.test", queueToken: "own" };
      assert.deepEqual(valuesOf(upstash(own, { ...vendor, QSTASH_DEV }), Object.keys(own)), own);
    });
  }

  for (const QSTASH_DEV of ["false", "0", ""]) {
    it(`uses the variables of the queue with QSTASH_DEV=${QSTASH_DEV}`, () =>
      assert.equal(upstash({}, { ...vendor, QSTASH_DEV }).get("queueToken"), "canary-token"));
  }

  it("warns of an address of which it removes the path, if it is used", () => {
    const old = { QSTASH_URL: "https://qstash.upstash.io/v2/publish", QSTASH_TOKEN: "canary" };
    const warning = "QSTASH_URL ends in /v2/publish/, which is ignored: set it without this path.";
    assert.deepEqual(upstash({}, old).warnings, [warning]);
    const east = { QSTASH_REGION: "US_EAST_1", US_EAST_1_QSTASH_URL: `${old.QSTASH_URL}/` };
    assert.deepEqual(upstash({}, { ...old, ...east }).warnings, [`US_EAST_1_${warning}`]);
    assert.deepEqual(upstash({ queueUrl: "https://q.test" }, old).warnings, []);
    assert.deepEqual(upstash({}, { QSTASH_URL: "https://qstash.upstash.io" }).warnings, []);
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
    const settings = upstash({}, { QSTASH_URL: "ftp://queue.test" });
    assert.throws(() => settings.get("queueUrl"), /set QSTASH_URL in the environment.*REKEY_SETTING_INVALID/);
  });

  for (const platform of ["Upstash", "UPSTASH"]) {
    it(`may be ${platform}`, () => {
      assert.equal(upstash({ platform }).get("platform"), "upstash");
      assert.equal(upstash({ platform }).get("password"), "canary-key");
    });
  }

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
