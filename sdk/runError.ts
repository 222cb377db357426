import * as pulumi from "@pulumi/pulumi";
import { type ErrorCode, withCode } from "../provider/api/errors";

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, message: string): pulumi.RunError {
  return withoutStack(new pulumi.RunError(withCode(message, code)));
}

/**
 * Removes the stack trace of an error, which Pulumi formats even if it does not show it. On some lines of it (such as
 * `node_modules/@pulumi/output.ts:1`), Node's `inspect` takes half a minute and gigabytes of memory.
 */
export function withoutStack(error: pulumi.RunError): pulumi.RunError {
  error.stack = "";
  return error;
}
