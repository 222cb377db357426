import { type SharedReads } from "../flowControl/sharedReads";
import { InputError } from "../platform/errors";
import { type Properties } from "../records/properties";
import { databasePassword } from "../platform/secretKind";
import { type Platform } from "../run";
import { optionalText, refuseUnknown, requiredText } from "./arguments";

/** What functions read from. */
type Reads = Pick<Platform, "list" | "flowControl">;

/** A function of the package: the names of its arguments, and what it reads. */
interface ReadingFunction {
  readonly names: Readonly<Record<string, true>>;
  read(platform: Reads, args: Properties): Promise<object>;
}

/** The functions of the package, by name. */
export const functions: Readonly<Record<string, ReadingFunction>> = {
  getDatabases: {
    names: {},
    read: async (platform) => ({ databases: await platform.list(databasePassword) }),
  },
  getFlowControlKey: {
    names: { flowControlKey: true },
    read: (platform, args) => readsOf(platform).get(requiredText("flowControlKey", args["flowControlKey"])),
  },
  getFlowControlKeys: {
    names: { search: true },
    read: async (platform, args) => ({ keys: await readsOf(platform).list(optionalText("search", args["search"])) }),
  },
  getGlobalParallelism: { names: {}, read: (platform) => readsOf(platform).globalParallelism() },
};

/** The reads that functions share their requests with. */
const reads = new WeakMap<Reads, SharedReads>();

/** @throws SettingsError if a setting of the queue is missing or cannot be used */
function readsOf(platform: Reads): SharedReads {
  // Loaded on first use: it loads the HTTP client, for which no import of the SDK should wait.
  const module = require("../flowControl/sharedReads") as typeof import("../flowControl/sharedReads");
  const all = reads.get(platform) ?? new module.SharedReads(platform.flowControl);
  reads.set(platform, all);
  return all;
}

/** @throws InputError for a function or an argument that does not exist or cannot be used */
export async function callFunction(name: string, platform: Reads, args: Properties): Promise<object> {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (found === undefined) throw new InputError(name, "is not a function of this version of pulumi-rekey");
  refuseUnknown(args, found.names);
  return found.read(platform, args);
}
