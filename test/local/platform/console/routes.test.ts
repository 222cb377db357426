import assert from "node:assert/strict";
import { type Platform, type PlatformOptions, startPlatform } from "../../../../local/platform/index";
import { mostRows, type Snapshot } from "../../../../local/platform/console/snapshot";
import { assertFields } from "../../../support/results";
import { basic, bearer, queue, resetPassword, resetPath, send } from "../client";

const data = "/local/console";
const pageFiles = ["/", ...["console.css", "console.js", "platform.js"].map((file) => `/console/${file}`)];

describe("local platform: what the console reads", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform()));
  afterEach(() => platform.close());
  const restart = async (options: PlatformOptions) => {
    await platform.close();
    platform = await startPlatform(options);
  };

  const read = async (search = ""): Promise<Snapshot> => {
    const { status, body } = await send(platform, "GET", `${data}?search=${search}`, basic(platform));
    assert.equal(status, 200);
    return body as Snapshot;
  };

  it("serves the page without credentials or secrets, and lets it load nothing from elsewhere", async () => {
    for (const path of pageFiles) {
      const { status, headers, text } = await send(platform, "GET", path);
      assert.equal(status, 200, path);
      assert.match(String(headers["content-security-policy"]), /^default-src 'none'; .*frame-ancestors 'none'$/);
      for (const secret of [platform.password, platform.queueToken, platform.username]) {
        assert.ok(!text.includes(secret));
      }
      assert.doesNotMatch(text.replaceAll("http://www.w3.org/2000/svg", ""), /https?:\/\//, path);
    }
    assert.match((await send(platform, "GET", "/")).text, /^<!doctype html>/);
  });

  it("responds with 405 to methods that do not read the page", async () => {
    for (const path of pageFiles) {
      const { status, headers } = await send(platform, "POST", path);
      assert.deepEqual({ status, allow: headers["allow"] }, { status: 405, allow: "GET, HEAD" }, path);
    }
  });

  it("returns its data only with the management credentials, and no password", async () => {
    await restart({ databases: ["db-quickstart"] });
    await resetPassword(platform);
    assert.equal((await send(platform, "GET", data, bearer(platform))).status, 401);
    const snapshot = await read();
    const { password, restToken, lastResetAt } = platform.database("db-quickstart");
    assert.deepEqual(snapshot.databases.shown, [{ id: "db-quickstart", resets: 1, generation: 2, lastResetAt }]);
    const text = JSON.stringify(snapshot);
    for (const secret of [password, restToken, platform.password, platform.queueToken]) {
      assert.ok(!text.includes(secret));
    }
  });

  it("is of a bounded size with 10,000 keys: the busiest by name, and what a search finds", async () => {
    const busy = (index: number) => (index % 500 === 7 ? index : 0);
    const flowControlKeys = Array.from({ length: 10_000 }, (_, index) => {
      return { flowControlKey: `Key-${index}`, waitListSize: busy(index), parallelismCount: 1 };
    });
    await restart({ flowControlKeys });
    const { flowControlKeys: keys } = await read();
    assertFields(keys, { count: 10_000, found: 10_000, running: 10_000 });
    assert.equal(keys.shown.length, mostRows);
    const names = keys.shown.map(({ flowControlKey }) => flowControlKey);
    assert.deepEqual(names, names.toSorted());
    const waiting = flowControlKeys.filter(({ waitListSize }) => waitListSize > 0);
    assert.ok(waiting.every(({ flowControlKey }) => names.includes(flowControlKey)));
    assert.equal(keys.waiting, waiting.reduce((sum, { waitListSize }) => sum + waitListSize, 0)); // prettier-ignore
    const { found, shown } = (await read("KEY-123")).flowControlKeys;
    assert.deepEqual({ found, flowControlKey: shown[0]?.flowControlKey }, { found: 11, flowControlKey: "Key-123" });
  });

  it("shows the newest requests first, cut where they are long, and none of the console", async () => {
    const told: string[] = [];
    await restart({ onRequest: ({ path }) => told.push(path) });
    for (let index = 0; index < mostRows + 5; index++) {
      await queue(platform, "GET", `/flowControl/${index}`);
    }
    await queue(platform, "GET", `/${"x".repeat(5_000)}`);
    await read();
    const { requests } = await read();
    assert.equal(requests.length, mostRows);
    assert.equal(requests[0]?.path.length, 200);
    assert.equal(requests[1]?.path, `/v2/flowControl/${mostRows + 4}`);
    assert.equal(platform.requests.length, told.length);
    assert.equal(told.length, mostRows + 6);
  });

  it("shows the databases that were reset last", async () => {
    const databases = Array.from({ length: mostRows + 10 }, (_, index) => `db-${100 + index}`);
    await restart({ databases });
    const last = databases.at(-1) ?? "";
    await resetPassword(platform, last);
    const { databases: shown } = await read();
    assert.deepEqual({ count: shown.count, shown: shown.shown.length }, { count: databases.length, shown: mostRows });
    assert.deepEqual(shown.shown.at(-1)?.id, last);
  });

  it("is not limited or counted by requestsPerSecond", async () => {
    await restart({ requestsPerSecond: 1 });
    for (let index = 0; index < 5; index++) await read();
    assert.equal((await resetPassword(platform)).status, 200);
    await read();
  });

  it("is not affected by a fault for another request", async () => {
    platform.failNext({ status: 500 });
    await read();
    assert.equal((await resetPassword(platform)).status, 500);
  });

  for (const host of ["rebound.example.com", "rebound.example.com:80", "127.0.0.1.example.com", "localhost.example"]) {
    it(`refuses the name ${host}, which a foreign DNS server may point here`, async () => {
      for (const path of [...pageFiles, data]) {
        const { status, error } = await send(platform, "GET", path, basic(platform), { headers: { host } });
        assert.equal(status, 403, path);
        assert.match(error, /^Host: /);
      }
    });
  }

  for (const host of ["localhost", "LOCALHOST:8080", "app.localhost", "127.0.0.1:1", "[::1]:8080", "192.0.2.1"]) {
    it(`is opened by ${host}`, async () => {
      assert.equal((await send(platform, "GET", "/", undefined, { headers: { host } })).status, 200);
    });
  }

  for (const origin of ["https://example.com", "null", "http://127.0.0.1:1", "http://localhost"]) {
    it(`refuses a page of ${origin}, even with the credentials`, async () => {
      const { status, error } = await send(platform, "POST", resetPath, basic(platform), { headers: { origin } });
      assert.equal(status, 403);
      assert.match(error, /^Origin: .*another site/);
      assert.equal(platform.resetCount, 0);
    });
  }

  it("accepts requests of its own page", async () => {
    const headers = { origin: platform.url };
    assert.equal((await send(platform, "POST", resetPath, basic(platform), { headers })).status, 200);
  });
});
