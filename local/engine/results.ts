import { EngineError } from "./errors";
import { type Changes, type Diagnostic, type EngineEvent } from "./types";

/** Options of `LocalStack.open`. */
export interface OpenOptions {
  /** The folder that contains `Pulumi.yaml`. */
  readonly projectDir: string;
  /** Name of the stack. @default "dev" */
  readonly stack?: string | undefined;
  /** Folder of the state. @default `.rekey` in the project folder */
  readonly stateDir?: string | undefined;
  /**
   * Passphrase that encrypts the secrets.
   * @default `PULUMI_CONFIG_PASSPHRASE`, else the content of the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names
   */
  readonly passphrase?: string | undefined;
  /**
   * Last sentence of each message about a change that may have been made but was not saved. It should say what that
   * means for the program's resources.
   * @default "A resource may have been changed without being saved: check it, then run `up` again."
   */
  readonly unsavedChangeAdvice?: string | undefined;
  /** Environment variables of the program and the providers, in addition to `process.env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Options of all operations. */
export interface OperationOptions {
  /** Number of resources that are processed at the same time. @default four times the number of processors */
  readonly parallel?: number | undefined;
  /** Called with each line of output. */
  readonly onOutput?: ((line: string) => void) | undefined;
  /** Whether the lines are coloured. @default false */
  readonly colors?: boolean | undefined;
  /** Whether the lines show the changed inputs of each resource. @default false */
  readonly diff?: boolean | undefined;
  /** Called with each event. */
  readonly onEvent?: ((event: EngineEvent) => void) | undefined;
  /** Cancels the operation like ^C: running steps finish, and no others start. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `preview`, `up` and `destroy`. */
export interface UpOptions extends OperationOptions {
  /** Whether to refresh the state first. @default false */
  readonly refresh?: boolean | undefined;
}

/** Options of `refresh`. */
export interface RefreshOptions extends OperationOptions {
  /** Whether to forget resource creations that were interrupted. @default false */
  readonly clearPendingCreates?: boolean | undefined;
}

/** A stack output, as in Pulumi's Automation API. */
export interface OutputValue {
  /** The value. Secrets are in plain text. */
  readonly value: unknown;
  /** Whether the value is or contains a secret. */
  readonly secret: boolean;
}
/** Outputs by name. */
export type OutputMap = Record<string, OutputValue>;

/** The result of an operation. */
export interface OperationResult {
  /** A failed operation throws an `OperationError` with the same fields. */
  readonly result: "succeeded" | "failed";
  /** Number of resources by kind of change; for a preview, of planned changes. */
  readonly changes: Changes;
  /**
   * The stack's outputs after the operation, with secrets in plain text. A value that a preview does not know is
   * `undefined`.
   */
  readonly outputs: OutputMap;
  /** Messages of the program, the providers and the engine. */
  readonly diagnostics: readonly Diagnostic[];
  /** The printed output, with secrets masked. */
  readonly stdout: string;
}

/** An operation failed. The error contains its result. */
export class OperationError extends EngineError implements OperationResult {
  /** Name of the class. */
  override readonly name = "OperationError";
  /** The operation was not completed. */
  readonly result = "failed";
  /** Number of resources by kind of change, before the failure. */
  declare readonly changes: Changes;
  /** The stack's outputs after the failure, with secrets in plain text. */
  declare readonly outputs: OutputMap;
  /** Messages of the program, the providers and the engine. */
  declare readonly diagnostics: readonly Diagnostic[];
  /** The printed output, with secrets masked. */
  declare readonly stdout: string;
  constructor(operation: string, result: OperationResult) {
    const errors = result.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    super(`${operation} failed: ${errors.join("\n") || "for an unknown reason"}`);
    Object.assign(this, result);
  }
}
