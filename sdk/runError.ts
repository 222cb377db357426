import * as pulumi from "@pulumi/pulumi";
import { type ErrorCode, withCode } from "../provider/api/errors";

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, message: string): pulumi.RunError {
  return new pulumi.RunError(withCode(message, code));
}
