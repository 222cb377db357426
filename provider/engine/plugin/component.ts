import { type Properties, reveal, unknownNames } from "../../records/properties";
import { type Connection, connectionIn, connectionNames } from "../../verification/connection";
import { type FoundSetting } from "../../settings/settings";

/** A component to construct. Secrets are marked; a preview may hold unknown values. */
export interface ComponentRequest {
  readonly type: string;
  readonly name: string;
  /** URN of the parent; empty for the stack. */
  readonly parent: string;
  readonly inputs: Properties;
  readonly preview: boolean;
}

/** A component that is constructed. Secrets are marked. */
export interface Constructed {
  readonly urn: string;
  readonly outputs: Properties;
  /** URNs of its children. */
  readonly children: readonly string[];
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

/** Registers and reads resources of the program on behalf of a component. */
export interface Monitor {
  /** @returns the outputs, secrets marked; in a preview they may be unknown */
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
