import { flowControlLimits } from "../flowControl/flowControlLimits";
import { flowControlReset } from "../flowControl/flowControlReset";
import { type SharedReads } from "../flowControl/sharedReads";
import { type Properties } from "../records/properties";
import { type AnyResource } from "../resource";
import { type Platform } from "../run";
import { optionalText, requiredText } from "../rotation/arguments";
import { passwordRotationFleet } from "../rotation/fleet";
import { databasePassword } from "../rotation/kinds/databasePassword";
import { kinds, type RotationType } from "../rotation/kinds/kinds";
import { rotationOf } from "../rotation/rotation";
import { credentialVerification } from "../verification/credentialVerification";

const rotations = Object.fromEntries(Object.entries(kinds).map(([type, kind]) => [type, rotationOf(kind)])) as Readonly<
  Record<RotationType, AnyResource>
>;

/** Every resource, by the name of its type. */
export const resources = {
  ...rotations,
  PasswordRotationFleet: passwordRotationFleet,
  CredentialVerification: credentialVerification,
  FlowControlReset: flowControlReset,
  FlowControlLimits: flowControlLimits,
} satisfies Readonly<Record<string, AnyResource>>;

/** The name of a type. */
export type ResourceType = keyof typeof resources;

/** What functions read from. */
export interface Reads {
  readonly platform: Pick<Platform, "list">;
  /** @throws SettingsError if a setting of the queue is missing or cannot be used */
  readonly queue: () => SharedReads;
}

/** The functions of the package, by name. Each returns an object. */
export const functions: Readonly<Record<string, (reads: Reads, args: Properties) => Promise<object>>> = {
  getDatabases: async ({ platform }) => ({ databases: await platform.list(databasePassword) }),
  getFlowControlKey: async ({ queue }, { flowControlKey }) => {
    const key = requiredText("flowControlKey", flowControlKey);
    return queue().get(key);
  },
  getFlowControlKeys: async ({ queue }, { search }) => {
    const text = optionalText("search", search);
    return { keys: await queue().list(text) };
  },
  getGlobalParallelism: async ({ queue }) => queue().globalParallelism(),
};

/** Undefined if there is none. Inherited properties, such as `constructor`, do not count. */
export function functionNamed(name: string): (typeof functions)[string] | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined;
}
