import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, bearer, resetPassword, send } from "./client";

const reset = "/v2/keyvalue/reset-password/db-quickstart";
const list = "/v2/flowControl";

describe("local platform: authentication", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ username: "ops", password: "p:w ö", queueToken: "t0ken" })));
  beforeEach(() => platform.reset());
  after(() => platform.close());

  const refused: [what: string, method: string, path: string, authorization: string | undefined][] = [
    ["no credentials for a reset", "POST", reset, undefined],
    ["no credentials for a list", "GET", list, undefined],
    ["no credentials for a counter reset", "POST", "/v2/flowControl/orders/reset", undefined],
    ["no credentials for global parallelism", "GET", "/v2/globalParallelism", undefined],
    ["no credentials for the public alias", "POST", "/v2/redis/reset-password/db-quickstart", undefined],
    ["a wrong password", "POST", reset, basic({ username: "ops", password: "p:w" })],
    ["a wrong user name", "POST", reset, basic({ username: "op", password: "p:w ö" })],
    ["an empty password", "POST", reset, basic({ username: "ops", password: "" })],
    ["a password that is not encoded", "POST", reset, "Basic ops:pw"],
    ["the token for a reset", "POST", reset, "Bearer t0ken"],
    ["the token as Basic", "GET", list, "Basic t0ken"],
    ["the password for a list", "GET", list, basic({ username: "ops", password: "p:w ö" })],
    ["a wrong token", "GET", list, "Bearer t0keN"],
    ["a token with more behind it", "GET", list, "Bearer t0ken t0ken"],
    ["a scheme alone", "GET", list, "Bearer "],
    ["a bare token", "GET", list, "t0ken"],
    ["no credentials for an unknown operation", "GET", "/v2/nope", undefined],
  ];
  for (const [what, method, path, authorization] of refused) {
    it(`refuses ${what}`, async () => {
      const answer = await send(platform, method, path, authorization);
      const scheme = path.includes("reset-password") ? "Basic" : "Bearer";
      assert.equal(answer.status, 401);
      assert.equal(answer.headers["www-authenticate"], `${scheme} realm="local platform"`);
      assert.match(
        (answer.body as { error: string }).error,
        new RegExp(`^Authorization: missing or wrong.*"${scheme} `),
      );
      const [, given] = (authorization ?? "").split(/ +/);
      assert.ok(!given || !answer.text.includes(given));
      assert.deepEqual(platform.requests, [{ method, path, authorized: false, status: 401 }]);
      assert.equal(platform.resetCount, 0);
    });
  }

  it("accepts both schemes, in any case of their names", async () => {
    assert.equal((await resetPassword(platform)).status, 200);
    assert.equal((await send(platform, "POST", reset, basic(platform).replace("Basic", "basic"))).status, 200);
    assert.equal((await send(platform, "GET", list, bearer(platform).replace("Bearer", "BEARER"))).status, 200);
    assert.ok(platform.requests.every((request) => request.authorized));
  });

  it("makes credentials of its own for each start", async () => {
    const [one, two] = [await startPlatform(), await startPlatform()];
    const secrets = [one, two].flatMap(({ username, password, queueToken }) => [username, password, queueToken]);
    assert.equal(new Set(secrets).size, 6);
    assert.equal((await send(two, "POST", reset, basic(one))).status, 401);
    assert.equal((await send(two, "POST", reset, basic(two))).status, 200);
    await Promise.all([one.close(), two.close()]);
  });

  it("keeps no credentials in its log", async () => {
    await resetPassword(platform);
    await send(platform, "GET", list, bearer(platform));
    const log = JSON.stringify(platform.requests);
    for (const secret of ["t0ken", "p:w", basic(platform).slice(6)]) {
      assert.ok(!log.includes(secret));
    }
  });
});
