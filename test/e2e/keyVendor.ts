import { join } from "node:path";
import { examples } from "../support/project";

/** The vendor of the example any-key. */
export interface KeyVendor {
  readonly url: string;
  /** The valid keys, by their ids. */
  readonly keys: ReadonlyMap<string, string>;
  statusOf: (path: string, key: string) => number;
  close(): void;
}

export const { startServer } = require(join(examples, "any-key", "server.cjs")) as {
  startServer: (options?: { limit?: number }) => Promise<KeyVendor>;
};

/** As a person makes one in the vendor's console. */
export async function makeKey({ url }: KeyVendor): Promise<{ readonly id: string; readonly key: string }> {
  const response = await fetch(`${url}/keys`, { method: "POST" });
  return (await response.json()) as { id: string; key: string };
}
