import { RekeyError } from "./rekeyError";

/** A setting that is missing or cannot be used. Nothing was sent. */
export class SettingsError extends RekeyError {
  readonly delivery = "not sent";

  constructor(
    /** The setting and what is wrong with it. */
    readonly problem: string,
    readonly advice: string,
  ) {
    super(`${problem}. Nothing was sent, and nothing was changed. ${advice}`);
  }
}
