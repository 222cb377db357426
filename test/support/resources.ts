import { type Platform } from "../../local/platform/index";
import { providerTexts } from "./host";
import { type Properties } from "./wire";

/** Path of the operation that reads a database, which not every platform has. */
export const databasePath = "/v2/redis/database/{id}";

/** Inputs of a PasswordRotation, as they reach the host. */
export function rotation(databaseId: unknown, more: Properties = {}): Properties {
  return { databaseId, ...more, __provider: providerTexts.PasswordRotation };
}

/** Inputs of a FlowControlReset, as they reach the host. */
export function counterReset(flowControlKey: unknown, more: Properties = {}): Properties {
  return { flowControlKey, ...more, __provider: providerTexts.FlowControlReset };
}

/** Where a platform is, and the credentials of its account. */
export type Account = Pick<Platform, "url" | "username" | "password" | "queueToken">;

/** Whether the queue of a platform accepts a token. */
export async function acceptsToken({ url }: Pick<Platform, "url">, token: unknown): Promise<boolean> {
  const headers = { authorization: `Bearer ${String(token)}` };
  return (await fetch(`${url}/v2/globalParallelism`, { headers })).ok;
}

/** The settings for a platform, and others. Undefined leaves one out. */
export function settingsFor(
  { url, username, password, queueToken }: Account,
  more: Readonly<Record<string, string | number | undefined>> = {},
) {
  return { baseUrl: url, queueUrl: url, username, password, queueToken, ...more };
}
