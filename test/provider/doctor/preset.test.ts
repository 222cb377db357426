import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Platform, startPlatform } from "../../../local/index";
import { type Check } from "../../../provider/doctor/check";
import { checkPlatform } from "../../../provider/doctor/platform";
import { checkSettings, settingsOf } from "../../../provider/doctor/settings";
import { projectRoot } from "../../support/host";
import { assertFields } from "../../support/results";

const keys = { UPSTASH_EMAIL: "ops@example.com", UPSTASH_API_KEY: "canary-key" };

/** A stack's configuration with the preset. */
const configured = (more: Record<string, string> = {}) =>
  new Map(
    Object.entries({ "rekey:platform": "upstash", ...more }).map(([key, value]) => [key, { value, secret: false }]),
  );

/** The checks of settings, by setting. */
function checksOf(environment: NodeJS.ProcessEnv, more?: Record<string, string>): Readonly<Record<string, Check>> {
  const checks = checkSettings(configured(more), environment, true);
  assert.ok(!JSON.stringify(checks).includes("canary"), "a secret is shown");
  return Object.fromEntries(checks.map((check) => [check.subject, check]));
}

const wrongOnes = (checks: Readonly<Record<string, Check>>) =>
  Object.keys(checks).filter((subject) => checks[subject]?.state === "wrong");

describe("pulumi-rekey doctor: rekey:platform", () => {
  it("shows where each value comes from: the preset, the usual variables, Rekey's own, and the defaults", () => {
    const checks = checksOf({ ...keys, REKEY_FLOW_CONTROL_RESET_ACTION: "reset" });
    assert.deepEqual(wrongOnes(checks), []);
    for (const [name, source, message] of [
      ["platform", "configuration", "rekey:platform is upstash (from the stack's configuration)."],
      ["baseUrl", "preset", "rekey:baseUrl is https://api.upstash.com (from the preset upstash)."],
      ["username", "environment", "rekey:username is ops@example.com (from UPSTASH_EMAIL)."],
      ["password", "environment", "rekey:password is set (from UPSTASH_API_KEY)."],
      ["flowControlResetAction", "environment", "… is reset (from REKEY_FLOW_CONTROL_RESET_ACTION)."],
      ["deadlineSeconds", "default", "rekey:deadlineSeconds is 60 (default)."],
      ["queueToken", "not set", "rekey:queueToken is not set; only FlowControlReset and the data sources need it."],
    ] as const) {
      const check = checks[`rekey:${name}`];
      assertFields(check, { source, message: message.replace("…", `rekey:${name}`) });
    }
  });

  it("finds a region whose variables are not set", () => {
    const region = { US_EAST_1_QSTASH_URL: "https://qstash-us-east-1.test", US_EAST_1_QSTASH_TOKEN: "canary-east" };
    const checks = checksOf({ ...keys, ...region, QSTASH_TOKEN: "canary", QSTASH_REGION: "us-east-1" });
    assert.match(checks["rekey:queueUrl"]?.message ?? "", /us-east-1\.test \(from US_EAST_1_QSTASH_URL\)/);
    assert.match(checks["rekey:queueToken"]?.message ?? "", /set \(from US_EAST_1_QSTASH_TOKEN\)/);
    assert.equal(checks["QSTASH_REGION"], undefined);
    const incomplete = checksOf({ ...keys, QSTASH_TOKEN: "canary", QSTASH_REGION: "US_EAST_1" });
    assertFields(incomplete["QSTASH_REGION"], {
      state: "wrong",
      message: "QSTASH_REGION is set, but QSTASH_URL and QSTASH_TOKEN count.",
    });
    assert.match(incomplete["QSTASH_REGION"]?.fix ?? "", /US_EAST_1_QSTASH_URL and US_EAST_1_QSTASH_TOKEN/);
  });

  it("explains why a usual credential is not used for another address", () => {
    const checks = checksOf(keys, { "rekey:baseUrl": "https://platform.test" });
    assert.deepEqual(wrongOnes(checks), ["rekey:username", "rekey:password"]);
    const password = checks["rekey:password"];
    assert.equal(password?.source, "not set");
    assert.match(password.message, /UPSTASH_API_KEY is used only if rekey:baseUrl is https:\/\/api\.upstash\.com/);
    assert.match(password.fix ?? "", /REKEY_PASSWORD/);
    const environment = { ...keys, REKEY_PLATFORM: "upstash", REKEY_BASE_URL: "https://platform.test" };
    const unread = checkSettings(new Map(), environment, false).find(({ subject }) => subject === "rekey:password");
    assert.equal(unread?.state, "unchecked");
    assert.match(unread.message, /UPSTASH_API_KEY is used only if/);
  });

  it("advises a usual variable only for the platform's own address", () => {
    const fixFor = (more?: Record<string, string>) => checksOf({}, more)["rekey:password"]?.fix ?? "";
    assert.match(fixFor(), /set UPSTASH_API_KEY in the environment/);
    assert.match(fixFor({ "rekey:baseUrl": "https://platform.test" }), /set REKEY_PASSWORD in the environment/);
  });

  it("reports an unknown platform once", () => {
    const checks = checksOf(keys, { "rekey:platform": "upstahs" });
    assert.deepEqual(wrongOnes(checks), ["rekey:platform"]);
    assert.match(checks["rekey:platform"]?.message ?? "", /\bupstash\b/);
  });

  describe("with a platform", () => {
    let platform: Platform;
    before(async () => (platform = await startPlatform()));
    after(() => platform.close());

    it("does not connect to a preset's address whose credentials are not set", async () => {
      const settings = settingsOf(configured({ "rekey:baseUrl": platform.url }), {});
      const checks = await checkPlatform(settings);
      assert.deepEqual(
        checks.map(({ subject, state }) => ({ subject, state })),
        [{ subject: "the connection to rekey:baseUrl", state: "ok" }],
      );
    });

    it("does not try the token if another setting of the queue cannot be used", async () => {
      const more = { "rekey:queueUrl": platform.url, "rekey:queueToken": platform.queueToken };
      const settings = settingsOf(configured({ ...more, "rekey:deadlineSeconds": "soon" }), {});
      const check = (await checkPlatform(settings)).find(({ subject }) => subject === "the queue's token");
      assert.equal(check?.state, "unchecked");
      assert.equal(platform.requests.length, 0);
    });
  });

  it("has a help with an example and the exit codes", () => {
    const main = join(projectRoot, "dist", "provider", "doctor", "main.js");
    const { status, stdout } = spawnSync(process.execPath, [main, "--help"], { encoding: "utf8" });
    assert.equal(status, 0);
    assert.match(stdout, /^Example:\n.* doctor --stack /m);
    assert.match(stdout, /^Exit codes:\n +0 .*\n +1 /m);
  });
});
