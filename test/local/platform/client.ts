import { request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { type Platform } from "../../../local/platform/index";
import { databasePath } from "../../support/resources";
import { until } from "../../support/results";

export const resetPath = "/v2/keyvalue/reset-password/db-quickstart";

export const basic = ({ username, password }: Pick<Platform, "username" | "password">): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

export const bearer = ({ queueToken }: Pick<Platform, "queueToken">): string => `Bearer ${queueToken}`;

export interface HttpResponse {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The parsed JSON; undefined if the text is not JSON. */
  readonly body: unknown;
  /** The `error` of the body; empty if there is none. */
  readonly error: string;
}

interface RequestOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a target exactly as given: `fetch` would resolve `..` and encode other characters. */
export function send(
  platform: Pick<Platform, "url">,
  method: string,
  path: string,
  authorization?: string,
  { headers = {}, body }: RequestOptions = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.url);
    const host = hostname.replace(/[[\]]/g, "");
    const all = { ...headers, ...(authorization && { authorization }) };
    const sent = request({ hostname: host, port, method, path, agent: false, headers: all }, (response) => {
      const { statusCode: status = 0, headers } = response;
      textOf(response).then((text) => {
        const body = parsed(text);
        resolve({ status, headers, text, body, error: (body as { error?: string } | undefined)?.error ?? "" });
      }, reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

export const resetPassword = (platform: Platform, id = "db-quickstart"): Promise<HttpResponse> =>
  send(platform, "POST", `/v2/keyvalue/reset-password/${encodeURIComponent(id)}`, basic(platform));

export const readDatabase = (platform: Platform, id = "db-quickstart", query = ""): Promise<HttpResponse> =>
  send(platform, "GET", databasePath.replace("{id}", encodeURIComponent(id)) + query, basic(platform));

export const queue = (
  platform: Platform,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<HttpResponse> => send(platform, method, `/v2${path}`, bearer(platform), options);

/** Waits until the platform has received a request. */
export const requestArrived = (platform: Platform): Promise<void> => until(() => platform.requests.length > 0);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
