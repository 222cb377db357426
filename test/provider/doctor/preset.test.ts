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

describe("pulumi-rekey doctor: rekey:platform", () => {
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

  describe("with a platform", () => {
    let platform: Platform;
    before(async () => (platform = await startPlatform()));
    after(() => platform.close());

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
