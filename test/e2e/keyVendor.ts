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
