import { RekeyError } from "./rekeyError";

/** An input that cannot be used. Nothing was sent. */
export class InputError extends RekeyError {
  readonly delivery = "not sent";

  constructor(
    /** The input that is wrong. */
    readonly property: string,
    readonly reason: string,
    readonly advice = "Correct it, then run again.",
  ) {
    super(`${property} ${reason}. Nothing was sent. ${advice}`);
  }
}
