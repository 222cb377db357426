import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type BenchPlatform } from "./platform";

/** Number of concurrent requests: the default of `rekey:maxConcurrency`. */
const concurrency = 8;

/** A request without a body. */
export interface BareRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
}

/** Sends requests with Node's own HTTP or HTTPS, over connections that are kept. */
export async function sendBare(platform: BenchPlatform, requests: readonly BareRequest[]): Promise<void> {
  const { url, username, password, caFile } = platform;
  const { Agent, request } = caFile === undefined ? http : https;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: concurrency,
    ...(caFile !== undefined && { ca: readFileSync(caFile) }),
  });
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
  const send = ({ method, path }: BareRequest) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url + path, { method, agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${method} ${path}: status ${response.statusCode}`));
        response.on("end", resolve).resume();
      });
      sent.on("error", reject).end();
    });
  await Promise.all(requests.map(send));
  agent.destroy();
}
