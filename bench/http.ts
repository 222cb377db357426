import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type BenchPlatform, databaseIds, startBenchPlatform } from "./support/platform";
import { type Row } from "./support/rows";
import { isOnPath, measure } from "./support/run";

/** Number of concurrent requests: the default of `rekey:maxConcurrency`. */
const concurrency = 8;

/** The same resets without an engine: with bare HTTP, and with `curl` in a loop. */
export async function benchHttp(counts: readonly number[], report: (rows: Row[]) => void): Promise<void> {
  const hasCurl = isOnPath("curl", "--version");
  if (!hasCurl) console.log("curl in a loop: skipped, `curl` is not on PATH");
  for (const count of counts) {
    const platform = await startBenchPlatform({ databases: databaseIds(count) });
    const paths = databaseIds(count).map((id) => `/v2/keyvalue/reset-password/${id}`);
    const row = { where: "wire", case: "first up", count };
    report([{ ...row, subject: "bare HTTP", seconds: await bareHttp(platform, requestsOf("POST", paths)) }]);
    if (hasCurl && count <= 100) {
      report([{ ...row, subject: "curl loop", seconds: await curlLoop(platform, "POST", paths) }]);
    }
    platform.close();
  }
}

/** A request without a body. */
export interface BareRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
}

export function requestsOf(method: BareRequest["method"], paths: readonly string[]): BareRequest[] {
  return paths.map((path) => ({ method, path }));
}

/**
 * Seconds for requests with Node's own HTTP, over connections that are kept.
 *
 * @param caFile a certificate that is trusted, for https
 */
export async function bareHttp(
  platform: BenchPlatform,
  requests: readonly BareRequest[],
  caFile?: string,
): Promise<number> {
  const { Agent, request } = caFile === undefined ? http : https;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: concurrency,
    ...(caFile !== undefined && { ca: readFileSync(caFile) }),
  });
  const began = performance.now();
  await Promise.all(
    requests.map(
      ({ method, path }) =>
        new Promise<void>((resolve, reject) => {
          const headers = { authorization: authorization(platform, path) };
          const sent = request(platform.url + path, { method, agent, headers }, (response) => {
            if (response.statusCode !== 200) reject(new Error(`${method} ${path}: status ${response.statusCode}`));
            response.on("end", resolve).resume();
          });
          sent.on("error", reject).end();
        }),
    ),
  );
  agent.destroy();
  return (performance.now() - began) / 1000;
}

/** Duration in seconds of sequential `curl` commands. */
export async function curlLoop(platform: BenchPlatform, method: string, paths: readonly string[]): Promise<number> {
  let seconds = 0;
  for (const path of paths) {
    const header = `Authorization: ${authorization(platform, path)}`;
    const args = ["--silent", "--fail", "--request", method, "--header", header, platform.url + path];
    seconds += (await measure("curl", args, { cwd: __dirname })).seconds;
  }
  return seconds;
}

/** Flow control is part of the queue interface, databases of the management interface. */
function authorization({ username, password, queueToken }: BenchPlatform, path: string): string {
  if (path.startsWith("/v2/flowControl")) return `Bearer ${queueToken}`;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
