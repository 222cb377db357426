import { type ErrorCode, type RekeyError } from "../platform/errors";

/** What create or update did. */
export interface Applied<Outputs> {
  readonly outputs: Outputs;
  /** Set if it is unknown whether the platform did it: the error message. The outputs are saved nevertheless. */
  readonly unconfirmed?: string;
  /** Set if it failed: the error. The outputs are saved nevertheless, if the error can carry them. */
  readonly failed?: RekeyError;
  /** One line for the run's diagnostics. */
  readonly notice?: string;
  /** A warning at the resource. If it is a dynamic one, the SDK shows it. */
  readonly warning?: string | undefined;
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
