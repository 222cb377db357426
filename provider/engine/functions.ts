import { SharedReads } from "../flowControl/sharedReads";
import { InputError } from "../domain/errors";
import { databasePassword } from "../domain/secretKind";
import { isObject, kindOf } from "../records/fields";
import { type Properties } from "../pulumi/values";
import { schemaProblems, type TableOf } from "../resource/resource";
import { type Platform } from "../run/run";

/** A function of the package: the schema of its arguments, and what it reads. */
interface ReadingFunction {
  readonly inputs: TableOf;
  read(platform: Platform, args: Properties): Promise<object>;
}

const noInputs: TableOf = () => ({ required: [], schemas: {} });

/** The functions of the package, by name. */
export const functions: Readonly<Record<string, ReadingFunction>> = {
  getDatabases: {
    inputs: noInputs,
    read: async (platform) => ({ databases: await platform.list(databasePassword) }),
  },
  getFlowControlKey: {
    inputs: ({ pathPart }) => ({
      required: ["flowControlKey"],
      schemas: { flowControlKey: pathPart },
    }),
    read: (platform, { flowControlKey }) => readsOf(platform).get(flowControlKey as string),
  },
  getFlowControlKeys: {
    inputs: ({ text }) => ({ required: [], schemas: { search: text } }),
    read: async (platform, { search }) => ({
      keys: await readsOf(platform).list((search as string | null) ?? undefined),
    }),
  },
  getGlobalParallelism: {
    inputs: noInputs,
    read: (platform) => readsOf(platform).globalParallelism(),
  },
};

/** The reads that functions share their requests with. */
const reads = new WeakMap<Platform, SharedReads>();

function readsOf(platform: Platform): SharedReads {
  const all = reads.get(platform) ?? new SharedReads(platform.flowControl);
  reads.set(platform, all);
  return all;
}

/** @throws InputError for a function or an argument that does not exist or cannot be used */
export async function callFunction(
  name: string,
  platform: Platform,
  args: Properties,
): Promise<object> {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (found === undefined) {
    throw new InputError(name, "is not a function of this version of pulumi-rekey");
  }
  // A program in JavaScript may call it with anything.
  if (!isObject(args)) {
    throw new InputError("its arguments", `must be an object, not ${kindOf(args)}`);
  }
  const [wrong] = schemaProblems(found.inputs, args);
  if (wrong) throw new InputError(wrong.property, wrong.problem);
  return found.read(platform, args);
}
