import { bareHttp, curlLoop } from "./http";
import { startBenchPlatform } from "./support/platform";
import { type Row } from "./support/rows";
import { isOnPath } from "./support/run";

/** Reads flow-control keys: as a program does with `getFlowControlKey`, and each by a request of its own. */
export async function benchReads(counts: readonly number[], tell: (rows: Row[]) => void): Promise<void> {
  const keys = Array.from({ length: Math.max(...counts) }, (_, index) => `key-${index}`);
  const platform = await startBenchPlatform({ flowControlKeys: keys });
  Object.assign(process.env, platform.environment);
  const { getFlowControlKey } = require("pulumi-rekey") as typeof import("pulumi-rekey");
  const readAll = (some: readonly string[]) =>
    Promise.all(some.map((flowControlKey) => getFlowControlKey({ flowControlKey })));
  // The first call loads what the others need.
  await readAll(keys.slice(0, 1));
  for (const count of counts) {
    const some = keys.slice(0, count);
    const paths = some.map((key) => `/v2/flowControl/${key}`);
    const row = { where: "wire", case: "read keys", count };
    await platform.newRequests();
    const began = performance.now();
    await readAll(some);
    const seconds = (performance.now() - began) / 1000;
    tell([{ ...row, subject: "getFlowControlKey", seconds, requests: await platform.newRequests() }]);
    const bare = await bareHttp(platform, "GET", paths);
    tell([{ ...row, subject: "bare HTTP", seconds: bare, requests: await platform.newRequests() }]);
    if (count > 100 || !isOnPath("curl", "--version")) continue;
    const curl = await curlLoop(platform, "GET", paths);
    tell([{ ...row, subject: "curl loop", seconds: curl, requests: await platform.newRequests() }]);
  }
  platform.close();
}
