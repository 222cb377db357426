import { request } from "node:http";
import { type Platform } from "../../../local/platform/index";

export const basic = ({ username, password }: Pick<Platform, "username" | "password">): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

export const bearer = ({ queueToken }: Pick<Platform, "queueToken">): string => `Bearer ${queueToken}`;

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  readonly body: unknown;
}

/** Sends a target exactly as given: `fetch` would resolve `..` and encode what is not a URL. */
export function send(
  platform: Pick<Platform, "url">,
  method: string,
  path: string,
  authorization?: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.url);
    const sent = request(
      {
        hostname: hostname.replace(/[[\]]/g, ""),
        port,
        method,
        path,
        agent: false,
        headers: { ...headers, ...(authorization && { authorization }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

export const resetPassword = (platform: Platform, id = "db-quickstart"): Promise<Answer> =>
  send(platform, "POST", `/v2/keyvalue/reset-password/${encodeURIComponent(id)}`, basic(platform));

export const queue = (platform: Platform, method: string, path: string): Promise<Answer> =>
  send(platform, method, `/v2${path}`, bearer(platform));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
