import { bareHttp, curlLoop, requestsOf } from "./http";
import { startBenchPlatform } from "./support/platform";
import { type Row } from "./support/rows";
import { isOnPath } from "./support/run";

/** Reads flow-control keys: with `getFlowControlKey`, and with one request each. */
export async function benchReads(counts: readonly number[], report: (rows: Row[]) => void): Promise<void> {
  const keys = Array.from({ length: Math.max(...counts) }, (_, index) => `key-${index}`);
  const platform = await startBenchPlatform({ flowControlKeys: keys });
  Object.assign(process.env, platform.environment);
  const { getFlowControlKey } = require("pulumi-rekey") as typeof import("pulumi-rekey");
  const readAll = (some: readonly string[]) =>
    Promise.all(some.map((flowControlKey) => getFlowControlKey({ flowControlKey })));
  // The first call loads the modules.
  await readAll(keys.slice(0, 1));
  for (const count of counts) {
    const some = keys.slice(0, count);
    const paths = some.map((key) => `/v2/flowControl/${key}`);
    const row = { where: "wire", case: "read keys", count };
    await platform.newRequests();
    const began = performance.now();
    await readAll(some);
    const seconds = (performance.now() - began) / 1000;
    report([{ ...row, subject: "getFlowControlKey", seconds, requests: await platform.newRequests() }]);
    const bare = await bareHttp(platform, requestsOf("GET", paths));
    report([{ ...row, subject: "bare HTTP", seconds: bare, requests: await platform.newRequests() }]);
    if (count > 100 || !isOnPath("curl", "--version")) continue;
    const curl = await curlLoop(platform, "GET", paths);
    report([{ ...row, subject: "curl loop", seconds: curl, requests: await platform.newRequests() }]);
  }
  platform.close();
}
