import assert from "node:assert/strict";
import { SettingsError } from "../../../provider/platform/errors";
import { environmentOfProvider, Settings } from "../../../provider/settings/settings";
import { type SettingName } from "../../../provider/settings/table";

type Written = Partial<Record<SettingName, string>>;

const credentials = { UPSTASH_EMAIL: "ops@example.com", UPSTASH_API_KEY: "canary-key", QSTASH_TOKEN: "canary-token" };

/** Settings of a stack with the given configuration, and the preset unless the configuration has another. */
const upstash = (configuration: Written = {}, environment: NodeJS.ProcessEnv = credentials) =>
  new Settings((name) => ({ platform: "upstash", ...configuration })[name], environment);

const valuesOf = (settings: Settings, ...names: SettingName[]) =>
  Object.fromEntries(names.map((name) => [name, settings.get(name)]));

function assertMissing(settings: Settings, name: SettingName, ...says: string[]): void {
  assert.equal(settings.get(name), undefined);
  assert.throws(
    () => settings.require(name),
    (error: unknown) => {
      assert.ok(error instanceof SettingsError);
      assert.equal(error.code, "REKEY_SETTING_MISSING");
      assert.ok(!error.message.includes("canary"), error.message);
      for (const text of [`rekey:${name}`, "not set", ...says]) assert.ok(error.message.includes(text), error.message);
      return true;
    },
  );
}

