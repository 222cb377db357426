import assert from "node:assert/strict";
import { RequestLog } from "../../../local/platform/requests";

describe("local platform: the log of requests", () => {
  it("keeps at least the newest 10,000, in order, and is bounded", () => {
    const log = new RequestLog();
    for (let index = 0; index < 50_000; index++) {
      log.add({ method: "GET", path: `/${index}`, authorized: true });
      assert.ok(log.all.length <= 11_000);
    }
    assert.ok(log.all.length >= 10_000);
    const first = 50_000 - log.all.length;
    assert.ok(log.all.every(({ path }, index) => path === `/${first + index}`));
  });
});
