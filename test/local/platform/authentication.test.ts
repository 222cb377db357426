import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, bearer, resetPassword, resetPath, send } from "./client";

const list = "/v2/flowControl";
const ops = { username: "ops", password: "p:w ö" };

describe("local platform: authentication", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ ...ops, queueToken: "t0ken" })));
  beforeEach(() => platform.reset());
  after(() => platform.close());

  const refused: Readonly<Record<string, { path: string; authorization?: string }>> = {
    "no credentials for a reset": { path: resetPath },
    "no credentials for an unknown operation": { path: "/v2/nope" },
    "a wrong password": { path: resetPath, authorization: basic({ ...ops, password: "p:w" }) },
    "a wrong user name": { path: resetPath, authorization: basic({ ...ops, username: "op" }) },
    "an empty password": { path: resetPath, authorization: basic({ ...ops, password: "" }) },
    "a password that is not encoded": { path: resetPath, authorization: "Basic ops:pw" },
    "the token for a reset": { path: resetPath, authorization: "Bearer t0ken" },
    "the token as Basic": { path: list, authorization: "Basic t0ken" },
    "the password for a list": { path: list, authorization: basic(ops) },
    "a wrong token": { path: list, authorization: "Bearer t0keN" },
    "a token with text after it": { path: list, authorization: "Bearer t0ken t0ken" },
    "a scheme alone": { path: list, authorization: "Bearer " },
    "a bare token": { path: list, authorization: "t0ken" },
  };
  for (const [what, { path, authorization }] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      const method = path.includes("reset") ? "POST" : "GET";
      const { status, headers, error, text } = await send(platform, method, path, authorization);
      const scheme = path.includes("reset-password") ? "Basic" : "Bearer";
      assert.equal(status, 401);
      assert.equal(headers["www-authenticate"], `${scheme} realm="local platform"`);
      assert.match(error, new RegExp(`^Authorization: .*"${scheme} `));
      const [, given] = (authorization ?? "").split(/ +/);
      assert.ok(!given || !text.includes(given));
      assert.deepEqual(platform.requests, [{ method, path, authorized: false, status }]);
      assert.equal(platform.resetCount, 0);
    });
  }

  it("accepts both schemes, in any case of their names", async () => {
    assert.equal((await resetPassword(platform)).status, 200);
    assert.equal((await send(platform, "POST", resetPath, basic(platform).replace("Basic", "basic"))).status, 200);
    assert.equal((await send(platform, "GET", list, bearer(platform).replace("Bearer", "BEARER"))).status, 200);
    assert.ok(platform.requests.every((request) => request.authorized));
  });

  it("makes new credentials for each start", async () => {
    const [one, two] = [await startPlatform(), await startPlatform()];
    const secrets = [one, two].flatMap(({ username, password, queueToken }) => [username, password, queueToken]);
    assert.equal(new Set(secrets).size, 6);
    assert.equal((await send(two, "POST", resetPath, basic(one))).status, 401);
    assert.equal((await send(two, "POST", resetPath, basic(two))).status, 200);
    await Promise.all([one.close(), two.close()]);
  });
});