describe("rekey:platform", () => {
  it("sets the addresses and paths of upstash, from the configuration and from the environment", () => {
    for (const settings of [upstash(), new Settings(() => undefined, { REKEY_PLATFORM: "upstash" })]) {
      assert.deepEqual(valuesOf(settings, "baseUrl", "queueUrl", "resetPasswordPath", "flowControlResetAction"), {
        baseUrl: "https://api.upstash.com",
        queueUrl: "https://qstash.upstash.io",
        resetPasswordPath: "/v2/redis/reset-password/{id}",
        flowControlResetAction: "reset",
      });
    }
  });

  it("leaves each of them to be set separately", () => {
    const configured = {
      baseUrl: "https://a.test",
      queueUrl: "https://q.test",
      flowControlResetAction: "reset",
    } as const;
    const names = Object.keys(configured) as (keyof typeof configured)[];
    for (const name of names) {
      const settings = upstash({ [name]: configured[name] });
      assert.equal(settings.get(name), configured[name]);
      for (const one of names) assert.equal(settings.find(one)?.source, one === name ? "configuration" : "preset", one);
    }
  });

  it("reads the usual variables after Rekey's own, and the preset last", () => {
    const names = ["username", "password", "queueToken", "queueUrl"] as const;
    const usual = { ...credentials, QSTASH_URL: "https://qstash-us-east-1.upstash.io" };
    assert.deepEqual(valuesOf(upstash({}, usual), ...names), {
      username: "ops@example.com",
      password: "canary-key",
      queueToken: "canary-token",
      queueUrl: "https://qstash-us-east-1.upstash.io",
    });
    const own = { REKEY_USERNAME: "u", REKEY_PASSWORD: "p", REKEY_QUEUE_TOKEN: "t", REKEY_QUEUE_URL: "https://q.test" };
    const expected = { username: "u", password: "p", queueToken: "t", queueUrl: "https://q.test" };
    assert.deepEqual(valuesOf(upstash({}, { ...usual, ...own }), ...names), expected);
    const configured = { username: "v", password: "w", queueToken: "x", queueUrl: "https://r.test" };
    assert.deepEqual(valuesOf(upstash(configured, { ...usual, ...own }), ...names), configured);
  });

  describe("with QSTASH_REGION, as for the vendor's client", () => {
    const east = { US_EAST_1_QSTASH_URL: "https://qstash-us-east-1.test", US_EAST_1_QSTASH_TOKEN: "canary-east" };
    const all = { ...credentials, QSTASH_URL: "https://qstash.test", ...east, QSTASH_REGION: "US_EAST_1" };
    const ofRegion = { queueUrl: "https://qstash-us-east-1.test", queueToken: "canary-east" };
    const byDefault = { queueUrl: "https://qstash.test", queueToken: "canary-token" };
    const { US_EAST_1_QSTASH_TOKEN: _token, ...withoutToken } = all;
    const rows: Readonly<Record<string, readonly [NodeJS.ProcessEnv, Written]>> = {
      "reads the variables of the region": [all, ofRegion],
      "knows it in another spelling": [{ ...all, QSTASH_REGION: "us-east-1" }, ofRegion],
      "reads the others for another region": [{ ...all, QSTASH_REGION: "EU_CENTRAL_1" }, byDefault],
      "reads the others for one that does not exist": [{ ...all, QSTASH_REGION: "constructor" }, byDefault],
      "reads the others if one of the region's is missing": [withoutToken, byDefault],
      "reads the others if one of the region's is empty": [{ ...all, US_EAST_1_QSTASH_URL: "" }, byDefault],
      "reads Rekey's own first": [
        { ...all, REKEY_QUEUE_URL: "https://own.test", REKEY_QUEUE_TOKEN: "own" },
        { queueUrl: "https://own.test", queueToken: "own" },
      ],
    };
    for (const [what, [environment, expected]] of Object.entries(rows)) {
      it(what, () => assert.deepEqual(valuesOf(upstash({}, environment), "queueUrl", "queueToken"), expected));
    }

    it("redacts the tokens of all regions", () => {
      for (const token of ["canary-east", "canary-token"]) assert.ok(upstash({}, all).secrets.includes(token), token);
    });

    it("keeps the region's token from another address, and names its variables", () => {
      const why =
        "US_EAST_1_QSTASH_TOKEN is used only if rekey:queueUrl is https://qstash.upstash.io or comes from US_EAST_1_QSTASH_URL";
      assertMissing(upstash({ queueUrl: "https://q.test" }, all), "queueToken", why);
    });

    it("keeps all of them from a provider whose arguments name another account", () => {
      const own = environmentOfProvider((name) => (({ queueUrl: "https://q.test" }) as Written)[name], all);
      assert.deepEqual(
        Object.keys(own).filter((name) => name.endsWith("QSTASH_TOKEN")),
        [],
      );
      assert.deepEqual(
        Object.keys(own).filter((name) => name.endsWith("QSTASH_URL")),
        [],
      );
    });
  });

  it("takes an empty variable as unset", () => {
    const settings = upstash({}, { UPSTASH_API_KEY: "", QSTASH_URL: "" });
    assert.deepEqual(valuesOf(settings, "password", "queueUrl"), {
      password: undefined,
      queueUrl: "https://qstash.upstash.io",
    });
  });

  it("is needed to read those variables, and to redact them", () => {
    const settings = new Settings(() => undefined, { ...credentials, QSTASH_URL: "https://qstash.upstash.io" });
    assert.deepEqual(valuesOf(settings, "username", "password", "queueToken", "queueUrl"), {
      username: undefined,
      password: undefined,
      queueToken: undefined,
      queueUrl: undefined,
    });
    assert.deepEqual(settings.secrets, []);
  });

  const otherAddresses = [
    "https://platform.test",
    "http://127.0.0.1:8080",
    "http://api.upstash.com",
    "http://qstash.upstash.io",
    "https://api.upstash.com.evil.test",
    "https://qstash.upstash.io.evil.test",
    "https://api.upstash.com:8443",
    "https://qstash.upstash.io:8443",
    "https://api.upstash.com@evil.test",
    "https://evil.test/https://api.upstash.com",
    "not a URL",
    "",
  ];
  for (const address of otherAddresses) {
    it(`keeps the usual credentials from ${JSON.stringify(address)}`, () => {
      const given = [
        upstash({ baseUrl: address, queueUrl: address }),
        ...(address ? [upstash({}, { ...credentials, REKEY_BASE_URL: address, REKEY_QUEUE_URL: address })] : []),
      ];
      for (const settings of given) {
        for (const [name, variable] of [
          ["username", "UPSTASH_EMAIL"],
          ["password", "UPSTASH_API_KEY"],
        ] as const) {
          const why = `${variable} is used only if rekey:baseUrl is https://api.upstash.com`;
          assertMissing(settings, name, why, `REKEY_${name.toUpperCase()}`);
        }
        const why = "QSTASH_TOKEN is used only if rekey:queueUrl is https://qstash.upstash.io or comes from QSTASH_URL";
        assertMissing(settings, "queueToken", why, "REKEY_QUEUE_TOKEN");
      }
    });
  }

  it("uses QSTASH_TOKEN for any address in QSTASH_URL, and not if another one overrides that", () => {
    const usual = { ...credentials, QSTASH_URL: "https://qstash.test" };
    assert.equal(upstash({}, usual).get("queueToken"), "canary-token");
    assertMissing(upstash({ queueUrl: "https://q.test" }, usual), "queueToken", "QSTASH_TOKEN");
    assertMissing(upstash({}, { ...usual, REKEY_QUEUE_URL: "https://qstash.test" }), "queueToken", "QSTASH_TOKEN");
  });

  it("recognizes the preset's addresses in another spelling", () => {
    const settings = upstash({ baseUrl: "https://API.upstash.com:443/", queueUrl: "HTTPS://qstash.upstash.io/x" });
    assert.deepEqual(valuesOf(settings, "password", "queueToken"), {
      password: "canary-key",
      queueToken: "canary-token",
    });
  });

  it("names the usual variable if it is missing or cannot be used", () => {
    assertMissing(upstash({}, {}), "password", "set UPSTASH_API_KEY in the environment");
    const settings = upstash({}, { QSTASH_URL: "ftp://queue.test" });
    assert.throws(() => settings.get("queueUrl"), /REKEY_SETTING_INVALID/);
    assert.throws(() => settings.get("queueUrl"), /set QSTASH_URL in the environment/);
  });

  for (const platform of ["upstahs", "Upstash", "", "constructor"]) {
    it(`must not be ${JSON.stringify(platform)}: the error names the known platforms, whichever setting is read`, () => {
      const settings = upstash({ platform });
      for (const name of ["platform", "baseUrl", "password", "resetPasswordPath"] as const) {
        assert.throws(
          () => settings.get(name),
          ({ code, message }: SettingsError) =>
            code === "REKEY_SETTING_INVALID" && /^rekey:platform .*\bupstash\b/.test(message),
        );
      }
    });
  }

  it("redacts the usual secrets even if they are not used", () => {
    const own = { password: "own", queueToken: "own-token" };
    assert.deepEqual([...upstash(own).secrets].sort(), ["canary-key", "canary-token", "own", "own-token"]);
    assert.deepEqual([...upstash({ baseUrl: "https://a.test" }).secrets].sort(), ["canary-key", "canary-token"]);
  });
});
