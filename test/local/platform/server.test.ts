import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";

describe("Local platform: the server", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform()));
  afterEach(() => platform.close());
  const portOf = ({ url }: Platform) => Number(new URL(url).port);

  it("listens on loopback alone, at a free port or the given one", async () => {
    const other = await startPlatform();
    assert.match(platform.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.notEqual(platform.url, other.url);
    await other.close();
    const port = portOf(platform);
    const problem = new RegExp(`^cannot listen on 127.0.0.1, port ${port}: `);
    await assert.rejects(startPlatform({ port }), { name: "PlatformOptionError", option: "port", problem });
    const again = await startPlatform({ port: portOf(other) });
    assert.equal(again.url, other.url);
    await again.close();
  });
});
