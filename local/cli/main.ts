import { createProgram } from "./program";

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    // Only the message: a stack trace does not help users, and an error object may contain secrets.
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
