import { RekeyError, withCode } from "../platform/errors";
import { engineMessage, type Properties } from "../records/properties";

/** An error with which the engine saves the properties nevertheless. */
export class InitError extends Error {
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

/**
 * Bytes of properties in an init error, as JSON: half of what was seen to pass. With more than 12 MiB the engine closes
 * its connection to the provider, and so loses the responses to all changes in flight. A record has at most 1 MiB.
 */
const maxInitErrorBytes = 6 * 1024 * 1024;

/** Whether outputs can be saved by an error. */
export function fitsInError(outputs: Properties): boolean {
  return Buffer.byteLength(JSON.stringify(outputs)) <= maxInitErrorBytes;
}

/** A call of which any failure reaches the engine as an error that it can show. */
export function reporting<A extends unknown[], T>(call: (...args: A) => T | Promise<T>): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      if (!(error instanceof Error)) throw new Error(internalError(String(error)));
      const isExpected = error instanceof RekeyError || error instanceof InitError;
      error.message = engineMessage(isExpected ? error.message : internalError(error.message));
      throw error;
    }
  };
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}
