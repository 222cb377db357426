/** The operation could not be done; the message says what happened and what to do. */
export class EngineError extends Error {
  /** Name of the class. */
  override readonly name: string = "EngineError";
}

/** Something that was asked for, and that this engine leaves to the `pulumi` CLI. */
export class UnsupportedError extends EngineError {
  /** Name of the class. */
  override readonly name = "UnsupportedError";
  constructor(what: string) {
    super(`${what} is not supported by the local engine; the \`pulumi\` CLI does it`);
  }
}

/** Says what a thrown value was, whatever it was. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads something; what goes wrong is told with its name. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedError) throw error;
    throw new EngineError(`${name} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
