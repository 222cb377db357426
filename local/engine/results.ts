import { EngineError } from "./errors";
import { type Changes, type Diagnostic, type EngineEvent } from "./types";

/** Which stack, and where it is. */
export interface OpenOptions {
  /** The folder with `Pulumi.yaml`. */
  readonly projectDir: string;
  /** @default "dev" */
  readonly stack?: string | undefined;
  /** Where the state is kept. @default `.rekey` in the project's folder */
  readonly stateDir?: string | undefined;
  /**
   * What the secrets are encrypted with.
   * @default `PULUMI_CONFIG_PASSPHRASE`, else the content of the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names
   */
  readonly passphrase?: string | undefined;
  /**
   * Ends each message that says that a change may have been made without being saved. Say there what that means for the
   * program's resources.
   * @default "A resource may have been changed without being saved: check it, then run `up` again."
   */
  readonly unsavedChangeAdvice?: string | undefined;
  /** Environment of the program and of the providers, beside `process.env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How any operation is done. */
export interface OperationOptions {
  /** How many resources are worked on at a time. @default four times the number of processors */
  readonly parallel?: number | undefined;
  /** Gets each line of what happens, as it happens. */
  readonly onOutput?: ((line: string) => void) | undefined;
  /** Whether those lines are coloured. @default false */
  readonly colors?: boolean | undefined;
  /** Whether those lines say which inputs of each resource change. @default false */
  readonly diff?: boolean | undefined;
  /** Gets each event. */
  readonly onEvent?: ((event: EngineEvent) => void) | undefined;
  /** Ends the operation as ^C does: what runs finishes, nothing else begins. */
  readonly signal?: AbortSignal | undefined;
}

/** How `preview`, `up` and `destroy` are done. */
export interface UpOptions extends OperationOptions {
  /** Read every resource anew first. @default false */
  readonly refresh?: boolean | undefined;
}

/** How `refresh` is done. */
export interface RefreshOptions extends OperationOptions {
  /** Forget creates that were interrupted. @default false */
  readonly clearPendingCreates?: boolean | undefined;
}

/** A stack output; the name and shape are those of Pulumi's Automation API. */
export interface OutputValue {
  /** The value, in plain where it is a secret. */
  readonly value: unknown;
  /** Whether the program marked it so, or made it of a secret. */
  readonly secret: boolean;
}
/** Outputs by their names. */
export type OutputMap = Record<string, OutputValue>;

/** What an operation did. */
export interface OperationResult {
  /** Whether all was done. An operation that fails throws an `OperationError` with the same. */
  readonly result: "succeeded" | "failed";
  /** How many resources were created, updated, …; of a preview, how many would be. */
  readonly changes: Changes;
  /** The stack's outputs afterwards, secrets in plain; in a preview a value that is not known yet is `undefined`. */
  readonly outputs: OutputMap;
  /** What the program, the providers and the engine said. */
  readonly diagnostics: readonly Diagnostic[];
  /** All that was told, line by line; secrets masked. */
  readonly stdout: string;
}

/** An operation failed; it carries all that is known about it. */
export class OperationError extends EngineError implements OperationResult {
  /** Name of the class. */
  override readonly name = "OperationError";
  /** It was not all done. */
  readonly result = "failed";
  /** How many resources were created, updated, … before it failed. */
  declare readonly changes: Changes;
  /** The stack's outputs afterwards, secrets in plain. */
  declare readonly outputs: OutputMap;
  /** What the program, the providers and the engine said. */
  declare readonly diagnostics: readonly Diagnostic[];
  /** All that was told, line by line; secrets masked. */
  declare readonly stdout: string;
  constructor(operation: string, result: OperationResult) {
    const errors = result.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    super(`${operation} failed: ${errors.join("\n") || "for an unknown reason"}`);
    Object.assign(this, result);
  }
}
