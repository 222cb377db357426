import { type Properties, reveal, unknownNames } from "../../records/properties";
import { type FoundSetting } from "../../settings/foundSetting";
import { type ErrorCode } from "../../platform/errors";
import { type Connection, connectionIn, connectionNames } from "../../rotation/connection";
import { type Run } from "../../run";
import { type ComponentOptions } from "../../rotation/componentOptions";

/** A component to construct. Secrets are marked; a preview may hold unknown values. */
export interface ComponentRequest {
  readonly type: string;
  readonly name: string;
  /** URN of the parent; empty for the stack. */
  readonly parent: string;
  readonly inputs: Properties;
  /** Those that need a check. The monitor applies all. */
  readonly options: ComponentOptions;
  /** Names of outputs to mark as secrets, in addition to those that always are. */
  readonly secretOutputs: readonly string[];
  readonly preview: boolean;
}

/** What the service needs to know of a component. */
export interface Component {
  readonly construct: (request: ComponentRequest, monitor: Monitor, run: Run) => Promise<Constructed>;
  /** The code of the error if the component cannot be completed although none of its inputs is wrong. */
  readonly incomplete: ErrorCode;
  /** Inputs that its children have under the same name, so that `ignoreChanges` can be applied to them. */
  readonly childInputs: readonly string[];
}

/** A component that is constructed. Secrets are marked. */
export interface Constructed {
  readonly urn: string;
  readonly outputs: Properties;
  /** URNs of its children. */
  readonly children: readonly string[];
  /** A warning at the component. */
  readonly warning?: string | undefined;
}

/** A resource to register. Secrets are marked. */
export interface Registration {
  readonly type: string;
  readonly name: string;
  /** URN of the parent; empty for the stack. */
  readonly parent: string;
  /** Whether the provider manages it; a component has only children. */
  readonly custom: boolean;
  readonly inputs: Properties;
  readonly aliases: readonly Former[];
}

/** What a resource was before. */
interface Former {
  readonly type: string;
  /** URN of its parent, if it was another one; empty for the stack. */
  readonly parent?: string;
}

/** A resource that the engine did not register, or that failed. The engine reports the reason there. */
export class NotRegistered extends Error {}

/** Registers and reads resources of the program on behalf of a component. */
export interface Monitor {
  /**
   * @returns the outputs, secrets marked; in a preview they may be unknown
   * @throws NotRegistered
   */
  register(resource: Registration): Promise<{ urn: string; outputs: Properties }>;
  registerOutputs(urn: string, outputs: Properties): Promise<void>;
  /** The outputs of a resource that is registered already, secrets marked; in a preview they may be unknown. */
  read(urn: string): Promise<Properties>;
}

/**
 * The connection in the inputs of a component; undefined while it is not known.
 *
 * @param hostSetting returns `rekey:databaseHost`, if it is used unless `host` is set
 * @throws InputError if it cannot be used
 */
export function readConnection(
  inputs: Properties,
  hostSetting?: () => FoundSetting | undefined,
): Connection | undefined {
  const unknown = unknownNames(inputs);
  if (connectionNames.some((name) => unknown.has(name))) return undefined;
  return connectionIn(reveal(inputs) as Properties, hostSetting);
}
