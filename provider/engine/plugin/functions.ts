import { InputError } from "../../platform/errors";
import { type SharedReads } from "../../flowControl/sharedReads";
import { type Properties } from "../../records/properties";

/** The functions of the package, by name. Each returns an object. */
export const functions: Readonly<Record<string, (reads: SharedReads, args: Properties) => Promise<object>>> = {
  getFlowControlKey: async (reads, { flowControlKey }) => reads.get(requireText("flowControlKey", flowControlKey)),
  getFlowControlKeys: async (reads, { search }) => ({
    keys: await reads.list((search ?? undefined) === undefined ? undefined : requireText("search", search)),
  }),
  getGlobalParallelism: (reads) => reads.globalParallelism(),
};

function requireText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new InputError(name, "must be a string");
}
