import { RekeyError, withCode } from "../platform/errors";
import { engineMessage, type Properties } from "../records/properties";

/** An error whose message is already complete. */
export class ReportedError extends Error {}

/** An error with which the engine saves the properties nevertheless. */
export class InitError extends ReportedError {
  readonly reasons: readonly string[];

  constructor(
    message: string,
    readonly id: string,
    readonly properties: Properties,
  ) {
    super(engineMessage(message));
    this.reasons = [this.message];
  }
}

/** Runs a call so that any failure reaches the engine as an error that it can show. */
export async function withEngineErrors<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(internalError(String(error)));
    const isExpected = error instanceof RekeyError || error instanceof ReportedError;
    error.message = engineMessage(isExpected ? error.message : internalError(error.message));
    throw error;
  }
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}
