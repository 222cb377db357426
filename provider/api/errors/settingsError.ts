import { RekeyError } from "./rekeyError";

/** A setting that is missing or cannot be used. Nothing was sent. */
export class SettingsError extends RekeyError {
  readonly delivery = "not sent";

  constructor(problems: readonly string[]) {
    super(`${problems.join("; ")}. Nothing was sent, and nothing was changed.`);
  }
}
