import { type ErrorCode, type RekeyError } from "../platform/errors";

/**
 * A resource: what the adapters need to know of it, and how it is checked, compared and changed. Values are plain;
 * unknown inputs are named.
 */
export interface Resource<Inputs, Outputs, Session> {
  /** The input that is the id. */
  readonly idInput: string;
  /** The names of all outputs. */
  readonly outputs: readonly string[];
  /** The names of outputs that are always secret. */
  readonly secretOutputs: readonly string[];
  /** Inputs that only an adapter sets; `owner` is the resource's URN. */
  readonly hiddenInputs: readonly string[];
  /** Inputs that decide whether a change is due. While one is unknown, so is the decision. */
  readonly decidingInputs: readonly string[];
  /** The inputs with which an object is imported; undefined if there is nothing to import. */
  importedInputs?(id: string, session: Session): object | Promise<object>;
  /** The outputs of an import with these inputs. Undefined if `apply` adopts the object, and so sends nothing. */
  importedOutputs?(inputs: Inputs): Outputs;
  /** Whether the plugin also saves `connectionUrl` and `restUrl`, both secret. The SDK derives them in the program. */
  readonly hasUrls?: true;
  check(inputs: Inputs, unknown: ReadonlySet<string>, session: Session): CheckFailure[];
  diff(saved: Outputs, inputs: Inputs, session: Session): Difference;
  /** What is announced instead of a difference while a deciding input is unknown, if something may happen. */
  noticeOfUnknown?(saved: Outputs, inputs: Inputs, unknown: ReadonlySet<string>, session: Session): string | undefined;
  /** Creates if nothing is saved, else updates. */
  apply(saved: Outputs | undefined, inputs: Inputs, session: Session): Promise<Applied<Outputs>>;
  /** Reads what may have been changed elsewhere. It never fails. Undefined if there is nothing to read. */
  refresh?(saved: Outputs, session: Session): Promise<Applied<Outputs>>;
  /**
   * Removes what the resource has set at the platform. Undefined if it leaves everything unchanged.
   *
   * @returns a line for the run's diagnostics, if there is something to say
   */
  remove?(saved: Outputs, session: Session): Promise<string | undefined>;
}

/** What create or update did. */
export interface Applied<Outputs> {
  readonly outputs: Outputs;
  /** Set if it is unknown whether the platform did it: the error message. The outputs are saved nevertheless. */
  readonly unconfirmed?: string;
  /** Set if it failed: the error. The outputs are saved nevertheless, if the error can carry them. */
  readonly failed?: RekeyError;
  /** Lines for the run's diagnostics. */
  readonly notice?: string;
  /** A warning at the resource. */
  readonly warning?: string | undefined;
  /** A warning at the resource that the SDK shows itself if the resource is a dynamic one. */
  readonly pluginWarning?: string | undefined;
}

/** What diff found. */
export interface Difference {
  readonly changes: boolean;
  /** The inputs that make a new resource necessary. */
  readonly replaces?: readonly string[];
  /** One line for the run's diagnostics that explains the reason. */
  readonly notice?: string;
  /** What may be wrong with the saved outputs. */
  readonly warning?: string;
}

/** An input that cannot be used. */
export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
  /** Default: REKEY_INPUT_INVALID. */
  readonly code?: ErrorCode;
  /** What was sent, and what to do. Default: nothing was sent for the resource. */
  readonly advice?: string;
}
